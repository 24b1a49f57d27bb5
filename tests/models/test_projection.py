"""t-SNE: clusters stay together, the same seed gives the same picture, and bad input is named."""

from __future__ import annotations

import numpy as np
import pytest

from graticule.errors import ConfigError, TableError
from graticule.models.projection import ProjectionConfig, project_features

pytest.importorskip("sklearn")
QUICK = ProjectionConfig(perplexity=8.0, n_iterations=600)


def test_clusters_stay_together_and_the_same_seed_gives_the_same_places():
    rng = np.random.default_rng(0)
    cluster = np.repeat([0, 1], 20)
    features = rng.normal(size=(40, 12)) + 8.0 * cluster[:, None]
    places = project_features(features, config=QUICK, seed=1)
    assert np.array_equal(places, project_features(features, config=QUICK, seed=1))
    distances = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    assert (cluster[distances.argmin(axis=1)] == cluster).all()


def test_few_images_alike_in_all_but_one_feature_have_places():
    features = np.zeros((5, 3))
    features[:, 1] = np.arange(5)
    assert np.isfinite(project_features(features, config=QUICK)).all()


def test_bad_input_is_named():
    with pytest.raises(TableError, match="3 images, expected at least 4"):
        project_features(np.eye(3))
    with pytest.raises(TableError, match="row 0 is not finite"):
        project_features(np.full((5, 2), np.nan))
    with pytest.raises(ConfigError, match="perplexity 0"):
        project_features(np.eye(5), config=ProjectionConfig(perplexity=0.0))

"""Features → places on a plane, near where the features are alike: t-SNE, by scikit-learn.

A picture to look at, not to measure on: distances between clusters and their sizes mean little. The distances with
their tests are in `graticule.evaluation.shift`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from graticule.errors import ConfigError, MissingExtraError, TableError
from graticule.models.principal_axes import find_axes

FEWEST_IMAGES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectionConfig:
    """How features are projected."""

    perplexity: float = 30.0
    """About how many neighbours count (van der Maaten and Hinton recommend 5 to 50); less for few images."""
    n_iterations: int = 1000
    n_axes: int = 50
    """Principal axes that are kept before (van der Maaten and Hinton 2008, section 4)."""


def project_features(
    features: Float[np.ndarray, "n d"], *, config: ProjectionConfig | None = None, seed: int = 0
) -> Float[np.ndarray, "n 2"]:
    """Return each image's place on a plane; the same rows and seed give the same places.

    Parameters
    ----------
    features
        Shape ``(n, d)``.
    config
        Perplexity and iterations.
    seed
        Seed of what is random in it; the start is the first two principal axes.

    Raises
    ------
    MissingExtraError
        scikit-learn is not installed.
    TableError
        There are too few images, or features are not finite.
    """
    try:
        from sklearn.manifold import TSNE
    except ImportError as error:
        raise MissingExtraError("scikit-learn", extra="projection", needed_for="t-SNE") from error
    settings = config or ProjectionConfig()
    if settings.perplexity <= 0 or settings.n_iterations < 250 or settings.n_axes < 2:
        raise ConfigError(
            f"perplexity {settings.perplexity}, {settings.n_iterations} iterations, {settings.n_axes} axes: expected "
            "more than 0, at least 250 and at least 2. Leave them out for the defaults."
        )
    if len(features) < FEWEST_IMAGES:
        raise TableError(f"t-SNE: {len(features)} images, expected at least {FEWEST_IMAGES}. Choose more images.")
    if not np.isfinite(features).all():
        row = int(np.flatnonzero(~np.isfinite(features).all(axis=1))[0])
        raise TableError(f"features: row {row} is not finite, expected numbers. Extract the features again.")
    centred = (features - features.mean(axis=0)).astype(np.float32)
    places = centred @ find_axes(centred)[:, : settings.n_axes]
    if places.shape[1] < 2:
        places = np.concatenate([places, np.zeros((len(places), 2 - places.shape[1]), dtype=np.float32)], axis=1)
    # The start's spread as in scikit-learn's own, made here so that it does not hang on a solver.
    start = places[:, :2] / max(float(places[:, 0].std()), 1e-12) * 1e-4
    found = TSNE(
        n_components=2,
        perplexity=min(settings.perplexity, (len(features) - 1) / 3),
        max_iter=settings.n_iterations,
        init=start.astype(np.float32),  # pyright: ignore[reportArgumentType]
        learning_rate="auto",
        random_state=seed,
        n_jobs=1,
    ).fit_transform(places)
    return np.asarray(found, dtype=np.float32)

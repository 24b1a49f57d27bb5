"""Heuristics beyond their contract, the ranking, and pruning by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import average_precision_score
from sklearn.svm import LinearSVC

from graticule.curation.concepts.cluster_gini import find_impurity
from graticule.curation.concepts.concept import ConceptConfig, RegionFeatures, join_features
from graticule.curation.concepts.leave_one_out import fit_without_each, weigh_precision
from graticule.curation.concepts.prune import prune_labels, read_drops, read_merges
from graticule.curation.concepts.rank import rank_concepts
from graticule.curation.concepts.region_svm import add_ones, fit_squared_hinge, rotate
from graticule.errors import ConfigError, TableError


def make_features(images, vectors):
    values = pl.Series("features", vectors.astype(np.float32), dtype=pl.Array(pl.Float32, vectors.shape[1]))
    return images.select("image_id").with_columns(values)


def test_the_svm_is_that_of_scikit_learn(monkeypatch):
    monkeypatch.setattr("graticule.curation.concepts.region_svm.TOLERANCE", 1e-7)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(80, 6)).astype(np.float32)
    target = rng.integers(0, 3, 80)
    signs = np.where(target[:, None] == np.arange(3), 1, -1).astype(np.float32)
    ours = fit_squared_hinge(add_ones(rows), signs, np.ones((80, 1), dtype=np.float32), inverse_penalty=0.5)[0]
    theirs = LinearSVC(C=0.5, intercept_scaling=1000.0, tol=1e-8, max_iter=200_000).fit(rows, target)
    assert np.abs(ours[:-1].T - theirs.coef_).max() < 2e-3
    assert np.abs(ours[-1] - theirs.intercept_).max() < 2e-3


def test_rotating_keeps_every_inner_product():
    rows = np.random.default_rng(0).normal(size=(7, 30)).astype(np.float32)
    turned = rotate(rows)
    assert turned.shape == (7, 7)
    assert np.abs(turned @ turned.T - rows @ rows.T).max() < 1e-4
    assert rotate(rows.T.copy()).shape == (30, 7)


def test_weighted_precision_is_scikit_learns_with_weights():
    rng = np.random.default_rng(1)
    for share in (0.1, 0.5, 0.8):
        scores = rng.integers(0, 12, 60).astype(np.float32)
        shows = rng.random(60) < 0.3
        times = rng.integers(0, 4, 60)
        weight = np.where(shows, share / times[shows].sum(), (1 - share) / times[~shows].sum()) * times
        expected = average_precision_score(shows, scores, sample_weight=weight)
        assert weigh_precision(scores, shows, share=share, times=times) == pytest.approx(expected)
    assert np.isnan(weigh_precision(np.float32([1, 2]), np.array([True, True]), share=0.5))


def test_models_without_a_region_and_fold_are_those_fitted_from_scratch():
    rng = np.random.default_rng(2)
    data = RegionFeatures(
        features=rng.normal(size=(90, 4)).astype(np.float32),
        label=rng.integers(0, 3, 90),
        region=rng.integers(0, 2, 90),
        labels=("a", "b", "c"),
        regions=("r", "s"),
    )
    config = ConceptConfig(n_folds=3, ridge=0.01)
    models = fit_without_each(data, config)
    rows = add_ones(data.features).astype(np.float64)
    for region in range(2):
        for fold in range(3):
            seen = (data.region != region) & (models.fold != fold)
            size = 0.01 * (data.region != region).sum()
            penalty = np.diag([size] * 4 + [1e-6 * size])
            targets = (data.label[seen, None] == np.arange(3)).astype(float)
            expected = np.linalg.solve(rows[seen].T @ rows[seen] + penalty, rows[seen].T @ targets)
            assert np.abs(models.weights[region, fold] - expected).max() < 1e-4


def test_both_readings_of_the_impurity():
    apart = np.array([[[8, 0, 0], [0, 8, 0], [0, 0, 8]]])
    varied = np.array([[[4, 4, 4], [4, 4, 4], [4, 4, 4]]])
    assert find_impurity(apart, reading="within_clusters")[0] == 0
    assert find_impurity(varied, reading="within_clusters")[0] == pytest.approx(1)
    assert find_impurity(apart, reading="within_regions")[0] == 0
    assert find_impurity(varied, reading="within_regions")[0] == pytest.approx(2 / 3)
    large = apart * np.array([100, 1, 1])[None, :, None]
    assert find_impurity(large, reading="within_clusters")[0] == 0


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    sizes = {"house": 60, "dog": 60, "cup": 60, "fan": 60, "gnu": 4}
    rows = [(label, ("A", "B")[number % 2]) for label, n in sizes.items() for number in range(n)]
    images = pl.DataFrame(rows, schema=["label", "region"], orient="row").with_row_index("image_id")
    images = images.with_columns(pl.col("image_id").cast(pl.String))
    vectors = rng.normal(size=(images.height, 8))
    vectors[:, 0] += 8 * ((images["label"] == "house") & (images["region"] == "A")).to_numpy()
    vectors[:, 1] += 3 * (images["label"] == "dog").to_numpy()
    return images, make_features(images, vectors)


def test_the_ranking_puts_the_most_different_label_first_and_the_rare_last(table):
    images, vectors = table
    ranking = rank_concepts(images, vectors, config=ConceptConfig(n_bootstraps=20))
    found = ranking.table
    assert found["label"][0] == "house"
    assert found["rank"].to_list() == [1, 2, 3, 4, None]
    assert found.row(-1, named=True)["why"] == "among the rarest 20% of the labels"
    assert found.filter(label="house")["is_kept"][0]
    kept = set(ranking.selection.kept["label"])
    assert "house" in kept
    assert "gnu" not in kept
    assert ranking.selection.kept.height + ranking.selection.rejects.height == images.height
    assert ranking.selection.rejects["reason"].null_count() == 0


def test_one_heuristic_can_be_asked_and_all_be_required(table):
    images, vectors = table
    config = ConceptConfig(n_bootstraps=5)
    only = rank_concepts(images, vectors, heuristics=["cluster_gini"], config=config).table
    assert "region_svm" not in only.columns
    strict = rank_concepts(images, vectors, keep="all", config=config).table
    loose = rank_concepts(images, vectors, keep="any", config=config).table
    assert strict["is_kept"].sum() <= loose["is_kept"].sum()


def test_images_without_features_or_region_do_not_decide(table):
    images, vectors = table
    more = pl.concat(
        [images, pl.DataFrame({"image_id": ["x", "y"], "label": ["yak", "house"], "region": ["A", None]})],
        how="diagonal_relaxed",
    )
    ranking = rank_concepts(more, vectors, heuristics=["region_svm"])
    assert ranking.selection.kept.filter(image_id="y").height == 1
    reasons = ranking.selection.rejects.filter(image_id="x")["reason"]
    assert reasons.to_list() == ["no image of 'yak' has a region and features"]


def test_bad_input_is_one_error(table):
    images, vectors = table
    with pytest.raises(ConfigError, match="Did you mean 'region_svm'"):
        rank_concepts(images, vectors, heuristics=["region_svn"])
    with pytest.raises(ConfigError, match="way to keep labels"):
        rank_concepts(images, vectors, keep="some")
    with pytest.raises(ConfigError, match="Did you mean 'within_regions'"):
        ConceptConfig(reading="within_region")
    with pytest.raises(TableError, match="no column 'region'"):
        rank_concepts(images.drop("region"), vectors)
    with pytest.raises(TableError, match="Do the features belong to these images"):
        rank_concepts(images, vectors.with_columns(image_id=pl.format("z{}", "image_id")))
    broken = np.full((images.height, 3), np.nan)
    with pytest.raises(TableError, match="NaN or infinity"):
        join_features(images, make_features(images, broken))


def test_labels_are_dropped_then_merged(tmp_path):
    (tmp_path / "drop.csv").write_text("label\narctic\n")
    (tmp_path / "merge.csv").write_text("label,into\nstool,chair\nbench,chair\n")
    images = pl.DataFrame({"image_id": list("abcd"), "label": ["stool", "bench", "arctic", "house"]})
    selection = prune_labels(
        images, drops=read_drops(tmp_path / "drop.csv"), merges=read_merges(tmp_path / "merge.csv")
    )
    assert selection.kept["label"].to_list() == ["chair", "chair", "house"]
    assert selection.rejects["reason"].to_list() == ["'arctic' is dropped by hand"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("label,into\na,b\na,c\n", "more than one label"),
        ("label,into\na,b\nb,c\n", "name the last one"),
        ("from,to\na,b\n", "no column 'label', 'into'"),
    ],
)
def test_merges_that_contradict_themselves_are_refused(tmp_path, text, says):
    path = tmp_path / "merge.csv"
    path.write_text(text)
    with pytest.raises(TableError, match=says):
        read_merges(path)


def test_labels_that_no_image_has_are_refused():
    with pytest.raises(TableError, match="'car' has no image"):
        prune_labels(pl.DataFrame({"image_id": ["a"], "label": ["cat"]}), drops=["car"])

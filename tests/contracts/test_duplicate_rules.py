"""What every rule of near-duplicates does: it links copies and nothing else, whatever the order of the rows."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import polars as pl
import pytest
from PIL import Image

from graticule.curation.duplicates import RULES
from graticule.curation.duplicates.find import find_duplicates, load_rule
from graticule.curation.duplicates.rows import SAID
from graticule.curation.duplicates.rule import DuplicateConfig, Evidence
from graticule.curation.duplicates.signatures import Reading, read_signatures
from graticule.data.tables import DUPLICATES, REJECTS
from graticule.data.validate import validate_table
from graticule.errors import GraticuleError

COPIES = {"p1": "p0", "p3": "p2"}
N_DISTINCT = 6


def draw_photo(seed, *, size=(160, 120)):
    rng = np.random.default_rng(seed)
    coarse = Image.fromarray(rng.integers(0, 255, (6, 8, 3), dtype=np.uint8)).resize(size, Image.Resampling.BICUBIC)
    fine = Image.fromarray(rng.integers(0, 255, (30, 40, 3), dtype=np.uint8)).resize(size)
    return Image.blend(coarse, fine, 0.25)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("pairs")
    for number in range(N_DISTINCT):
        draw_photo(number).save(place / f"p{2 * number}.jpg", quality=92)
    for copy, original in COPIES.items():
        (place / f"{copy}.jpg").write_bytes((place / f"{original}.jpg").read_bytes())
    return place


@pytest.fixture(scope="module")
def images(folder):
    names = sorted(path.stem for path in folder.iterdir())
    return pl.DataFrame(
        {
            "image_id": names,
            "path": [f"{name}.jpg" for name in names],
            "latitude": [48.2] * len(names),
            "longitude": [2.3] * len(names),
        }
    )


@pytest.fixture(scope="module")
def features(images):
    vectors = {name: np.random.default_rng(int(name[1:])).normal(size=16) for name in images["image_id"]}
    vectors |= {copy: vectors[original] for copy, original in COPIES.items()}
    held = np.stack([vectors[name] for name in images["image_id"]]).astype(np.float32)
    return pl.DataFrame({"image_id": images["image_id"], "features": pl.Series(held, dtype=pl.Array(pl.Float32, 16))})


def find(images, name, folder, features, **options):
    given = features if name == "embedding" else None
    return find_duplicates(images, [name], features=given, reading=Reading(base=folder, progress=False), **options)


@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_documented_and_found_by_its_name(name):
    module, _, attribute = RULES[name][0].partition(":")
    assert module.endswith(f".{name}")
    assert load_rule(name) is getattr(import_module(module), attribute)
    assert load_rule(name).__doc__
    assert import_module(module).measure.__doc__
    assert name in SAID


@pytest.mark.parametrize("name", RULES)
def test_a_rule_links_copies_and_nothing_else(name, images, folder, features):
    found = find(images, name, folder, features)
    clusters = validate_table(found.clusters, DUPLICATES, where="duplicates")
    pairs = {tuple(sorted(rows["image_id"])) for _, rows in clusters.group_by("cluster")}
    assert pairs == {("p0", "p1"), ("p2", "p3")}
    assert clusters["distance"].max() < 1e-6
    assert set(clusters["reason"]) == {name}
    rejects = validate_table(found.selection.rejects, REJECTS, where="rejects")
    assert rejects["image_id"].to_list() == ["p1", "p3"]
    assert "'p0'" in rejects["reason"][0]
    assert found.selection.kept.height == images.height - 2


@pytest.mark.parametrize("name", RULES)
def test_a_rule_does_not_depend_on_the_order_of_rows(name, images, folder, features):
    shuffled = images.sample(fraction=1, shuffle=True, seed=3)
    found, again = find(images, name, folder, features), find(shuffled, name, folder, features.reverse())
    assert found.clusters.equals(again.clusters)
    assert found.selection.kept.sort("image_id").equals(again.selection.kept.sort("image_id"))


@pytest.mark.parametrize("name", RULES)
def test_a_rule_does_not_change_its_input(name, images, folder, features):
    before = images.clone()
    find(images, name, folder, features)
    assert images.equals(before)


@pytest.mark.parametrize("name", RULES)
def test_a_rule_answers_one_image_and_no_image_at_all(name, images, folder, features):
    for few in (images.head(1), images.clear()):
        found = find(few, name, folder, features)
        assert found.clusters.is_empty()
        assert found.selection.kept.height == few.height


@pytest.mark.parametrize("name", RULES)
def test_a_rule_says_what_it_lacks(name, images, folder):
    with pytest.raises(GraticuleError, match=r"column|features"):
        find(images.select("image_id"), name, folder, None)


@pytest.mark.parametrize("name", RULES)
def test_a_link_has_the_distance_that_the_rule_measures(name, images, folder, features):
    held = features["features"].to_numpy() + np.random.default_rng(0).normal(scale=0.05, size=(8, 16))
    evidence = Evidence(
        images=images,
        rank=np.arange(images.height),
        signatures=read_signatures(
            images["path"].to_list(), reading=Reading(base=folder, progress=False, colours=True)
        ),
        features=held.astype(np.float32),
        base=folder,
    )
    config = DuplicateConfig(max_bits=16, min_correlation=-1.0, max_pixel_distance=0.5, max_histogram_distance=1.4)
    links = load_rule(name)(evidence, config)
    assert len(links.first) >= 2
    measured = import_module(RULES[name][0].partition(":")[0]).measure(evidence, config, links.first, links.second)
    assert np.allclose(measured, links.distance, atol=1e-6)

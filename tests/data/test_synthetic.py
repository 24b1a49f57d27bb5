"""Rendered scenes: pictures, not noise; the same for a seed; unlike from region to region."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from graticule.data import synthetic
from graticule.data.scan import scan_images
from graticule.data.synthetic import REGIONS, render_scene, render_scenes
from graticule.data.synthetic_objects import OBJECTS
from graticule.errors import ConfigError


def test_scenes_fill_a_tree_of_regions_and_labels(tmp_path):
    render_scenes(tmp_path / "scenes", images_per_cell=1)
    found = scan_images(tmp_path / "scenes", layout="{region}/{label}", progress=False)
    assert found.rejects.height == 0
    assert set(found.images["region"]) == set(REGIONS)
    assert set(found.images["label"]) == set(OBJECTS)
    assert found.images.height == len(REGIONS) * len(OBJECTS)
    assert found.images["sha256"].is_unique().all()


def test_a_seed_gives_the_same_scenes_and_more_of_them_keep_the_first(tmp_path, monkeypatch):
    monkeypatch.setattr(synthetic, "OBJECTS", {"house": OBJECTS["house"]})
    render_scenes(tmp_path / "a", images_per_cell=1, seed=3)
    render_scenes(tmp_path / "b", images_per_cell=2, seed=3)
    render_scenes(tmp_path / "c", images_per_cell=1, seed=4)
    first = "Northmark/house/0000.jpg"
    assert (tmp_path / "a" / first).read_bytes() == (tmp_path / "b" / first).read_bytes()
    assert (tmp_path / "a" / first).read_bytes() != (tmp_path / "c" / first).read_bytes()


@pytest.mark.parametrize("label", OBJECTS)
@pytest.mark.parametrize("region", REGIONS)
def test_scenes_are_pictures_and_not_noise(region, label):
    scene = np.asarray(render_scene(label, REGIONS[region], rng=np.random.default_rng(0)).convert("L"), float)
    neighbours = np.corrcoef(scene[:, :-1].ravel(), scene[:, 1:].ravel())[0, 1]
    assert neighbours > 0.9
    assert scene.std() > 15


def test_an_object_looks_more_alike_within_a_region_than_across():
    def mean_scene(region: str, start: int) -> np.ndarray:
        scenes = [render_scene("house", REGIONS[region], rng=np.random.default_rng(start + n)) for n in range(6)]
        return np.mean([np.asarray(scene.resize((32, 24), Image.Resampling.BOX), float) for scene in scenes], axis=0)

    within = np.abs(mean_scene("Northmark", 0) - mean_scene("Northmark", 100)).mean()
    across = np.abs(mean_scene("Northmark", 0) - mean_scene("Saltcoast", 100)).mean()
    assert across > 2 * within


def test_a_count_below_one_is_named(tmp_path):
    with pytest.raises(ConfigError, match="images_per_cell is 0"):
        render_scenes(tmp_path, images_per_cell=0)

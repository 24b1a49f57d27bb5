"""Filters beyond their contract: edges, files and resuming."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from PIL import Image, ImageFilter

from graticule.curation import faces, looks
from graticule.curation.filter_files import filter_file
from graticule.curation.filters.apply import Files, filter_images
from graticule.curation.filters.filter import FilterConfig
from graticule.curation.looks import look_at_images, measure_blur, measure_flatness
from graticule.data.readers.images import read_images
from graticule.data.store import read_table
from graticule.data.tables import IMAGES, REJECTS
from graticule.errors import ConfigError, MissingExtraError, TableError


def draw(seed=0, size=(300, 280)):
    rng = np.random.default_rng(seed)
    return Image.fromarray(rng.integers(0, 255, (35, 30, 3), dtype=np.uint8)).resize(size, Image.Resampling.NEAREST)


def test_blur_grows_with_blur_and_is_zero_for_one_colour():
    found = [
        measure_blur(np.asarray(draw().filter(ImageFilter.GaussianBlur(radius)).convert("L"), dtype=np.float32))
        for radius in (0, 1, 2, 4, 8)
    ]
    assert found == sorted(found)
    assert found[0] < 0.35
    assert found[-1] > 0.7
    assert measure_blur(np.full((20, 20), 7, dtype=np.float32)) == 0
    assert measure_blur(np.zeros((1, 1), dtype=np.float32)) == 0


def test_flatness_is_the_share_of_one_colour():
    pixels = np.full((10, 10, 3), 100, dtype=np.uint8)
    pixels[:3] = 200
    assert measure_flatness(pixels) == pytest.approx(0.7)


@pytest.fixture
def photos(tmp_path):
    for number in range(40):
        draw(number).save(tmp_path / f"{number}.png")
    return pl.DataFrame({"image_id": [str(n) for n in range(40)], "path": [f"{n}.png" for n in range(40)]})


def test_a_killed_run_goes_on_where_it_stopped(photos, tmp_path, monkeypatch):
    monkeypatch.setattr(looks, "JOURNAL_INTERVAL_S", 0.0)
    journal = tmp_path / "j.partial"
    seen = []
    look_at = looks.look_at

    def stop_after_twenty(data, *, faces):
        seen.append(data)
        if len(seen) > 20:
            raise KeyboardInterrupt
        return look_at(data, faces=faces)

    monkeypatch.setattr(looks, "look_at", stop_after_twenty)
    with pytest.raises(KeyboardInterrupt):
        look_at_images(photos, base=tmp_path, journal=journal, workers=1, progress=False)
    again = []

    def count(data, *, faces):
        again.append(data)
        return look_at(data, faces=faces)

    monkeypatch.setattr(looks, "look_at", count)
    resumed = look_at_images(photos, base=tmp_path, journal=journal, workers=1, progress=False)
    assert len(again) < 40
    monkeypatch.setattr(looks, "look_at", look_at)
    assert resumed.equals(look_at_images(photos, base=tmp_path, workers=2, progress=False))


def test_missing_files_and_rows_without_a_path_are_in_trouble(photos, tmp_path):
    more = pl.concat([photos.head(1), pl.DataFrame({"image_id": ["a", "b"], "path": ["gone.png", None]})])
    selection = filter_images(more, ["readable"], files=Files(base=tmp_path, progress=False))
    reasons = dict(selection.rejects.select("image_id", "reason").iter_rows())
    assert "no such file" in reasons["a"]
    assert reasons["b"] == "the table names no file for it"
    assert dict(selection.rejects.select("image_id", "path").iter_rows()) == {"a": "gone.png", "b": "b"}


def test_resolution_holds_either_way_up_and_takes_the_tables_sizes():
    images = pl.DataFrame(
        {"image_id": ["wide", "tall", "flat", "small"], "width": [640, 480, 2000, 100], "height": [480, 640, 479, 90]}
    )
    selection = filter_images(images, ["resolution"])
    assert selection.kept["image_id"].to_list() == ["wide", "tall"]


def test_location_knows_halves_and_null_island():
    images = pl.DataFrame(
        {"image_id": list("abcd"), "latitude": [1.0, 0.0, None, None], "longitude": [0.0, 0.0, 5.0, None]}
    )
    selection = filter_images(images, ["location"])
    assert selection.kept["image_id"].to_list() == ["a"]
    assert selection.rejects["reason"].n_unique() == 3


def test_regions_can_be_chosen_and_must_exist():
    images = pl.DataFrame({"image_id": list("abc"), "region": ["Asia", "Africa", None]})
    selection = filter_images(images, ["in_region"], config=FilterConfig(regions=("Asia",)))
    assert selection.kept["image_id"].to_list() == ["a"]
    assert selection.rejects["reason"].to_list() == ["in Africa, which is not wanted", "in no region"]
    with pytest.raises(ConfigError, match="'Mars' has no image"):
        filter_images(images, ["in_region"], config=FilterConfig(regions=("Mars",)))


def test_native_labels_are_told_by_rates_not_by_counts():
    rows = [("Big", "hat")] * 950 + [("Big", "cup")] * 50 + [("Small", "hat")] * 8 + [("Small", "yurt")] * 2
    images = pl.DataFrame(rows, schema=["region", "label"], orient="row").with_row_index("image_id")
    images = images.with_columns(pl.col("image_id").cast(pl.String))
    selection = filter_images(images, ["native_label"])
    assert set(selection.rejects["label"]) == {"cup", "yurt"}


def test_min_images_counts_after_the_other_filters():
    images = pl.DataFrame(
        {
            "image_id": [str(number) for number in range(8)],
            "label": ["hat"] * 4 + ["cup"] * 4,
            "region": ["A", "A", "B", "B"] * 2,
            "width": [640] * 7 + [10],
            "height": [480] * 8,
        }
    )
    selection = filter_images(images, ["min_images", "resolution"], config=FilterConfig(min_images=2))
    assert set(selection.kept["label"]) == {"hat"}
    assert "'cup' has 1 images in B, expected at least 2" in selection.rejects.filter(step="min_images")["reason"][0]


def test_nothing_named_or_an_unknown_filter_is_refused():
    images = pl.DataFrame({"image_id": ["a"]})
    with pytest.raises(ConfigError, match="no filter was named"):
        filter_images(images, [])
    with pytest.raises(ConfigError, match="Did you mean 'blurred'"):
        filter_images(images, ["blured"])
    with pytest.raises(ConfigError, match="no column 'path'"):
        filter_images(images, ["blurred"])
    with pytest.raises(ConfigError, match="--concepts FILE"):
        filter_images(images, ["one_label"])
    with pytest.raises(TableError, match="'latitude', 'longitude'"):
        filter_images(images, ["location"])
    with pytest.raises(ConfigError, match="expected a share"):
        FilterConfig(max_blur=3.0)


@pytest.mark.parametrize("folder", ["odd", "geotagged"])
def test_every_real_photo_gets_a_row_or_a_reason(shared, tmp_path, folder):
    place = shared(f"images/{folder}")
    images = read_images(place)
    output = tmp_path / "filtered.parquet"
    filter_file(place, output, ["readable", "resolution", "uniform", "blurred"], progress=False)
    kept, rejects = read_table(output, IMAGES), read_table(tmp_path / "filtered.rejects.parquet", REJECTS)
    assert sorted([*kept["image_id"], *rejects["image_id"]]) == sorted(images["image_id"])
    assert rejects["reason"].str.len_chars().min() > 5
    assert not list(tmp_path.glob("*.partial"))
    for path in kept["path"]:
        assert (tmp_path / path).exists()


def test_faces_need_their_extra_and_say_how_to_get_it(photos, tmp_path, monkeypatch):
    faces.load_detector.cache_clear()
    monkeypatch.setattr(faces.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"graticule\[faces\]"):
        filter_images(photos, ["faces"], files=Files(base=tmp_path, progress=False))

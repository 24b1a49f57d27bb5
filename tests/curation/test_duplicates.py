"""Near-duplicates: kinds of copies, chains, sides of a split, images that come later, and files that cannot be read."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from PIL import Image, ImageEnhance

from graticule.curation.duplicates import signatures as signing
from graticule.curation.duplicates.clusters import group_links
from graticule.curation.duplicates.find import Across, find_duplicates
from graticule.curation.duplicates.rule import DuplicateConfig, Links, join_links
from graticule.curation.duplicates.signatures import Reading, read_signatures
from graticule.curation.splits import SplitConfig, split_images
from graticule.data.decode import open_image
from graticule.errors import ConfigError, FileError, TableError

N_PHOTOS = 12


def draw_photo(seed, *, size=(320, 240)):
    """Something with structure at every scale, as photos have."""
    rng = np.random.default_rng(seed)
    picture = Image.new("RGB", size, (128, 128, 128))
    for side, share in ((4, 0.6), (9, 0.5), (20, 0.35), (60, 0.25)):
        layer = Image.fromarray(rng.integers(0, 200, (side, side, 3), dtype=np.uint8))
        picture = Image.blend(picture, layer.resize(size, Image.Resampling.BICUBIC), share)
    return picture


def crop(picture, left, top, right, bottom):
    width, height = picture.size
    return picture.crop((round(left * width), round(top * height), round(right * width), round(bottom * height)))


CHANGES = {
    "recompressed": lambda picture: (picture, 40),
    "resized": lambda picture: (picture.resize((150, 112)), 90),
    "cropped": lambda picture: (crop(picture, 0.03, 0.01, 0.98, 0.96), 90),
    "corner": lambda picture: (crop(picture, 0.05, 0.05, 1, 1), 90),
    "brighter": lambda picture: (ImageEnhance.Brightness(picture).enhance(1.3), 90),
    "quarter": lambda picture: (picture.transpose(Image.Transpose.ROTATE_90), 90),
    "three quarters": lambda picture: (picture.transpose(Image.Transpose.ROTATE_270), 90),
    "upside down": lambda picture: (picture.transpose(Image.Transpose.ROTATE_180), 90),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("photos")
    for number in range(N_PHOTOS):
        picture = draw_photo(number)
        picture.save(place / f"{number:02d}.jpg", quality=92)
        for name, change in CHANGES.items():
            copy, quality = change(picture)
            copy.save(place / f"{number:02d} {name}.jpg", quality=quality)
    photo = draw_photo(0)
    photo.transpose(Image.Transpose.FLIP_LEFT_RIGHT).save(place / "mirrored.jpg", quality=90)
    data, comment = (place / "01.jpg").read_bytes(), b"the same picture, another description"
    segment = b"\xff\xfe" + (len(comment) + 2).to_bytes(2, "big") + comment
    (place / "described.jpg").write_bytes(data[:2] + segment + data[2:])
    Image.open(place / "01.jpg").save(place / "packed.png")
    for level in (0, 255):
        Image.new("RGB", (300, 200), (level,) * 3).save(place / f"flat{level}.jpg")
        Image.new("RGB", (200, 200), (level,) * 3).save(place / f"flat{level}b.jpg")
    data = (place / "02.jpg").read_bytes()
    (place / "broken.jpg").write_bytes(data[: len(data) // 2])
    return place


def as_images(*names, **columns):
    return pl.DataFrame({"image_id": list(names), "path": [f"{name}.jpg" for name in names], **columns})


def find(images, folder, rules=("perceptual",), **options):
    return find_duplicates(images, rules, reading=Reading(base=folder, progress=False), **options)


@pytest.mark.parametrize("change", CHANGES)
def test_every_kind_of_copy_is_found_and_no_other_pair(change, folder):
    originals = [f"{number:02d}" for number in range(N_PHOTOS)]
    images = as_images(*originals, *(f"{name} {change}" for name in originals))
    found = find(images, folder).clusters
    groups = sorted(sorted(rows["image_id"]) for _, rows in found.group_by("cluster"))
    assert groups == [[name, f"{name} {change}"] for name in originals]


def test_the_larger_of_two_stays_whatever_its_name(folder):
    found = find(as_images("00 resized", "00"), folder)
    assert found.selection.kept["image_id"].to_list() == ["00"]
    assert found.selection.kept["cluster"].to_list() == ["00"]
    assert found.selection.rejects["reason"][0].startswith("the same picture as '00' (")
    assert found.selection.rejects["step"].to_list() == ["dedup"]


def test_a_mirrored_copy_is_found_only_on_demand(folder):
    images = as_images("00", "mirrored")
    assert find(images, folder).clusters.is_empty()
    assert find(images, folder, config=DuplicateConfig(turns="all")).clusters.height == 2


def test_turns_and_crops_can_be_left_out(folder):
    images = as_images("00", "00 quarter", "01", "01 corner")
    config = DuplicateConfig(turns="none", crops=False, max_bits=4)
    assert find(images, folder, config=config).clusters.is_empty()


def test_pictures_of_one_colour_are_not_taken_for_copies(folder):
    names = ("flat0", "flat0b", "flat255", "flat255b", "03")
    assert find(as_images(*names), folder, ("pixels", "perceptual")).clusters.is_empty()


def test_the_same_pixels_are_found_under_other_exif_and_in_another_format(folder):
    images = as_images("01", "described", "packed", "01 recompressed", "02").with_columns(
        path=pl.col("path").replace("packed.jpg", "packed.png")
    )
    found = find(images, folder, ("sha256", "pixels")).clusters
    assert sorted(found["image_id"]) == ["01", "described", "packed"]
    assert set(found["reason"]) == {"pixels"}
    assert found["largest_distance"].to_list() == [0.0] * 3


def test_files_that_cannot_be_read_become_rejects_with_their_reason(folder):
    images = as_images("00", "broken", "nowhere", "00 resized").with_columns(
        path=pl.when(pl.col("image_id") == "nowhere").then(None).otherwise("path")
    )
    found = find(images, folder, ("sha256", "perceptual")).selection
    assert found.kept["image_id"].to_list() == ["00"]
    by_step = {row["image_id"]: (row["step"], row["reason"]) for row in found.rejects.iter_rows(named=True)}
    assert by_step["broken"][0] == by_step["nowhere"][0] == "unreadable"
    assert "truncated" in by_step["broken"][1]
    assert found.kept.height + found.rejects.height == images.height


def test_across_a_split_the_training_image_goes_even_if_it_is_larger(folder):
    split = ["train", "test", "train", "train", "validation", None]
    images = as_images("00", "00 resized", "01", "01 recompressed", "02", "02 resized", split=split)
    found = find(images, folder, ("sha256", "perceptual"), across=Across())
    assert found.selection.rejects["image_id"].to_list() == ["00"]
    assert found.selection.rejects["reason"][0].endswith("which is not in train")
    assert found.clusters["cluster"].unique().to_list() == ["00 resized"]


def test_across_a_split_every_copy_of_a_test_image_goes(folder, tmp_path):
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.jpg").write_bytes((folder / "00.jpg").read_bytes())
    images = as_images("a", "b", "c", split=["train", "train", "test"])
    for rule in ("sha256", "pixels", "perceptual"):
        found = find(images, tmp_path, (rule,), across=Across())
        assert found.selection.kept["image_id"].to_list() == ["c"], rule


def test_of_a_chain_only_images_near_one_that_stays_go_and_its_length_is_told():
    links = Links(first=np.array([0, 1, 2]), second=np.array([1, 2, 3]), distance=np.array([0.1, 0.1, 0.1]))
    everyone = np.ones(5, dtype=bool)
    grouping = group_links(links, np.arange(3), np.arange(5), may_go=everyone)
    assert grouping.is_kept.tolist() == [True, False, True, False, True]
    assert grouping.cluster[4] == -1
    assert len(set(grouping.cluster[:4].tolist())) == 1
    assert grouping.link.tolist() == [0, 0, 1, 2, -1]


def test_links_are_joined_with_the_smallest_distance_whatever_their_direction():
    one = Links(first=np.array([3, 1]), second=np.array([1, 1]), distance=np.array([2.0, 0.0]))
    other = Links(first=np.array([1]), second=np.array([3]), distance=np.array([1.0]))
    joined = join_links([one, other])
    assert (joined.first.tolist(), joined.second.tolist(), joined.distance.tolist()) == ([1], [3], [1.0])


def test_a_chain_of_features_reports_its_largest_distance():
    angles = np.radians([0, 20, 40, 60])
    features = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    images = pl.DataFrame({"image_id": ["a", "b", "c", "d"]})
    table = images.with_columns(features=pl.Series(features, dtype=pl.Array(pl.Float32, 2)))
    found = find_duplicates(images, ["embedding"], features=table)
    assert found.selection.kept["image_id"].to_list() == ["a", "c"]
    assert found.clusters["largest_distance"].to_list() == pytest.approx([0.5] * 4, abs=1e-6)
    assert found.clusters["n_images"].to_list() == [4] * 4


def test_images_that_come_later_give_what_a_run_over_all_gives_and_only_they_are_read(folder, tmp_path, monkeypatch):
    names = ["00", "00 resized", "01", "02", "02 quarter", "03"]
    store = tmp_path / "signatures.parquet"
    reading = Reading(base=folder, progress=False, store=store)
    find_duplicates(as_images(*names[:4]), ["perceptual"], reading=reading)
    read = []
    monkeypatch.setattr(signing, "sign", _count(signing.sign, read))
    later = find_duplicates(as_images(*names), ["perceptual"], reading=reading)
    assert len(read) == 2
    whole = find(as_images(*names), folder)
    assert later.clusters.equals(whole.clusters)
    assert later.selection.kept.equals(whole.selection.kept)


def _count(function, calls):
    def counted(*given, **options):
        calls.append(1)
        return function(*given, **options)

    return counted


def test_a_changed_file_is_read_again_and_a_foreign_store_is_refused(folder, tmp_path):
    file, store = tmp_path / "x.jpg", tmp_path / "signatures.parquet"
    reading = Reading(base=tmp_path, progress=False, store=store)
    (tmp_path / "y.jpg").write_bytes((folder / "00.jpg").read_bytes())
    file.write_bytes((folder / "00 resized.jpg").read_bytes())
    assert find_duplicates(as_images("x", "y"), ["perceptual"], reading=reading).clusters.height == 2
    file.write_bytes((folder / "05.jpg").read_bytes())
    assert find_duplicates(as_images("x", "y"), ["perceptual"], reading=reading).clusters.is_empty()
    pl.DataFrame({"a": [1]}).write_parquet(store)
    with pytest.raises(FileError, match="no file of signatures"):
        find_duplicates(as_images("x"), ["perceptual"], reading=reading)


def test_a_killed_run_goes_on_where_it_stopped(folder, tmp_path, monkeypatch):
    paths = [f"{number:02d}.jpg" for number in range(N_PHOTOS)]
    monkeypatch.setattr(signing, "JOURNAL_INTERVAL_S", 0.0)
    monkeypatch.setattr(signing, "CHUNK_IMAGES", 1)
    reading = Reading(base=folder, progress=False, journal=tmp_path / "partial", workers=1)
    real, calls = signing.sign, []

    def die_at_six(data, **options):
        calls.append(1)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return real(data, **options)

    monkeypatch.setattr(signing, "sign", die_at_six)
    with pytest.raises(KeyboardInterrupt):
        read_signatures(paths, reading=reading)
    n_before = len(calls)
    monkeypatch.setattr(signing, "sign", _count(real, calls))
    found = read_signatures(paths, reading=reading)
    assert 0 < len(calls) - n_before < N_PHOTOS
    assert found.equals(read_signatures(paths, reading=Reading(base=folder, progress=False)))


def test_clusters_keep_together_in_a_split(folder):
    names = [f"{number:02d}{change}" for number in range(8) for change in ("", " resized")]
    clusters = find(as_images(*names), folder).clusters
    images = as_images(*names).join(clusters.select("image_id", "cluster"), on="image_id", how="left")
    divided = split_images(images, config=SplitConfig(groups=("cluster",), by=None)).kept
    sides = divided.group_by("cluster").agg(pl.col("split").n_unique())
    assert sides.height == 8
    assert sides["split"].to_list() == [1] * 8


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"max_bits": 17}, "max_bits is 17, expected 0 to 16"),
        ({"max_cosine_distance": -0.1}, "expected 0 to 2"),
        ({"max_pixel_distance": float("nan")}, "max_pixel_distance is nan"),
        ({"turns": "turn"}, "Did you mean 'turned'?"),
    ],
)
def test_thresholds_out_of_range_are_refused(options, says):
    with pytest.raises(ConfigError) as error:
        DuplicateConfig(**options)
    assert says in str(error.value)


def test_what_is_missing_is_named(folder):
    images = as_images("00", "01")
    with pytest.raises(TableError, match=r"no column 'latitude', 'longitude'.*geonet.*graticule scan"):
        find(images, folder, ("geonet",))
    with pytest.raises(TableError, match=r"no column 'split'.*curate split"):
        find(images, folder, across=Across())
    with pytest.raises(ConfigError, match=r"holds 'test', 'validation', expected 'train'"):
        find(images.with_columns(split=pl.Series(["test", "validation"])), folder, across=Across())
    with pytest.raises(ConfigError, match="unknown rule 'phash'"):
        find(images, folder, ("phash",))
    with pytest.raises(ConfigError, match="--features"):
        find(images, folder, ("embedding",))
    features = pl.DataFrame({"image_id": ["00"], "features": pl.Series([[1.0, 0.0]], dtype=pl.Array(pl.Float32, 2))})
    with pytest.raises(TableError, match=r"1 of 2 images have none \('01'\)"):
        find_duplicates(images, ["embedding"], features=features)
    broken = features.with_columns(features=pl.Series([[1.0, float("inf")]], dtype=pl.Array(pl.Float32, 2)))
    with pytest.raises(TableError, match="not a number"):
        find_duplicates(images.head(1), ["embedding"], features=broken)


def test_images_without_coordinates_are_compared_with_none_and_counted(folder):
    images = as_images("00", "00 recompressed", "01", latitude=[1.0, 1.0, None], longitude=[2.0, 2.0, 3.0])
    found = find(images, folder, ("geonet",))
    assert found.clusters["image_id"].to_list() == ["00", "00 recompressed"]
    assert any("1 image" in note for note in found.selection.notes)


def test_grey_pictures_are_decoded_reduced_and_upright(folder):
    data = (folder / "00.jpg").read_bytes()
    grey = open_image(data, min_side=32, grey=True)
    assert (grey.mode, grey.size) == ("L", (46, 34)) or grey.size == (40, 30) or min(grey.size) >= 32
    whole = open_image(data).convert("L").resize(grey.size, Image.Resampling.BOX)
    assert np.abs(np.asarray(grey, dtype=float) - np.asarray(whole, dtype=float)).mean() < 3

"""``graticule curate dedup``: what it writes, prints, draws and refuses."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
from PIL import Image

from graticule.cli.main import main
from graticule.data.store import read_provenance, read_table
from graticule.data.tables import DUPLICATES, IMAGES, REJECTS


def run(*words):
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    return ended.value.code


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    place = tmp_path_factory.mktemp("in")
    rng = np.random.default_rng(0)
    for name in ("a", "b", "c"):
        picture = Image.fromarray(rng.integers(0, 255, (8, 8, 3), dtype=np.uint8)).resize((320, 240))
        picture.save(place / f"{name}.jpg", quality=92)
        picture.resize((160, 120)).save(place / f"{name} <small> & co.jpg", quality=80)
    (place / "empty.jpg").write_bytes(b"")
    return place


@pytest.fixture
def work_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_dedup_writes_images_rejects_clusters_and_a_page(photos, tmp_path, capsys):
    output, page = tmp_path / "out" / "unique.parquet", tmp_path / "out" / "pairs.html"
    assert run("curate", "dedup", photos, "-o", output, "--page", page, "--no-progress") == 0
    kept = read_table(output, IMAGES)
    assert sorted(kept["image_id"]) == ["a.jpg", "b.jpg", "c.jpg"]
    assert kept["cluster"].to_list() == kept["image_id"].to_list()
    assert kept["path"][0].startswith("../../")
    rejects = read_table(output.with_name("unique.rejects.parquet"), REJECTS)
    assert sorted(rejects["step"]) == ["dedup"] * 3 + ["unreadable"]
    clusters = read_table(output.with_name("unique.duplicates.parquet"), DUPLICATES)
    assert clusters.filter("is_kept")["image_id"].to_list() == ["a.jpg", "b.jpg", "c.jpg"]
    made = read_provenance(output)
    assert made["command"] == "curate dedup"
    assert made["config"]["max_bits"] == 9
    assert not output.with_name("unique.parquet.partial").exists()
    printed = capsys.readouterr().out
    assert "3 clusters of near-duplicates, the largest of 2 images." in printed
    assert "3 of 7 images kept" in printed
    text = page.read_text(encoding="utf-8")
    assert text.count("data:image/webp;base64,") == 6
    assert "&lt;small&gt; &amp; co.jpg" in text
    assert "<small>" not in text
    assert not re.search(r"(?:src|href)=\"(?!data:|#)", text)
    assert len(list(photos.iterdir())) == 7


def test_nothing_found_is_said(photos, tmp_path, capsys):
    table = tmp_path / "images.csv"
    pl.DataFrame({"path": [str(photos / "a.jpg"), str(photos / "b.jpg")]}).write_csv(table)
    page = tmp_path / "pairs.html"
    output = tmp_path / "unique.parquet"
    assert run("curate", "dedup", table, "-o", output, "--page", page, "--no-progress") == 0
    assert "No near-duplicates." in capsys.readouterr().out
    assert "None of 2 images have a near-duplicate" in page.read_text(encoding="utf-8")
    assert read_table(output, IMAGES)["cluster"].to_list() == [None, None]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--rules", "phash"), "unknown rule 'phash'"),
        (("--max-bits", "40"), "expected 0 to 16"),
        (("--across", "split"), "no column 'split'"),
        (("--rules", "geonet"), "no column 'latitude'"),
        (("--rules", "embedding"), "--features"),
        (("--rules", "embedding", "--features", "nothing.parquet"), "nothing.parquet"),
        (("-o", "out.csv"), "expected a name that ends in .parquet"),
    ],
)
def test_bad_input_is_refused_in_a_sentence_and_nothing_is_written(photos, work_folder, capsys, words, says):
    assert run("curate", "dedup", photos, "--no-progress", *words) == 2
    assert says in capsys.readouterr().err
    assert list(work_folder.iterdir()) == []

"""``graticule scan`` as typed: what it prints, what it writes, how it fails."""

from __future__ import annotations

import subprocess
import sys

import pytest
from PIL import Image

from graticule.cli.main import main
from graticule.data.store import read_table
from graticule.data.tables import IMAGES


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as stopped:
        main(list(words))
    return int(stopped.value.code or 0)


@pytest.fixture
def photos(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("Africa/house", "Europe/house", "Europe/dog"):
        (tmp_path / "photos" / name).mkdir(parents=True)
        Image.new("RGB", (9, 9)).save(tmp_path / "photos" / name / "1.jpg")
    (tmp_path / "photos" / "notes.txt").write_text("x")
    return tmp_path


def test_scan_prints_counts_and_places(photos, capsys):
    assert run("scan", "photos", "--layout", "{region}/{label}", "-o", "images.parquet") == 0
    printed = capsys.readouterr().out
    assert "3 images, 0 with a position → images.parquet" in printed
    assert "by region: Europe 2, Africa 1" in printed
    assert "by label: house 2, dog 1" in printed
    assert "1 reject → images.rejects.parquet" in printed
    assert read_table(photos / "images.parquet", IMAGES).height == 3


def test_scan_says_how_to_get_labels(photos, capsys):
    assert run("scan", "photos") == 0
    assert "--layout" in capsys.readouterr().out


def test_scan_names_what_it_cannot_do(photos, capsys):
    assert run("scan", "nowhere") == 2
    assert "nowhere: no such folder or file" in capsys.readouterr().err
    assert run("scan", "photos", "--layout", "{label") == 2
    assert "a brace without its partner" in capsys.readouterr().err
    assert not (photos / "images.parquet").exists()


def test_a_killed_process_goes_on_and_leaves_nothing_half_written(photos):
    for index in range(300):
        Image.new("RGB", (9, 9), (index % 256, 1, 2)).save(photos / "photos" / f"{index:03}.png")
    program = (
        "import os, graticule.data.scan as s\n"
        "s.JOURNAL_INTERVAL_S = 0.0\n"
        "real = s._measure_one\n"
        "s._measure_one = lambda p, b, verify: os._exit(9) if p == '200.png' else real(p, b, verify=verify)\n"
        "from graticule.cli.main import main\n"
        "main(['scan', 'photos', '--workers', '1', '--no-progress'])\n"
    )
    killed = subprocess.run([sys.executable, "-c", program], cwd=photos, check=False, capture_output=True)
    assert killed.returncode == 9, killed.stderr
    assert not (photos / "images.parquet").exists()
    assert len(list((photos / "images.parquet.partial").glob("rows-*.parquet"))) > 1
    assert run("scan", "photos", "--no-progress") == 0
    assert read_table(photos / "images.parquet", IMAGES).height == 303
    assert not (photos / "images.parquet.partial").exists()

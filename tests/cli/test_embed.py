"""``graticule embed`` as it is typed."""

from __future__ import annotations

import subprocess
import sys

import polars as pl
import pytest
from PIL import Image

from graticule.cli.main import main
from graticule.data.store import read_info, read_table
from graticule.data.tables import FEATURES

pytest.importorskip("torch")

NETWORK = """
import torch
from graticule.models.transform import Transform

def make():
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(2), torch.nn.Flatten(), torch.nn.Linear(12, 3))
    network.transform = Transform(height=16, width=16, resize_to=(16, 16), mean=(.5,) * 3, std=(.5,) * 3)
    network.labels = ["red", "green", "blue"]
    return network
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "network_for_embed.py").write_text(NETWORK)
    (tmp_path / "photos").mkdir()
    for index in range(5):
        Image.new("RGB", (20, 30), (40 * index, 7, 99)).save(tmp_path / "photos" / f"{index}.jpg")
    (tmp_path / "photos" / "broken.jpg").write_bytes(b"\xff\xd8\xff")
    (tmp_path / "photos" / "images.csv").write_text(
        "image_id,path,label\n" + "".join(f"i{index},{index}.jpg,x\n" for index in range(5)) + "bad,broken.jpg,x\n"
    )
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("network_for_embed", None)


def run(*arguments):
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    return caught.value.code


def test_a_table_becomes_features_with_paths_relative_to_it(folder, capsys):
    command = ["embed", "photos/images.csv", "--model", "network_for_embed:make", "--engine", "eager"]
    assert run(*command, "-o", "out/features.parquet") == 0
    table = read_table(folder / "out" / "features.parquet", FEATURES)
    assert table["image_id"].to_list() == [f"i{index}" for index in range(5)]
    assert table["features"].dtype == pl.Array(pl.Float32, 12)
    printed = capsys.readouterr().out
    assert "5 images, 12 features an image → out/features.parquet" in printed
    assert "computed by eager in float32 on cpu" in printed
    assert "1 rejects → out/features.rejects.parquet" in printed
    assert "broken.jpg: " in printed
    assert read_info(folder / "out" / "features.parquet")["weights"]["kind"] == "own"


def test_a_folder_becomes_features(folder):
    assert run("embed", "photos", "--model", "network_for_embed:make", "--dtype", "float16") == 0
    table = read_table(folder / "features.parquet", FEATURES)
    assert table["features"].dtype == pl.Array(pl.Float16, 12)
    assert table.height == 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("--model", "network_for_embed:nothing"), "has no function 'nothing'"),
        (("--model", "tim/resnet50"), "Did you mean 'timm'?"),
        (("--engine", "fast"), "unknown engine 'fast'"),
        (("--device", "tpu"), "unknown device 'tpu'"),
        (("--precision", "int8"), "unknown precision 'int8'"),
        (("--weights", "none.pth"), "no such file of weights"),
        (("--batch-size", "0"), "Invalid value for '--batch-size'"),
    ],
)
def test_a_wrong_option_is_one_sentence_and_exit_code_2(folder, capsys, change, message):
    command = ["embed", "photos/images.csv", "--model", "network_for_embed:make", "-o", "f.parquet", *change]
    assert run(*command) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert "Traceback" not in printed.err
    assert not (folder / "f.parquet").exists()
    assert not (folder / "f.parquet.partial").exists()


def test_a_missing_table_is_said(folder, capsys):
    assert run("embed", "none.parquet", "--model", "network_for_embed:make") == 2
    assert "none.parquet: no such file" in capsys.readouterr().err


def test_help_is_fast_because_it_imports_no_torch():
    program = (
        "import sys\nfrom graticule.cli.main import main\n"
        "try:\n    main(['embed', '--help'])\nexcept SystemExit:\n    pass\n"
        "print('\\n@' + ','.join(sorted({name.partition('.')[0] for name in sys.modules})))"
    )
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert "graticule embed images.parquet --model timm/tf_efficientnet_lite0" in output
    loaded = set(output.rpartition("@")[2].strip().split(","))
    assert not loaded & {"torch", "timm", "numpy", "polars", "PIL", "openvino"}

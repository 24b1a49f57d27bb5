"""Images stream through a model to one file: in order, resumable after a kill, with rejects, in flat memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import pytest
from PIL import Image

from graticule.data.store import read_info, read_provenance, read_table
from graticule.data.tables import FEATURES, REJECTS
from graticule.errors import ConfigError, FileError, ImageError, ModelError, TableError
from graticule.models.extract import embed_images
from graticule.models.model import Model, Outputs
from graticule.models.pipeline import StreamConfig
from graticule.models.transform import Transform

TRANSFORM = Transform(height=8, width=8, resize_to=(8, 8), mean=(0.5,) * 3, std=(0.5,) * 3)
QUIET = StreamConfig(batch_size=4, n_workers=2, part_images=8, progress=False)


@dataclass
class MeanEngine:
    """Features: each channel's mean. Says which batches it was asked for."""

    name: str = "eager"
    device: str = "cpu"
    precision: str = "float32"
    n_streams: int = 2
    calls: int = 0
    fails_at: int = -1
    delay_s: float = 0.0

    def compute(self, batch):
        if self.calls == self.fails_at:
            raise RuntimeError("out of memory\nmore")
        self.calls += 1
        time.sleep(self.delay_s * (self.calls % 2))
        return Outputs(features=batch.mean(axis=(1, 2)).astype(np.float32), scores=None)


def make_model(engine=None, **changes):
    info = {"model": "test/mean", "weights": {"sha256": "0"}, "transform": "none", "engine": "eager"}
    model = Model(
        name="test/mean",
        transform=TRANSFORM,
        engine=engine or MeanEngine(),
        n_features=3,
        n_scores=0,
        info={**info, "precision": "float32"},
    )
    return replace(model, **changes)


@pytest.fixture
def folder(tmp_path):
    for index in range(30):
        Image.new("RGB", (12, 10), (index, 2 * index, 100)).save(tmp_path / f"{index:02d}.png")
    return tmp_path


@pytest.fixture
def images():
    names = [f"{index:02d}.png" for index in range(30)]
    return pl.DataFrame({"image_id": [f"image {name}" for name in names], "path": names})


def embed(images, folder, *, engine=None, config=QUIET, output="features.parquet", **options):
    model = make_model(engine)
    return embed_images(images, base=folder, model=model, output=folder / output, config=config, **options)


def leftovers(folder):
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".png")


def test_each_image_gets_its_row_in_the_order_of_the_table(folder, images):
    result = embed(images, folder, engine=MeanEngine(delay_s=0.01))
    table = read_table(result.path, FEATURES)
    assert table["image_id"].to_list() == images["image_id"].to_list()
    np.testing.assert_array_equal(table["features"].to_numpy()[:, 0], np.arange(30))
    assert table["features"].dtype == pl.Array(pl.Float32, 3)
    assert leftovers(folder) == ["features.parquet", "features.rejects.parquet"]
    assert (result.n_written, result.n_resumed, result.rejects.height) == (30, 0, 0)


def test_the_file_says_what_made_it(folder, images):
    (folder / "images.csv").write_text("x")
    result = embed(images, folder, inputs={"images.csv": folder / "images.csv"})
    info, provenance = read_info(result.path), read_provenance(result.path)
    assert info["model"] == "test/mean"
    assert info["layer"] == "penultimate layer"
    assert info["n_features"] == 3
    assert provenance["command"] == "embed"
    assert len(provenance["inputs"]["images.csv"]) == 64
    assert provenance["version"]


def test_half_precision_halves_the_numbers(folder, images):
    result = embed(images, folder, dtype="float16")
    table = read_table(result.path, FEATURES)
    assert table["features"].dtype == pl.Array(pl.Float16, 3)
    np.testing.assert_array_equal(table["features"].to_numpy()[:, 1], 2 * np.arange(30))
    with pytest.raises(ConfigError, match="unknown dtype 'int8'"):
        embed(images, folder, dtype="int8")


def test_bad_images_are_rejects_with_reasons(folder, images):
    (folder / "03.png").write_bytes(b"oops")
    (folder / "29.png").unlink()
    result = embed(images, folder)
    table, rejects = read_table(result.path, FEATURES), read_table(result.rejects_path, REJECTS)
    assert table.height == 28
    assert "image 03.png" not in table["image_id"]
    assert rejects["path"].to_list() == ["03.png", "29.png"]
    assert "no such file" in rejects["reason"][1]
    np.testing.assert_array_equal(table["features"].to_numpy()[3:5, 0], [4, 5])


def test_when_no_image_can_be_read_that_is_an_error(folder, images):
    with pytest.raises(ImageError, match=r"not one of 30 images could be read: .*no such file.*Paths are relative to"):
        embed(images, folder / "elsewhere")
    assert not (folder / "elsewhere" / "features.parquet").exists()


def test_an_image_whose_features_are_not_finite_is_a_reject(folder, images):
    class Overflowing(MeanEngine):
        def compute(self, batch):
            found = super().compute(batch).features
            found[found[:, 0] == 7] = np.inf
            return Outputs(features=found, scores=None)

    result = embed(images, folder, engine=Overflowing())
    assert result.rejects["path"].to_list() == ["07.png"]
    assert "not finite" in result.rejects["reason"][0]


def test_no_images_give_an_empty_table(folder, images):
    result = embed(images.clear(), folder)
    assert read_table(result.path, FEATURES).height == 0
    assert result.n_written == 0


def test_images_without_paths_are_refused(folder, images):
    with pytest.raises(TableError, match="no column 'path'"):
        embed(images.drop("path"), folder)


def test_batches_and_threads_change_nothing(folder, images):
    expected = read_table(embed(images, folder).path, FEATURES)
    for batch_size, n_workers, part_images in ((1, 1, 1), (7, 4, 9), (64, 2, 1000)):
        config = StreamConfig(
            batch_size=batch_size, n_workers=n_workers, part_images=part_images, progress=False, restart=True
        )
        assert read_table(embed(images, folder, config=config).path, FEATURES).equals(expected)


def test_a_failure_keeps_what_is_done_and_the_next_run_goes_on(folder, images):
    expected = read_table(embed(images, folder, output="whole.parquet").path, FEATURES)
    with pytest.raises(ModelError, match=r"test/mean: fails on a batch of 4 images \(out of memory\).*--batch-size"):
        embed(images, folder, engine=MeanEngine(fails_at=5, n_streams=1))
    assert not (folder / "features.parquet").exists()
    assert (folder / "features.parquet.partial" / "run.json").is_file()
    engine = MeanEngine()
    result = embed(images, folder, engine=engine)
    assert result.n_resumed >= 8
    assert engine.calls == -(-(30 - result.n_resumed) // 4)
    assert read_table(result.path, FEATURES).equals(expected)
    assert not (folder / "features.parquet.partial").exists()


def test_rejects_of_the_earlier_run_are_kept(folder, images):
    (folder / "01.png").write_bytes(b"oops")
    with pytest.raises(ModelError):
        embed(images, folder, engine=MeanEngine(fails_at=5, n_streams=1))
    result = embed(images, folder)
    assert result.rejects["path"].to_list() == ["01.png"]
    assert result.n_written == 29


@pytest.fixture
def interrupted(folder, images):
    with pytest.raises(ModelError):
        embed(images, folder, engine=MeanEngine(fails_at=5, n_streams=1))
    return folder


def test_a_run_with_other_settings_does_not_go_on_silently(interrupted, images):
    with pytest.raises(ConfigError, match=r"holds \d+ images .* dtype was float32, is float16.*--restart"):
        embed(images, interrupted, dtype="float16")
    with pytest.raises(ConfigError, match=r"images was 30 images .* is 29 images"):
        embed(images.head(29), interrupted)


def test_restart_drops_what_is_there(interrupted, images):
    result = embed(images, interrupted, dtype="float16", config=replace(QUIET, restart=True))
    assert (result.n_resumed, result.n_written) == (0, 30)


def test_another_batch_size_may_go_on(interrupted, images):
    result = embed(images, interrupted, config=replace(QUIET, batch_size=3))
    assert result.n_resumed > 0
    np.testing.assert_array_equal(read_table(result.path, FEATURES)["features"].to_numpy()[:, 0], np.arange(30))


def test_parts_that_do_not_join_on_are_dropped(interrupted, images):
    partial = interrupted / "features.parquet.partial"
    first = min(partial.glob("part-*.parquet"))
    (partial / "part-0000000020-0000000024.parquet").write_bytes(first.read_bytes())
    (partial / "part-junk.parquet").write_bytes(b"junk")
    result = embed(images, interrupted)
    assert read_table(result.path, FEATURES)["image_id"].to_list() == images["image_id"].to_list()


def test_an_output_that_is_a_folder_is_refused_before_any_work(folder, images):
    (folder / "features.parquet").mkdir()
    engine = MeanEngine()
    with pytest.raises(FileError, match="a folder, expected a file to write"):
        embed(images, folder, engine=engine)
    assert engine.calls == 0


PROGRAM = """
import json, sys, time
import numpy as np, polars as pl
from graticule.models.extract import embed_images
from graticule.models.model import Model, Outputs
from graticule.models.pipeline import StreamConfig
from graticule.models.transform import Transform

class Engine:
    name, device, precision, n_streams = "eager", "cpu", "float32", 2
    def compute(self, batch):
        time.sleep(float(sys.argv[2]))
        flat = batch.reshape(len(batch), -1).astype(np.float32)
        return Outputs(features=np.sqrt(flat[:, :64]) + flat.mean(axis=1, keepdims=True), scores=None)

photos, output = json.load(open("photos.json")), sys.argv[1]
transform = Transform(height=64, width=64, resize_to=(72, 72), mean=(.5,) * 3, std=(.5,) * 3)
model = Model(name="test", transform=transform, engine=Engine(), n_features=64, n_scores=0, info={"model": "test"})
images = pl.DataFrame({"image_id": [str(i) for i in range(len(photos))], "path": photos})
config = StreamConfig(batch_size=8, n_workers=2, part_images=32, progress=False)
print(embed_images(images, base=".", model=model, output=output, config=config).n_resumed)
"""


def test_a_killed_run_goes_on_to_the_same_file(tmp_path, shared):
    photos = sorted(str(path) for path in shared("images/imagenet1k_samples_short256").glob("*.jpg"))[:300]
    (tmp_path / "photos.json").write_text(json.dumps([*photos, "missing.jpg", *photos[:20]]))

    def start(output, delay_s):
        command = [sys.executable, "-c", PROGRAM, output, str(delay_s)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        return subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, env=environment)

    whole = start("whole.parquet", 0)
    killed = start("killed.parquet", 0.1)
    partial = tmp_path / "killed.parquet.partial"
    deadline = time.monotonic() + 120
    while len(list(partial.glob("part-*"))) < 3 and time.monotonic() < deadline and killed.poll() is None:
        time.sleep(0.02)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    assert not (tmp_path / "killed.parquet").exists()
    resumed = start("killed.parquet", 0)
    n_resumed = int(resumed.communicate(timeout=120)[0])
    assert whole.wait(timeout=120) == 0
    whole.communicate()
    assert 96 <= n_resumed < 321
    assert n_resumed % 8 == 0
    one, other = (pl.read_parquet(tmp_path / f"{name}.parquet") for name in ("whole", "killed"))
    assert one.height == 320
    assert one.equals(other)
    assert pl.read_parquet(tmp_path / "killed.rejects.parquet").equals(
        pl.read_parquet(tmp_path / "whole.rejects.parquet")
    )


MEMORY_PROGRAM = """
import resource, sys
import numpy as np, polars as pl
from graticule.models.extract import embed_images
from graticule.models.model import Model, Outputs
from graticule.models.pipeline import StreamConfig
from graticule.models.transform import Transform

class Engine:
    name, device, precision, n_streams = "eager", "cpu", "float32", 1
    def compute(self, batch):
        return Outputs(features=np.repeat(batch[:, :1, 0, 0].astype(np.float32), 2048, axis=1), scores=None)

transform = Transform(height=64, width=64, resize_to=(64, 64), mean=(.5,) * 3, std=(.5,) * 3)
model = Model(name="test", transform=transform, engine=Engine(), n_features=2048, n_scores=0, info={"model": "test"})
config = StreamConfig(batch_size=32, n_workers=2, part_images=256, progress=False)
for count in (500, int(sys.argv[1])):
    images = pl.DataFrame({"image_id": [str(i) for i in range(count)], "path": ["a.jpg"] * count})
    embed_images(images, base=".", model=model, output="features.parquet", config=config)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def test_memory_does_not_grow_with_the_number_of_images(tmp_path):
    pytest.importorskip("resource")
    Image.new("RGB", (64, 64), (200, 0, 0)).save(tmp_path / "a.jpg")
    run = subprocess.run(
        [sys.executable, "-c", MEMORY_PROGRAM, "8000"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    few, many = (float(line) for line in run.stdout.split())
    # 7,500 more images are 61 MB of features and 92 MB of pixels.
    assert many - few < 45

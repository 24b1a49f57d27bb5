"""Images are decoded ahead, in order; a bad one is named and costs the others nothing."""

from __future__ import annotations

import io
import os
import tarfile
import threading
import time
import zipfile

import numpy as np
import pytest
from PIL import Image

from graticule.models import pixels as pixels_module
from graticule.models.pixels import read_batches
from graticule.models.transform import Transform

TRANSFORM = Transform(height=16, width=16, resize_to=(16, 16), mean=(0.5,) * 3, std=(0.5,) * 3)


def write_images(folder, count):
    """Images whose grey says which one they are."""
    names = [f"{index:03d}.png" for index in range(count)]
    for index, name in enumerate(names):
        Image.new("RGB", (20, 18), (index, index, index)).save(folder / name)
    return names


def read(paths, base, **options):
    settings = {"batch_size": 8, "n_workers": 3, **options}
    return list(read_batches(paths, base=base, transform=TRANSFORM, **settings))


@pytest.mark.parametrize("batch_size", [1, 3, 8, 20, 64])
@pytest.mark.parametrize("n_workers", [1, 4])
def test_every_image_comes_once_and_in_order(tmp_path, batch_size, n_workers):
    batches = read(write_images(tmp_path, 50), tmp_path, batch_size=batch_size, n_workers=n_workers)
    assert [(batch.start, batch.stop) for batch in batches] == [
        (start, min(start + batch_size, 50)) for start in range(0, 50, batch_size)
    ]
    greys = np.concatenate([batch.pixels[:, 3, 5, 1] for batch in batches])
    np.testing.assert_array_equal(greys, np.arange(50))


def test_reading_can_start_in_the_middle(tmp_path):
    batches = read(write_images(tmp_path, 20), tmp_path, start=13, batch_size=4)
    assert [(batch.start, batch.stop) for batch in batches] == [(13, 17), (17, 20)]
    assert [int(batch.pixels[0, 0, 0, 0]) for batch in batches] == [13, 17]


def test_bad_images_are_named_and_the_others_are_there(tmp_path):
    names = write_images(tmp_path, 6)
    (tmp_path / names[2]).write_bytes(b"not a picture")
    paths = [*names[:4], "missing.png", None, *names[4:]]
    (batch,) = read(paths, tmp_path)
    assert [reason is None for reason in batch.reasons] == [True, True, False, True, False, False, True, True]
    assert "no such file" in batch.reasons[4]
    assert batch.reasons[5] == "no path"
    assert batch.pixels[7, 0, 0, 0] == 5
    assert not batch.pixels[2].any()


def test_every_odd_file_is_pixels_or_a_reason(shared):
    folder = shared("images/odd")
    names = sorted(path.name for path in folder.iterdir())
    batches = read(names, folder, batch_size=16)
    reasons = [reason for batch in batches for reason in batch.reasons]
    assert len(reasons) == len(names)
    good = [name for name, reason in zip(names, reasons, strict=True) if reason is None]
    assert 30 < len(good) < len(names)
    assert all(reason is None or len(reason) > 10 for reason in reasons)


def test_members_of_archives_are_read_in_place(tmp_path):
    buffer = io.BytesIO()
    Image.new("RGB", (20, 20), (9, 9, 9)).save(buffer, "PNG")
    with zipfile.ZipFile(tmp_path / "photos.zip", "w") as archive:
        archive.writestr("inner/a.png", buffer.getvalue())
    with tarfile.open(tmp_path / "photos.tar", "w") as archive:
        member = tarfile.TarInfo("inner/b.png")
        member.size = len(buffer.getvalue())
        archive.addfile(member, io.BytesIO(buffer.getvalue()))
    (batch,) = read(["zip://inner/a.png::photos.zip", "tar://inner/b.png::photos.tar"], tmp_path)
    assert batch.reasons == (None, None)
    assert (batch.pixels == 9).all()


def test_no_more_than_a_few_batches_are_decoded_ahead(tmp_path, monkeypatch):
    names = write_images(tmp_path, 3) * 200
    decoded = []
    original = pixels_module.open_image
    monkeypatch.setattr(
        pixels_module, "open_image", lambda data, *, min_side: decoded.append(1) or original(data, min_side=min_side)
    )
    batches = read_batches(names, base=tmp_path, transform=TRANSFORM, batch_size=8, n_workers=2)
    next(batches)
    deadline = time.monotonic() + 1
    while len(decoded) < 40 and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.2)
    assert len(decoded) <= 8 * 6
    batches.close()


def test_leaving_early_leaves_no_thread_behind(tmp_path):
    names = write_images(tmp_path, 3) * 100
    batches = read_batches(names, base=tmp_path, transform=TRANSFORM, batch_size=4, n_workers=3)
    next(batches)
    batches.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("decode")]


def test_an_error_of_ours_is_not_taken_for_a_bad_image(tmp_path, monkeypatch):
    def broken(data, *, min_side):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(pixels_module, "open_image", broken)
    with pytest.raises(ZeroDivisionError):
        read(write_images(tmp_path, 3), tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes on this system")
def test_a_pipe_does_not_block_the_run(tmp_path):
    os.mkfifo(tmp_path / "pipe.jpg")
    (batch,) = read(["pipe.jpg"], tmp_path)
    assert "pipe" in batch.reasons[0]

"""Damaged pictures: whatever bytes are flipped, cut or put in, there is a picture or an `ImageError`, and soon."""

from __future__ import annotations

import io
import random
import time

import pytest
from PIL import Image

from graticule.data.decode import measure_image, open_image
from graticule.errors import ImageError

FORMATS = (
    "JPEG",
    "PNG",
    "WEBP",
    "TIFF",
    "GIF",
    "BMP",
    "ICO",
    "PPM",
    "TGA",
    "JPEG2000",
    "AVIF",
    "PCX",
    "ICNS",
    "DDS",
    "QOI",
)
LONGEST_S = 5.0
"""Far above what any of these small files takes, so that only a hang fails."""


def damage(data: bytes, rng: random.Random) -> bytes:
    """Return the bytes with a few of them changed, mostly in the header."""
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5])):
        place = rng.randrange(min(len(changed), 150) if rng.random() < 0.6 else len(changed))
        kind = rng.randrange(4)
        if kind == 0:
            changed[place] = rng.randrange(256)
        elif kind == 1:
            changed[place : place + 4] = rng.choice(
                [b"\xff" * 4, b"\x7f\xff\xff\xff", b"\x00" * 4, b"\x00\x00\xff\xff"]
            )
        elif kind == 2:
            del changed[place : place + rng.randrange(1, 20)]
        else:
            changed[place:place] = rng.randbytes(5)
        if not changed:
            break
    return bytes(changed)


def attempt(data: bytes) -> None:
    started = time.process_time()
    for read in (open_image, measure_image, lambda given: measure_image(given, verify=False)):
        try:
            read(data)
        except ImageError as error:
            reason = str(error)
            if not reason:
                pytest.fail("an error without a reason")
    assert time.process_time() - started < LONGEST_S


@pytest.mark.parametrize("form", FORMATS)
def test_damaged_files_of_every_format(form):
    image = Image.radial_gradient("L").resize((40, 32)).convert("RGB")
    buffer = io.BytesIO()
    image.save(buffer, form)
    rng = random.Random(form)
    for _ in range(60):
        attempt(damage(buffer.getvalue(), rng))


def test_damaged_real_files(shared):
    paths = [path for path in sorted(shared("images/odd").iterdir()) if 0 < path.stat().st_size < 20_000]
    rng = random.Random(0)
    for path in paths:
        for _ in range(8):
            attempt(damage(path.read_bytes(), rng))

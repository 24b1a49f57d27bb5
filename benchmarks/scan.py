"""How fast a scan is, beside the bare reading of the same bytes and a plain loop over Pillow, in one run.

    python benchmarks/scan.py [FOLDER]

FOLDER is the folder of real images named by GRATICULE_SHARED (its ``images``) unless given. All ways are timed over the
same files, warm, in turns, and the best of the rounds counts: bytes read by one thread; bytes read and hashed; a plain
loop (Pillow opens, reads EXIF, decodes; hashlib hashes); our scan with headers only; our scan with every image decoded.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from PIL import Image

from graticule.data.scan import scan_images
from graticule.data.walk import is_image_name, open_place

ROUNDS = 3
DAMAGE = (OSError, ValueError, SyntaxError, TypeError, Image.DecompressionBombError)


def read_only(files: list[Path]) -> int:
    return sum(len(path.read_bytes()) for path in files)


def read_and_hash(files: list[Path]) -> int:
    return sum(len(hashlib.sha256(path.read_bytes()).hexdigest()) for path in files)


def loop_over_pillow(files: list[Path]) -> int:
    n_read = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path in files:
            hashlib.sha256(path.read_bytes()).hexdigest()
            try:
                with Image.open(path) as image:
                    image.getexif().get_ifd(0x8825)
                    image.load()
                    n_read += 1
            except DAMAGE:
                continue
    return n_read


def link_copies(files: list[Path], folder: Path) -> None:
    for index, path in enumerate(files):
        (folder / f"{index:06d}{path.suffix}").symlink_to(path)


def measure(work: Callable[[], object]) -> tuple[float, float]:
    """Return the least wall seconds and the CPU seconds of that round."""
    best = (float("inf"), 0.0)
    for _ in range(ROUNDS):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        best = min(best, (time.perf_counter() - wall, time.process_time() - cpu))
    return best


def main() -> None:
    default = Path(os.environ.get("GRATICULE_SHARED", Path(__file__).parents[1] / ".." / "shared")) / "images"
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    files = [(root / name).resolve() for name in open_place(root).files if is_image_name(name)]
    n_bytes = read_only(files)
    n_processors = len(os.sched_getaffinity(0))
    print(f"{len(files)} files, {n_bytes / 1e6:.1f} MB, {n_processors} processors, Pillow {Image.__version__}")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        link_copies(files, place)
        ways: dict[str, Callable[[], object]] = {
            "bytes read, one thread": lambda: read_only(files),
            "bytes read and hashed, one thread": lambda: read_and_hash(files),
            "plain loop over Pillow": lambda: loop_over_pillow(files),
            "our scan, headers only": lambda: scan_images(place, verify=False, progress=False),
            "our scan, every image decoded": lambda: scan_images(place, progress=False),
        }
        times = {name: measure(work) for name, work in ways.items()}
    bare = times["bytes read, one thread"][0]
    for name, (wall, cpu) in times.items():
        rate = f"{len(files) / wall:8.0f} files/s  {bare / wall:6.1%} of bare reading"
        print(f"{name:36} {wall:7.2f} s  {cpu:7.2f} CPU s  {rate}")


if __name__ == "__main__":
    main()

"""How well the filter ``blurred`` tells blurred photos: rates by kind and strength of blur, on photos of yours.

Run: python benchmarks/curation_blur.py FOLDER [--photos 400]

Every photo is brought to a shorter side of 256 pixels, as the filter does (smaller ones stay as they are), and blurred
by a Gaussian or along a line (motion), with strengths in pixels at that size. Photos as they are count as sharp, though
some of them are not.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter, uniform_filter1d

from graticule.curation.looks import SHORT_SIDE, measure_blur
from graticule.data.decode import open_image
from graticule.errors import GraticuleError

THRESHOLDS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--photos", type=int, default=400)
    arguments = parser.parse_args()
    paths = sorted(path for path in arguments.folder.rglob("*") if path.suffix.lower() in (".jpg", ".jpeg", ".png"))
    rng = np.random.default_rng(0)
    values: dict[str, list[float]] = {}
    for path in rng.permutation(np.array(paths, dtype=object))[: arguments.photos]:
        try:
            picture = open_image(path, min_side=SHORT_SIDE)
        except GraticuleError:
            continue
        scale = min(1.0, SHORT_SIDE / min(picture.size))
        size = (round(picture.width * scale), round(picture.height * scale))
        grey = np.asarray(picture.resize(size, Image.Resampling.BILINEAR).convert("L"), dtype=np.float32)
        for kind, blurred in blur(grey).items():
            values.setdefault(kind, []).append(measure_blur(blurred))
    print(f"{len(values['as they are'])} photos of {arguments.folder.name}; share called blurred above a threshold of")
    print(f"{'':>14}{'median':>8}" + "".join(f"{threshold:>8}" for threshold in THRESHOLDS))
    for kind, found in values.items():
        rates = "".join(f"{(np.array(found) > threshold).mean():>8.3f}" for threshold in THRESHOLDS)
        print(f"{kind:>14}{np.median(found):>8.3f}{rates}")


def blur(grey: np.ndarray) -> dict[str, np.ndarray]:
    pictures = {"as they are": grey}
    pictures |= {f"gaussian {sigma}": gaussian_filter(grey, sigma) for sigma in (1, 2, 3, 5, 8)}
    pictures |= {f"motion {length}": uniform_filter1d(grey, length, axis=1) for length in (5, 9, 15, 25)}
    return {kind: np.round(np.clip(picture, 0, 255)) for kind, picture in pictures.items()}


if __name__ == "__main__":
    main()

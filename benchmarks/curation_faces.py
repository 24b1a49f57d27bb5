"""How many photos with faces the filter ``faces`` finds, on photos of ImageNet's classes that a person looked at.

Run: python benchmarks/curation_faces.py FOLDER

FOLDER holds the thousand sample photos of ImageNet's classes (one a class, named ``n02536864_coho.jpg`` and so on). 144
of them, drawn with seed 0, were looked at as thumbnails by one person: those of `FACES` show a face that somebody could
be known by. Tiny faces in crowds and faces cut in half were not counted as such.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from scipy.stats import binomtest

from graticule.curation.faces import load_detector, score_face
from graticule.data.decode import open_image

LOOKED_AT = 144
FACES = {
    *("n02536864_coho", "n03461385_grocery_store", "n03763968_military_uniform", "n03089624_confectionery"),
    *("n03134739_croquet_ball", "n04417672_thatch", "n03720891_maraca", "n04493381_tub", "n02097298_Scotch_terrier"),
    *("n02951358_canoe", "n03372029_flute", "n02860847_bobsled", "n04209133_shower_cap"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    paths = sorted(parser.parse_args().folder.rglob("*.[jJ][pP][gGeE]*"))
    chosen = [paths[place] for place in np.random.default_rng(0).permutation(len(paths))[:LOOKED_AT]]
    truth = np.array([path.stem in FACES for path in chosen])
    if truth.sum() != len(FACES):
        raise SystemExit(f"{truth.sum()} of the {len(FACES)} photos with faces are among those drawn: another folder?")
    load_detector()
    start = time.perf_counter()
    scores = np.array([score_face(open_image(path)) for path in chosen])
    print(f"{len(chosen)} photos, {1000 * (time.perf_counter() - start) / len(chosen):.0f} ms each")
    for threshold in (0.3, 0.4, 0.5, 0.6, 0.7):
        found = scores >= threshold
        recall = binomtest(int(found[truth].sum()), int(truth.sum()))
        interval = recall.proportion_ci(0.95, method="wilson")
        print(
            f"threshold {threshold}: {found[truth].sum()} of {truth.sum()} faces found "
            f"({recall.statistic:.2f} [{interval.low:.2f}, {interval.high:.2f}]), "
            f"{found[~truth].sum()} of {(~truth).sum()} others left out too"
        )


if __name__ == "__main__":
    main()

"""The whole audit of a million predictions beside fairlearn's bootstrap of one metric, in one run.

    pip install fairlearn
    python benchmarks/audit.py

Ours is everything that `graticule audit` writes but the page: all metrics over 6 regions × 40 labels with scores,
every interval (1,000 bootstraps), 500 random partitions and the exact partition test, gallery, headline. The peer is
fairlearn's MetricFrame, accuracy over the same regions and labels, with 2 bootstrap draws; its time for 1,000 is
reckoned from the time that a draw adds, and said to be reckoned. Each runs in a process of its own, whose peak memory
is printed (the input included, which is why the input's share stands beside it). Wall times hang on what else the
machine does; ratios of CPU seconds hold.

Two more rows time the parts that are compared most often: 500 partitions of all labels from their law and by shuffling
images, and one bootstrap draw from counts.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import polars as pl

REGIONS = ("Africa", "Americas", "EastAsia", "Europe", "SouthEastAsia", "WestAsia")
DRAWS_TIMED = 2
N_BOOTSTRAPS = 1000
N_PARTITIONS = 500
SEED = 0


def draw_codes(n: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return region, label and prediction of each image: right in about 80 %, a little less in some regions."""
    rng = np.random.default_rng(SEED)
    region, label = rng.integers(0, len(REGIONS), n), rng.integers(0, k, n)
    right = rng.random(n) < 0.83 - 0.01 * region
    predicted = np.where(right, label, (label + rng.integers(1, k, n)) % k)
    return region, label, predicted


def run_ours(n: int, k: int, *, has_scores: bool) -> dict[str, float]:
    from graticule.data.predictions import Predictions
    from graticule.evaluation.audit import audit_predictions
    from graticule.evaluation.audit_config import AuditConfig

    region, label, predicted = draw_codes(n, k)
    labels = tuple(f"label {code:02d}" for code in range(k))
    names = [f"image-{place:07d}" for place in range(n)]
    images = pl.DataFrame(
        {
            "image_id": names,
            "label": pl.Series(labels).gather(label),
            "region": pl.Series(REGIONS).gather(region),
        }
    )
    rng = np.random.default_rng(SEED)
    scores, top = None, predicted[:, None].astype(np.int32)
    if has_scores:
        scores = rng.standard_normal((n, k), dtype=np.float32)
        scores[np.arange(n), predicted] = 4
        others = np.argpartition(-scores, 5, axis=1)[:, :5]
        order = np.take_along_axis(scores, others, axis=1).argsort(axis=1)[:, ::-1]
        top = np.take_along_axis(others, order, axis=1).astype(np.int32)
    predictions = Predictions(
        model="model",
        image_ids=np.array(names, dtype=object),
        labels=labels,
        kind="logits" if has_scores else "labels",
        top=top,
        scores=scores,
        info={},
    )
    config = AuditConfig(n_bootstraps=N_BOOTSTRAPS, n_partitions=N_PARTITIONS, seed=SEED)
    return measure(lambda: audit_predictions(images, [predictions], config=config))


def run_fairlearn(n: int, k: int, *, n_draws: int) -> dict[str, float]:
    import pandas as pd
    from fairlearn.metrics import MetricFrame
    from sklearn.metrics import accuracy_score

    region, label, predicted = draw_codes(n, k)
    features = {"region": pd.Series(region), "label": pd.Series(label)}
    bootstrap = {"n_boot": n_draws, "ci_quantiles": [0.025, 0.975], "random_state": SEED} if n_draws else {}
    return measure(
        lambda: MetricFrame(
            metrics=accuracy_score,
            y_true=label,
            y_pred=predicted,
            sensitive_features=pd.DataFrame(features),
            **bootstrap,
        )
    )


def run_parts(n: int, k: int) -> dict[str, float]:
    from graticule.evaluation.partition_test import compute_partition_test, draw_accuracies

    region, label, predicted = draw_codes(n, k)
    cells = label * len(REGIONS) + region
    sizes = np.bincount(cells, minlength=k * len(REGIONS)).reshape(k, -1)
    hits = np.bincount(cells, weights=predicted == label, minlength=k * len(REGIONS)).reshape(k, -1).astype(int)
    rng = np.random.default_rng(SEED)
    drawn = measure(
        lambda: [
            draw_accuracies(sizes[row], int(hits[row].sum()), n_partitions=N_PARTITIONS, rng=rng) for row in range(k)
        ]
    )
    exact = measure(lambda: [compute_partition_test(sizes[row], hits[row], confidence=0.95) for row in range(k)])
    is_right = (predicted == label)[label == 0]
    ends = np.cumsum(sizes[0])[:-1]
    shuffled = measure(
        lambda: [[part.mean() for part in np.split(rng.permutation(is_right), ends)] for _ in range(N_PARTITIONS)]
    )
    counted = measure(lambda: rng.binomial(sizes, hits / sizes, (500, *sizes.shape)) / sizes)
    return {
        "partitions drawn": drawn["cpu_s"],
        "partition test, exact": exact["cpu_s"],
        "partitions by shuffling": shuffled["cpu_s"] * k,
        "500 bootstraps from counts": counted["cpu_s"],
    }


def measure(work: Callable[[], object]) -> dict[str, float]:
    """Return wall and CPU seconds of the work, and the process's peak memory before it and in all, in MiB."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return {
        "wall_s": time.perf_counter() - wall,
        "cpu_s": time.process_time() - cpu,
        "input_mib": before,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def run_apart(part: str, n: int, k: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--part", part, "--images", str(n), "--labels", str(k)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


PARTS: dict[str, Callable[[int, int], dict[str, float]]] = {
    "ours": lambda n, k: run_ours(n, k, has_scores=True),
    "ours without scores": lambda n, k: run_ours(n, k, has_scores=False),
    "fairlearn": lambda n, k: run_fairlearn(n, k, n_draws=0),
    "fairlearn with draws": lambda n, k: run_fairlearn(n, k, n_draws=DRAWS_TIMED),
    "parts": run_parts,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=1_000_000)
    parser.add_argument("--labels", type=int, default=40)
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    n, k = options.images, options.labels
    if options.part:
        print(json.dumps(PARTS[options.part](n, k)))
        return
    found = {part: run_apart(part, n, k) for part in PARTS}
    print(f"{n:,} images × {k} labels × {len(REGIONS)} regions\n")
    print(f"{'':42}{'wall s':>9}{'CPU s':>9}{'peak MiB':>10}{'of it input':>13}")
    for part, row in found.items():
        if part != "parts":
            name = {
                "ours": "ours: the whole audit, with scores",
                "ours without scores": "ours: the whole audit, best labels only",
                "fairlearn": "fairlearn: accuracy, no interval",
                "fairlearn with draws": f"fairlearn: accuracy, {DRAWS_TIMED} bootstrap draws",
            }[part]
            print(f"{name:42}{row['wall_s']:9.2f}{row['cpu_s']:9.2f}{row['peak_mib']:10.0f}{row['input_mib']:13.0f}")
    draw = (found["fairlearn with draws"]["cpu_s"] - found["fairlearn"]["cpu_s"]) / DRAWS_TIMED
    reckoned = found["fairlearn"]["cpu_s"] + N_BOOTSTRAPS * draw
    print(f"\nA draw of fairlearn adds {draw:.2f} CPU s; {N_BOOTSTRAPS:,} draws are reckoned at {reckoned:,.0f} CPU s:")
    print(f"  {reckoned / found['ours']['cpu_s']:,.0f} times our whole audit with scores,")
    print(
        f"  {reckoned / found['ours without scores']['cpu_s']:,.0f} times ours from best labels, which fairlearn sees."
    )
    print(f"\nParts, CPU s ({N_PARTITIONS} partitions of all {k} labels; shuffling timed on one label):")
    for name, seconds in found["parts"].items():
        print(f"  {name:40}{seconds:9.3f}")


if __name__ == "__main__":
    main()

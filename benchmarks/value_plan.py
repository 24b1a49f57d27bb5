"""Back-test of `graticule value plan`: hide images, plan from the rest, reveal what the plan bought, and compare.

    python benchmarks/value_plan.py                    # half of GeoDE's training images hidden at random
    python benchmarks/value_plan.py --skewed           # a tenth of each region kept, Europe whole
    python benchmarks/value_plan.py --seeds 20 --goal mean

Every seed draws what is hidden, plans from what is left alone (probes tested on images that they did not see), buys so
many of the hidden images, trains a probe on all of it and tests that on GeoDE's test images. Random purchases take
hidden images as they come; equal purchases take as many of every region and label. Accuracy is the mean over labels,
each with the same weight, in the worst region and over all regions. Differences are paired by
seed, with Student's interval.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
import polars as pl

from graticule.evaluation.value.allocation import Order
from graticule.evaluation.value.labelled import label_features
from graticule.evaluation.value.plan import PlanConfig, allocate_plainly, plan_purchase
from graticule.evaluation.value.seeds import average_seeds
from graticule.models.probe_space import ProbeSpace, make_probe_space

SHARED = Path(os.environ.get("GRATICULE_SHARED", Path(__file__).parents[1] / ".." / "shared")).resolve()
KEPT_WHERE_SKEWED = 0.1


def load_geode():
    """Return images, features ready for probes, and which rows are GeoDE's training images."""
    folder = SHARED / "data/geode_pass_features"
    rows = pl.read_parquet(folder / "rows.parquet")
    with np.load(folder / "features_f16.npz") as file:
        vectors = file["features"].astype(np.float32)
    images = rows.select(
        pl.format("geode_{}", pl.col("row").cast(pl.String).str.zfill(5)).alias("image_id"),
        pl.col("object").alias("label"),
        "region",
        "split",
    )
    features = images.select("image_id").with_columns(
        features=pl.Series(vectors, dtype=pl.Array(pl.Float32, vectors.shape[1]))
    )
    labelled = label_features(features, images, by="region")
    is_train = images.sort("image_id")["split"].to_numpy() == "train"
    return labelled, make_probe_space(labelled.vectors, labelled.targets, n_labels=len(labelled.labels)), is_train


def hide(cells, train, *, regions, is_skewed, labelled, rng):
    """Return which training images stay."""
    kept = []
    for cell in np.unique(cells[train]):
        rows = rng.permutation(train[cells[train] == cell])
        share = 0.5
        if is_skewed:
            share = 1.0 if regions[cell // len(labelled.labels)] == "Europe" else KEPT_WHERE_SKEWED
        kept.append(rows[: round(share * len(rows))])
    return np.concatenate(kept)


def measure(space, train, test, labelled):
    """Return the label-balanced accuracy of each region."""
    is_right = space.test(train, test)
    cell = labelled.region[test] * len(labelled.labels) + labelled.targets[test]
    n_cells = len(labelled.regions) * len(labelled.labels)
    hits = np.bincount(cell, weights=is_right, minlength=n_cells)
    by_cell = (hits / np.bincount(cell, minlength=n_cells)).reshape(len(labelled.regions), -1)
    return by_cell.mean(axis=1)


def buy(quotas, hidden, cells, rng):
    """Return hidden images of each cell, as many as the quotas say."""
    bought = []
    for cell, quota in enumerate(quotas.ravel()):
        rows = rng.permutation(hidden[cells[hidden] == cell])
        bought.append(rows[:quota])
    return np.concatenate(bought)


def main():
    """Run the back-test and print its tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--skewed", action="store_true")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--images", type=int, default=500)
    parser.add_argument("--goal", default="worst")
    given = parser.parse_args()
    labelled, space, is_train = load_geode()
    cells = labelled.region * len(labelled.labels) + labelled.targets
    train, test = np.flatnonzero(is_train), np.flatnonzero(~is_train)
    found = {name: [] for name in ("before", "plan", "equal", "random", "predicted")}
    for seed in range(given.seeds):
        rng = np.random.default_rng([7, seed])
        have = hide(cells, train, regions=labelled.regions, is_skewed=given.skewed, labelled=labelled, rng=rng)
        hidden = np.setdiff1d(train, have)
        most = labelled.take(hidden).count_cells()
        part = ProbeSpace(
            places=space.places[have],
            targets=space.targets[have],
            n_labels=space.n_labels,
            config=space.config,
            kept_share=space.kept_share,
        )
        config = PlanConfig(budget=float(given.images), price=1.0, goal=given.goal)
        plan = plan_purchase(labelled.take(have), part, config=config, most=most, seed=seed)
        order = Order(have=plan.have, prices=np.ones(most.shape), budget=config.budget, most=most)
        purchases = {
            "plan": buy(plan.quotas, hidden, cells, rng),
            "equal": buy(allocate_plainly(order, "equal"), hidden, cells, rng),
            "random": rng.choice(hidden, size=given.images, replace=False),
        }
        found["before"].append(measure(space, have, test, labelled))
        for name, rows in purchases.items():
            found[name].append(measure(space, np.concatenate([have, rows]), test, labelled))
        found["predicted"].append(plan.gain.value[[-2, -1]])
        top = np.argsort(-plan.quotas.ravel())[:3]
        names = ", ".join(f"{labelled.regions[c // 6]} {labelled.labels[c % 6]} {plan.quotas.ravel()[c]}" for c in top)
        worst = {name: round(100 * float(np.min(found[name][-1])), 1) for name in ("before", *purchases)}
        print(f"seed {seed}: bought {names}; worst region {worst}", flush=True)
    report(found, given)


def report(found, given):
    """Print gains and paired differences in points."""
    kind = "a tenth of each region but Europe kept" if given.skewed else "half of the images hidden"
    print(f"\n{kind}, {given.images} bought, goal {given.goal}, {given.seeds} seeds; points of accuracy")
    views = {"worst region": lambda rows: np.min(rows, axis=1), "mean of regions": lambda rows: np.mean(rows, axis=1)}
    print("| | before | plan | equal | random | plan − equal | plan − random | predicted gain | gain |")
    print("|---|---|---|---|---|---|---|---|---|")
    for place, (name, view) in enumerate(views.items()):
        value = {key: 100 * view(np.array(rows)) for key, rows in found.items() if key != "predicted"}
        predicted = 100 * np.array(found["predicted"])[:, place]
        cells = [f"{value[key].mean():.1f}" for key in ("before", "plan", "equal", "random")]
        cells += [tell(value["plan"] - value[key]) for key in ("equal", "random")]
        cells += [f"{predicted.mean():.1f}", tell(value["plan"] - value["before"])]
        print(f"| {name} | {' | '.join(cells)} |")


def tell(differences):
    """Return a mean with its interval."""
    found = average_seeds(differences[:, None], n=len(differences))
    return f"{found.value[0]:+.1f} ({found.low[0]:+.1f} to {found.high[0]:+.1f})"


if __name__ == "__main__":
    main()

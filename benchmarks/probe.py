"""The linear probe beside scikit-learn, in one run: one fit of the same objective, and the whole choice of C.

    python benchmarks/probe.py                   # real GeoDE features, 7,524 × 2,048 × 6
    python benchmarks/probe.py --synthetic       # 40,000 × 2,048 × 40, drawn
    python benchmarks/probe.py --synthetic --one-fit-only

Both get the same scaled features in float32 and the same C. A fit is judged by what it reaches: its objective above the
lowest that any fit of the run found, computed for all in float64 by this program; ours also prints the bound that it
certifies itself.

The whole job is: choose C by 5-fold cross-validation, fit all rows, and predict every training row out of fold. There
the peer is LogisticRegressionCV over the values of C that ours came to try, with the same folds, which then knows C and
has still to predict out of fold (not counted).

BLAS computes in one thread for both, so CPU seconds compare; ours also uses the other processors, so its wall time is
shorter on an idle machine. Features are turned into their principal axes once by ours, and that is counted.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from graticule.models.feature_scaling import find_scaling
from graticule.models.folds import deal_folds
from graticule.models.logistic import fit_logistic
from graticule.models.logistic_pass import NONE, FoldedRows
from graticule.models.principal_axes import find_axes
from graticule.models.probe_penalty import choose_penalty

SHARED = Path(os.environ.get("GRATICULE_SHARED", Path(__file__).parents[1] / ".." / "shared")).resolve()
SEED = 0
C = 31.6
TOLERANCES = (1e-4, 1e-5, 1e-7)
QUICK = 2
"""Of these tolerances, so many where a fit takes minutes."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Task:
    features: np.ndarray
    targets: np.ndarray
    test_features: np.ndarray
    test_targets: np.ndarray

    @property
    def n_labels(self):
        return int(self.targets.max()) + 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fitted:
    name: str
    weights: np.ndarray
    intercepts: np.ndarray
    cpu_s: float
    wall_s: float
    note: str = ""


def load_geode():
    import polars as pl

    folder = SHARED / "data/geode_pass_features"
    with np.load(folder / "features_f16.npz") as file:
        vectors = file["features"].astype(np.float32)
    rows = pl.read_parquet(folder / "rows.parquet")
    targets = np.unique(rows["object"].to_numpy(), return_inverse=True)[1]
    return split(vectors, targets, rows["split"].to_numpy() == "train")


def draw(n=40_000, d=2048, k=40):
    """Labels whose centres differ along the wide axes of a spectrum that falls off as features' spectra do."""
    rng = np.random.default_rng(SEED)
    targets = rng.integers(k, size=n + n // 10)
    widths = (1 / np.sqrt(1 + np.arange(d))).astype(np.float32)
    centres = rng.standard_normal((k, d), dtype=np.float32) * widths * 0.1
    vectors = rng.standard_normal((len(targets), d), dtype=np.float32) * widths
    vectors += centres[targets]
    return split(vectors, targets, np.arange(len(targets)) < n)


def split(vectors, targets, is_train):
    scaling = find_scaling(vectors[is_train], "overall")
    scaled = scaling.apply(vectors)
    return Task(
        features=scaled[is_train],
        targets=targets[is_train],
        test_features=scaled[~is_train],
        test_targets=targets[~is_train],
    )


def timed(work):
    cpu, wall = time.process_time(), time.perf_counter()
    found = work()
    return found, time.process_time() - cpu, time.perf_counter() - wall


def fit_ours(task, tolerance):
    def work():
        axes = find_axes(task.features)
        bounds = (0, len(task.targets))
        rows = FoldedRows(features=task.features @ axes, targets=task.targets, n_labels=task.n_labels, bounds=bounds)
        return axes, fit_logistic(rows, left_out=[NONE], inverse_penalties=[C], tolerance=tolerance)

    (axes, fits), cpu, wall = timed(work)
    return Fitted(
        name=f"ours, tolerance {tolerance:g}",
        weights=axes.astype(np.float64) @ fits.weights[0],
        intercepts=fits.intercepts[0],
        cpu_s=cpu,
        wall_s=wall,
        note=f"{fits.n_iterations[0]} steps, certified gap {fits.gap[0] / fits.objective[0]:.1e}",
    )


def fit_peer(task, tolerance):
    from sklearn.linear_model import LogisticRegression

    peer = LogisticRegression(C=C, tol=tolerance, max_iter=10_000)
    _, cpu, wall = timed(lambda: peer.fit(task.features, task.targets))
    return Fitted(
        name=f"scikit-learn lbfgs, tol {tolerance:g}",
        weights=peer.coef_.T.astype(np.float64),
        intercepts=peer.intercept_.astype(np.float64),
        cpu_s=cpu,
        wall_s=wall,
        note=f"{int(peer.n_iter_[0])} steps",
    )


def measure_objective(task, fitted):
    """Return the objective in float64, a slice of rows at a time."""
    total = 0.0
    for start in range(0, len(task.targets), 4096):
        part = slice(start, start + 4096)
        scores = task.features[part].astype(np.float64) @ fitted.weights + fitted.intercepts
        highest = scores.max(axis=1)
        own = scores[np.arange(len(scores)), task.targets[part]]
        total += (np.log(np.exp(scores - highest[:, None]).sum(axis=1)) + highest - own).sum()
    return (total + np.square(fitted.weights).sum() / (2 * C)) / len(task.targets)


def compare_one_fit(task, tolerances, peer_tolerances):
    fits = [fit_ours(task, tolerance) for tolerance in tolerances]
    fits += [fit_peer(task, tolerance) for tolerance in peer_tolerances]
    objectives = [measure_objective(task, fitted) for fitted in fits]
    lowest = min(objectives)
    print(f"\none fit at C = {C:g}, {task.features.shape[0]} × {task.features.shape[1]} × {task.n_labels}")
    print(f"{'':30} {'CPU s':>7} {'wall s':>7} {'above lowest':>13} {'test accuracy':>14}")
    for fitted, objective in zip(fits, objectives, strict=True):
        best = (task.test_features @ fitted.weights + fitted.intercepts).argmax(axis=1)
        accuracy = (best == task.test_targets).mean()
        print(
            f"{fitted.name:30} {fitted.cpu_s:7.1f} {fitted.wall_s:7.1f} {objective / lowest - 1:13.1e} {accuracy:14.4f}"
            f"   {fitted.note}"
        )


def compare_whole_job(task):
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegressionCV

    rng = np.random.default_rng(SEED)
    folds = deal_folds(task.targets, None, n_folds=5, rng=rng)

    def ours():
        axes = find_axes(task.features)
        order = np.argsort(folds, kind="stable")
        bounds = tuple(np.searchsorted(folds[order], np.arange(6)).tolist())
        rows = FoldedRows(
            features=task.features[order] @ axes, targets=task.targets[order], n_labels=task.n_labels, bounds=bounds
        )
        choice = choose_penalty(rows, rng=rng)
        strengths = [choice.inverse_penalty, *choice.by_fold]
        fit_logistic(rows, left_out=[NONE, *range(5)], inverse_penalties=strengths, tolerance=1e-5)
        return choice

    choice, cpu, wall = timed(ours)
    print(f"\nthe whole job: {len(choice.candidates)} values of C on {choice.n_rows} rows, 5 folds, then out of fold")
    print(f"{'ours':30} {cpu:7.1f} CPU s {wall:7.1f} wall s, C = {choice.inverse_penalty:g}")
    splits = [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in range(5)]
    peer = LogisticRegressionCV(
        Cs=list(choice.candidates),
        cv=splits,
        scoring="neg_log_loss",
        max_iter=1000,
        l1_ratios=(0.0,),
        use_legacy_attributes=False,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        _, peer_cpu, peer_wall = timed(lambda: peer.fit(task.features, task.targets))
    print(
        f"{'scikit-learn LogisticRegressionCV':30} {peer_cpu:4.1f} CPU s {peer_wall:7.1f} wall s, C = {peer.C_:g} "
        f"→ {peer_cpu / cpu:.1f} times ours"
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--synthetic", action="store_true", help="draw 40,000 × 2,048 × 40 instead of GeoDE's")
    parser.add_argument("--one-fit-only", action="store_true", help="leave the choice of C out")
    given = parser.parse_args()
    task = draw() if given.synthetic else load_geode()
    with threadpool_limits(limits=1, user_api="blas"):
        if given.synthetic:
            compare_one_fit(task, TOLERANCES[:QUICK], TOLERANCES[:QUICK])
        else:
            compare_one_fit(task, TOLERANCES, TOLERANCES[:QUICK])
        if not given.one_fit_only:
            compare_whole_job(task)


if __name__ == "__main__":
    main()

"""From finished runs to the tables of GeoNet's kind: accuracies, drops, relative gains, unknown labels, validators."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl

from graticule.adaptation.adapt_config import TARGET_SUPERVISED
from graticule.adaptation.grid.run_cells import Finished
from graticule.adaptation.grid.tables import Row, Table, Value, make_table

SOURCE_ONLY = "source_only"
ACCURACIES = {
    "accuracy": "Top-1 accuracy on the target",
    "top5_accuracy": "Top-5 accuracy on the target",
    "drop": "Accuracy lost between held-out source images and the target (less is better)",
    "closed_set_accuracy": "Closed-set accuracy: shared labels that are told and not rejected",
    "open_set_accuracy": "Open-set accuracy: unknown labels that are rejected",
    "h_score": "H-score: the harmonic mean of closed-set and open-set accuracy",
    "auroc": "AUROC of the unknown score",
    "oscr": "OSCR",
}
NOT_MARKED = {"drop"}
GAIN_NOTE = (
    "(method - source only) / (target supervised - source only), of means over seeds; 100 % is what labels in the "
    "target would give, below 0 adapting harms. Empty where the target's labels would not help either."
)
VALIDATOR_NOTE = (
    "Spearman's rank correlation with the true accuracy over algorithms and seeds, mean ± standard error over tasks; "
    "and the accuracy of the algorithm that each validator would pick, beside the best one's (an oracle)."
)


def collect(finished: Iterable[Finished]) -> pl.DataFrame:
    """Return all runs' metrics in one table, with dataset, backbone, task, algorithm and seed."""
    frames = [
        one.metrics.with_columns(
            dataset=pl.lit(one.cell.dataset),
            backbone=pl.lit(one.cell.backbone),
            task=pl.lit(one.cell.task),
            algorithm=pl.lit(one.cell.config.algorithm),
            seed=pl.lit(one.cell.seed),
        )
        for one in finished
        if one.metrics is not None
    ]
    return pl.concat(frames) if frames else pl.DataFrame()


def summarise(runs: pl.DataFrame) -> list[Table]:
    """Return the tables of a benchmark, data set by data set.

    Parameters
    ----------
    runs
        Of `collect`.
    """
    tables: list[Table] = []
    if runs.is_empty():
        return tables
    for (dataset, backbone), part in runs.group_by("dataset", "backbone", maintain_order=True):
        where = f"{dataset}, {backbone}"
        key = f"{dataset}-{backbone}"
        algorithms = part["algorithm"].unique(maintain_order=True).to_list()
        tasks = part["task"].unique(maintain_order=True).to_list()
        for metric, title in ACCURACIES.items():
            chosen = _pick(part, metric)
            if chosen.is_empty():
                continue
            unmarked = algorithms if metric in NOT_MARKED else [TARGET_SUPERVISED]
            present = [name for name in algorithms if name in set(chosen["row"])]
            tables.append(
                make_table(
                    chosen,
                    key=f"{key}-{metric}",
                    title=f"{title} ({where})",
                    rows=present,
                    columns=tasks,
                    unmarked=unmarked,
                )
            )
        if {SOURCE_ONLY, TARGET_SUPERVISED} <= set(algorithms):
            tables.append(_make_gains(part, algorithms, tasks, key=key, where=where))
        correlations = _make_validators(part, tasks, key=key, where=where)
        if correlations is not None:
            tables.append(correlations)
    return tables


def _pick(runs: pl.DataFrame, metric: str) -> pl.DataFrame:
    """Return the runs' numbers of a metric over all labels."""
    return runs.filter((pl.col("metric") == metric) & pl.col("label").is_null() & pl.col("group").is_null()).select(
        pl.col("algorithm").alias("row"), pl.col("task").alias("column"), "seed", pl.col("value").fill_nan(None)
    )


def _make_gains(runs: pl.DataFrame, algorithms: Sequence[str], tasks: Sequence[str], *, key: str, where: str) -> Table:
    means = {
        (row, column): value
        for row, column, value in _pick(runs, "accuracy")
        .group_by("row", "column")
        .agg(pl.col("value").mean())
        .iter_rows()
    }
    adapted = [name for name in algorithms if name not in (SOURCE_ONLY, TARGET_SUPERVISED)]
    rows: list[Row] = []
    for name in adapted:
        gains = [
            find_relative_gain(
                means.get((name, task)), means.get((SOURCE_ONLY, task)), means.get((TARGET_SUPERVISED, task))
            )
            for task in tasks
        ]
        known = [gain for gain in gains if not math.isnan(gain)]
        if len(tasks) > 1:
            gains.append(float(np.mean(known)) if known else math.nan)
        rows.append(Row(name=name, values=tuple(Value(mean=gain, error=math.nan, n=1) for gain in gains)))
    columns = (*tasks, "mean") if len(tasks) > 1 else tuple(tasks)
    return Table(
        key=f"{key}-relative-gain",
        title=f"Relative accuracy gain ({where})",
        note=GAIN_NOTE,
        columns=columns,
        rows=tuple(rows),
    )


def find_relative_gain(method: float | None, source_only: float | None, supervised: float | None) -> float:
    """Return the gain over source only as a share of what labels would gain; NaN where they would gain nothing.

    Examples
    --------
    >>> round(find_relative_gain(0.7, 0.6, 0.8), 3)
    0.5
    >>> find_relative_gain(0.7, 0.6, 0.6)
    nan
    """
    if method is None or source_only is None or supervised is None or not supervised > source_only:
        return math.nan
    return (method - source_only) / (supervised - source_only)


def _make_validators(runs: pl.DataFrame, tasks: Sequence[str], *, key: str, where: str) -> Table | None:
    """Return how well each validator ranks algorithms; None where there are fewer than three runs a task."""
    scores = runs.filter(pl.col("metric") == "validator").select("task", "algorithm", "seed", "group", "value")
    truth = _pick(runs, "accuracy").rename({"row": "algorithm", "column": "task", "value": "truth"})
    joined = scores.join(truth, on=["task", "algorithm", "seed"]).drop_nulls("truth")
    rows: list[Row] = []
    for (name,), part in joined.group_by("group", maintain_order=True):
        found = [_judge(part.filter(pl.col("task") == task)) for task in tasks]
        columns = list(zip(*[one for one in found if one is not None], strict=True))
        if columns:
            rows.append(Row(name=str(name), values=tuple(_average(column) for column in columns)))
    if not rows:
        return None
    return Table(
        key=f"{key}-validators",
        title=f"Validators ({where})",
        note=VALIDATOR_NOTE,
        columns=("rank correlation", "accuracy of its pick", "accuracy of the best"),
        rows=tuple(rows),
        is_share=False,
    )


def _judge(part: pl.DataFrame) -> tuple[float, float, float] | None:
    """Return the rank correlation, and the accuracies of the algorithm that is picked and of the best one."""
    from scipy.stats import spearmanr

    if part.height < 3:
        return None
    score, truth = part["value"].to_numpy(), part["truth"].to_numpy()
    is_flat = np.ptp(score) == 0 or np.ptp(truth) == 0
    correlation = 0.0 if is_flat else float(spearmanr(score, truth)[0])  # pyright: ignore[reportArgumentType]
    means = part.group_by("algorithm", maintain_order=True).agg(pl.col("value").mean(), pl.col("truth").mean())
    picked = means["truth"].to_numpy()[int(means["value"].to_numpy().argmax())]
    return correlation, float(picked), float(means["truth"].to_numpy().max())


def _average(numbers: Sequence[float]) -> Value:
    n = len(numbers)
    error = float(np.std(numbers, ddof=1) / math.sqrt(n)) if n > 1 else math.nan
    return Value(mean=float(np.mean(numbers)), error=error, n=n)

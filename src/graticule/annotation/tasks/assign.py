"""Who answers which task, where the workers are known beforehand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from graticule.data.tables import TASKS
from graticule.data.validate import validate_table
from graticule.errors import ConfigError, TableError, shown


def assign_tasks(tasks: pl.DataFrame, *, worker_ids: Sequence[str], seed: int) -> pl.DataFrame:
    """Return task_id and worker_id: each task for as many different workers as it asks for.

    Parameters
    ----------
    tasks
        A `TASKS` table; a task without ``n_workers`` is for one worker.
    worker_ids
        The workers.
    seed
        Settles ties.

    Raises
    ------
    TableError
        The tasks are empty or break their declaration.
    ConfigError
        A worker is named twice, or a task asks for more workers than there are.

    Notes
    -----
    Tasks are dealt one after the other, in random order, to the workers who have seen the fewest of its controls, and
    among those to the ones with the fewest tasks. So a worker sees a control twice only when every other worker would
    too, and loads differ no more than that rule demands.
    """
    checked = validate_table(tasks, TASKS, where="tasks")
    if checked.is_empty():
        raise TableError("tasks: the table is empty; expected at least one task to assign.")
    rng = np.random.default_rng(seed % 2**32)
    wanted = _wanted(checked)
    _check_workers(worker_ids, largest=max(wanted.values()))
    controls = _controls(checked)
    seen = np.zeros(
        (len(worker_ids), 1 + max((max(places, default=0) for places in controls.values()), default=0)), bool
    )
    load = np.zeros(len(worker_ids), dtype=np.int64)
    pairs: list[tuple[str, str]] = []
    names = sorted(wanted)
    workers = list(worker_ids)
    for number in rng.permutation(len(names)).tolist():
        task_id = names[number]
        places = controls.get(task_id, [])
        repeats = seen[:, places].sum(axis=1)
        chosen = np.lexsort((rng.random(len(worker_ids)), load, repeats))[: wanted[task_id]]
        seen[chosen[:, None], places] = True
        load[chosen] += 1
        pairs += [(task_id, workers[worker]) for worker in chosen.tolist()]
    return pl.DataFrame(pairs, schema={"task_id": pl.String, "worker_id": pl.String}, orient="row").sort(
        "task_id", "worker_id"
    )


def _wanted(tasks: pl.DataFrame) -> dict[str, int]:
    if "n_workers" not in tasks.columns:
        return dict.fromkeys(tasks["task_id"].unique(), 1)
    grouped = tasks.group_by("task_id").agg(pl.col("n_workers").max().fill_null(1))
    return {task_id: n_workers for task_id, n_workers in grouped.iter_rows()}


def _controls(tasks: pl.DataFrame) -> dict[str, list[int]]:
    """Return each task's controls as numbers, one an image and label."""
    if "is_control" not in tasks.columns:
        return {}
    controls = tasks.filter("is_control").with_columns(
        (pl.struct("image_id", "label").rank("dense") - 1).alias("place")
    )
    grouped = controls.group_by("task_id").agg("place")
    return {task_id: [int(place) for place in places] for task_id, places in grouped.iter_rows()}


def _check_workers(worker_ids: Sequence[str], *, largest: int) -> None:
    repeated = (
        sorted({name for name in worker_ids if list(worker_ids).count(name) > 1})
        if len(set(worker_ids)) < len(worker_ids)
        else []
    )
    if repeated:
        raise ConfigError(f"workers: {len(repeated)} are named twice: {shown(repeated)}. Name each once.")
    if len(worker_ids) < largest:
        raise ConfigError(
            f"workers: {len(worker_ids)} for tasks that ask for {largest} different ones; expected at least as many. "
            "Find more workers, or lower --overlap."
        )

"""All checks, one after the other: what is kept, and why the rest is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

import polars as pl

from graticule.annotation.controls import check_controls
from graticule.annotation.quality import CHECKS
from graticule.annotation.quality.answer_rows import NAMES, as_categories, prepare_answers
from graticule.annotation.quality.check import Check, Evidence, QualityConfig, no_findings
from graticule.annotation.quality.control_answers import require_truth
from graticule.annotation.quality.worker_controls import measure_workers
from graticule.data.tables import TASKS
from graticule.data.validate import validate_table
from graticule.errors import unknown_choice


@dataclass(frozen=True, slots=True, kw_only=True)
class Filtered:
    """Answers that passed every check, and those that did not."""

    kept: pl.DataFrame
    """The answers that passed, as they were given."""
    rejects: pl.DataFrame
    """The others: path (the image_id), reason, check, then the answer as it was given. Each stands here once, with the
    first check that it failed."""
    workers: pl.DataFrame | None
    """Every worker's accuracy on controls, before anyone was left out; None without controls."""


def filter_answers(
    answers: pl.DataFrame,
    *,
    controls: pl.DataFrame | None = None,
    tasks: pl.DataFrame | None = None,
    checks: Sequence[str] | None = None,
    config: QualityConfig | None = None,
) -> Filtered:
    """Return the answers that can be trusted, and every other one with the reason why not.

    Parameters
    ----------
    answers
        An `ANSWERS` table.
    controls
        Questions of known answer: image_id, label, selected. Without them the checks on controls find nothing.
    tasks
        The `TASKS` table that was given to workers; with it, labels that a task did not offer are found.
    checks
        Names of the checks to run, in `CHECKS`; None runs all. They always run in the order of `CHECKS`, each on what
        the ones before it have left.
    config
        Thresholds.

    Raises
    ------
    ConfigError
        There is no check of that name.
    TableError
        A table is empty or breaks its declaration, a control has no right answer, or an answer was sent before its
        task was assigned.
    """
    config = config or QualityConfig()
    chosen = _choose(checks)
    prepared = prepare_answers(answers)
    evidence = Evidence(
        controls=None if controls is None else _with_categories(check_controls(controls, where="controls")),
        tasks=None if tasks is None else _with_categories(validate_table(tasks, TASKS, where="tasks")),
    )
    workers = None
    if evidence.controls is not None:
        require_truth(prepared, evidence.controls)
        workers = measure_workers(prepared, evidence.controls, confidence=config.confidence)
    left = prepared
    found = [no_findings().with_columns(pl.lit(None, dtype=pl.String).alias("check"))]
    for name in chosen:
        if left.is_empty():
            break
        findings = _load(name)(left, evidence, config)
        if findings.is_empty():
            continue
        found.append(findings.select("row", "reason", pl.lit(name).alias("check")))
        left = left.join(findings, on="row", how="anti")
    return _split(answers, pl.concat(found), workers=workers)


def _with_categories(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(as_categories(*(name for name in NAMES if name in table.columns)))


def _choose(checks: Sequence[str] | None) -> list[str]:
    for name in checks or ():
        if name not in CHECKS:
            raise unknown_choice("check", name, CHECKS)
    return [name for name in CHECKS if checks is None or name in checks]


def _load(name: str) -> Check:
    module, _, attribute = CHECKS[name].partition(":")
    return getattr(import_module(module), attribute)


def _split(answers: pl.DataFrame, found: pl.DataFrame, *, workers: pl.DataFrame | None) -> Filtered:
    numbered = answers.with_row_index("__row")
    kept = numbered.join(found, left_on="__row", right_on="row", how="anti", maintain_order="left").drop("__row")
    added = {"path", "reason", "check"} & set(answers.columns)
    rejects = (
        numbered.drop(added)
        .join(found.with_columns(pl.col("row").cast(pl.UInt32)), left_on="__row", right_on="row", how="inner")
        .sort("__row")
        .select(pl.col("image_id").cast(pl.String).alias("path"), "reason", "check", *answers.drop(added).columns)
    )
    return Filtered(kept=kept, rejects=rejects, workers=workers)

"""What ``graticule annotate`` does between reading its inputs and printing where the result went: answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl

from graticule.annotation.controls import CONTROLS
from graticule.annotation.exchange.files import read_checked
from graticule.annotation.quality.agreement_rows import list_agreement
from graticule.annotation.quality.check import QualityConfig
from graticule.annotation.quality.filter import Filtered, filter_answers
from graticule.cli.annotate_files import beside
from graticule.data.store import describe_run, write_table
from graticule.data.tables import AGREEMENT, ANSWERS, REJECTS, TASKS


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityRequest:
    """What was typed after ``annotate quality``."""

    source: Path
    controls: Path | None
    tasks: Path | None
    checks: Sequence[str]
    config: QualityConfig
    output: Path


def check_quality(request: QualityRequest) -> list[str]:
    """Write the kept answers, the rejected ones and the agreement, and return what to print."""
    answers = read_checked(request.source, ANSWERS)
    filtered = filter_answers(
        answers,
        controls=None if request.controls is None else read_checked(request.controls, CONTROLS),
        tasks=None if request.tasks is None else read_checked(request.tasks, TASKS),
        checks=request.checks or None,
        config=request.config,
    )
    agreement = list_agreement(filtered)
    paths = [path for path in (request.source, request.controls, request.tasks) if path is not None]
    provenance = describe_run(
        "annotate quality", config=asdict(request.config), inputs={path.name: path for path in paths}
    )
    rejects, agreed = beside(request.output, "rejects"), request.output.with_name("agreement.parquet")
    write_table(filtered.rejects, rejects, REJECTS, provenance=provenance)
    write_table(agreement, agreed, AGREEMENT, provenance=provenance)
    write_table(filtered.kept, request.output, ANSWERS, provenance=provenance)
    return [
        *_describe(filtered),
        *_describe_agreement(agreement),
        f"Kept:      {request.output}",
        f"Rejects:   {rejects}",
        f"Agreement: {agreed}",
    ]


def _describe(filtered: Filtered) -> list[str]:
    n_answers = filtered.kept.height + filtered.rejects.height
    sentences = [f"{filtered.kept.height} of {n_answers} answers kept."]
    counts = filtered.rejects.group_by("check", maintain_order=True).agg(
        pl.len().alias("n"), pl.col("worker_id").n_unique().alias("workers")
    )
    for check, n_rows, n_workers in counts.iter_rows():
        sentences.append(f"{n_rows} left out by {check}, of {n_workers} workers.")
    if filtered.workers is None:
        sentences.append("No controls were given, so no worker's accuracy is known; give them with --controls.")
    else:
        accuracy = filtered.workers["accuracy"]
        sentences.append(
            f"Accuracy on controls of {len(accuracy)} workers: median {accuracy.median():.3f}, "
            f"lowest {accuracy.min():.3f}."
        )
    return sentences


def _describe_agreement(agreement: pl.DataFrame) -> list[str]:
    whole = agreement.filter(pl.col("label").is_null(), pl.col("worker_id").is_null())
    return [
        f"Agreement of the kept answers ({kind}): {statistic.replace('_', ' ')} {value:.3f}."
        for statistic, kind, value in whole.select("statistic", "kind", "value").iter_rows()
        if value is not None
    ]

"""What ``graticule annotate`` does between reading its inputs and printing where the result went: labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import polars as pl

from graticule.annotation.aggregation import AGGREGATORS
from graticule.annotation.aggregation.aggregate import Aggregate
from graticule.annotation.aggregation.aggregator import Aggregator
from graticule.annotation.aggregation.gold import Gold, code_gold
from graticule.annotation.answers import Answers, code_answers
from graticule.annotation.chooser import AUTO, Choice, choose_method
from graticule.annotation.controls import CONTROLS
from graticule.annotation.exchange.files import read_checked
from graticule.cli.annotate_files import beside
from graticule.data.store import describe_run, replace_atomically, write_table
from graticule.data.tables import ANSWERS, LABELS
from graticule.errors import ConfigError, TableError, shown, unknown_choice


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateRequest:
    """What was typed after ``annotate aggregate``."""

    source: Path
    method: str
    gold: Path | None
    settled: Path | None
    min_probability: float | None
    options: Sequence[str]
    output: Path


def make_labels(request: AggregateRequest) -> list[str]:
    """Write labels, selections and workers' skills, and return what to print."""
    aggregator = None if request.method == AUTO else make_aggregator(request.method, request.options)
    if aggregator is None and request.options:
        raise ConfigError(f"--set {request.options[0]}: auto has no options. Name the --method whose option it is.")
    answers = code_answers(read_checked(request.source, ANSWERS), where=str(request.source))
    gold = None
    if request.gold is not None:
        gold = code_gold(read_checked(request.gold, CONTROLS), answers, where=str(request.gold))
    sentences: list[str] = []
    if aggregator is None:
        aggregator, sentences = _choose(answers, gold)
    found = aggregator.aggregate(answers, gold=gold)
    labels = found.to_labels(min_probability=request.min_probability)
    selections = found.to_labels(min_probability=0.0)
    if request.settled is not None:
        settled = read_checked(request.settled, LABELS)
        labels = _add_settled(labels, settled, where=str(request.settled))
        selections = pl.concat([selections, settled.drop_nulls("selection_frequency")], how="diagonal_relaxed")
    paths = [path for path in (request.source, request.gold, request.settled) if path is not None]
    config = {"method": request.method, "options": list(request.options), "min_probability": request.min_probability}
    provenance = describe_run("annotate aggregate", config=config, inputs={path.name: path for path in paths})
    info = {
        "method": found.method,
        "question": found.question,
        "log_likelihood": found.log_likelihood.tolist(),
        "converged": found.converged,
    }
    workers = beside(request.output, "workers")
    with replace_atomically(workers) as temporary:
        found.to_workers().write_parquet(temporary)
    write_table(selections, beside(request.output, "selections"), LABELS, info=info, provenance=provenance)
    write_table(labels, request.output, LABELS, info=info, provenance=provenance)
    return [
        *sentences,
        *_describe(found, labels),
        f"Labels:     {request.output}",
        f"Selections: {beside(request.output, 'selections')}",
        f"Workers:    {workers}",
    ]


def make_aggregator(method: str, options: Sequence[str]) -> Aggregator:
    """Return the aggregator called ``method`` with its options set.

    Raises
    ------
    ConfigError
        There is no such method or option, or a value is of another type.
    """
    if method not in AGGREGATORS:
        raise unknown_choice("method", method, [*AGGREGATORS, AUTO], where="--method")
    kind: Any = AGGREGATORS[method]
    known = {field.name: field.type for field in fields(kind)}
    given: dict[str, Any] = {}
    for option in options:
        name, equals, text = option.partition("=")
        if not equals:
            raise ConfigError(f"--set {option}: expected NAME=VALUE, as in max_iterations=500.")
        if name not in known:
            raise unknown_choice(f"option of {method}", name, known, where="--set")
        given[name] = _convert(text, str(known[name]), option=option)
    return kind(**given)


def _choose(answers: Answers, gold: Gold | None) -> tuple[Aggregator, list[str]]:
    """Return the aggregator that fits the answers best, and what to print of the others."""
    choice: Choice = choose_method(answers, gold=gold)
    tried = [
        f"  {row['method']:<20} {row['accuracy']:>6.1%} of {row['n']} right answers, Brier score {row['brier']:.3f}"
        for row in choice.scores.sort("accuracy", descending=True, maintain_order=True).iter_rows(named=True)
    ]
    return AGGREGATORS[choice.method](), [f"Method {choice.method}: {choice.reason}", *tried]


def _convert(text: str, kind: str, *, option: str) -> int | float | bool | str:
    try:
        if kind == "bool":
            return {"true": True, "false": False}[text.lower()]
        return int(text) if kind == "int" else float(text) if kind == "float" else text
    except (ValueError, KeyError) as error:
        raise ConfigError(f"--set {option}: '{text}' is not of type {kind}.") from error


def _add_settled(labels: pl.DataFrame, settled: pl.DataFrame, *, where: str) -> pl.DataFrame:
    both = settled.join(labels, on="image_id", how="semi")["image_id"].unique().sort()
    if len(both):
        raise TableError(
            f"{where}: {len(both)} images are settled and were asked about too: {shown(both)}; expected one or the "
            "other. Is the table of another round?"
        )
    return pl.concat([labels, settled], how="diagonal_relaxed")


def _describe(found: Aggregate, labels: pl.DataFrame) -> list[str]:
    n_images = labels["image_id"].n_unique()
    sentences = [
        f"{labels.height} labels accepted for {n_images} of {len(found.images)} images, by {found.method} on "
        f"{int(found.n_answers.sum())} answers of {len(found.workers)} workers."
    ]
    if found.n_iterations:
        state = "converged" if found.converged else "stopped before it stood still"
        sentences.append(
            f"The fit {state} after {found.n_iterations} iterations, log-likelihood {found.log_likelihood[-1]:.6g}."
        )
    return sentences

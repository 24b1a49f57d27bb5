"""What ``graticule annotate`` does between reading its inputs and printing where the result went: questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path

import polars as pl

from graticule.annotation.aggregation.selection_frequency import SelectionFrequency
from graticule.annotation.answers import code_answers
from graticule.annotation.candidates import find_candidates
from graticule.annotation.controls import CONTROLS, check_controls
from graticule.annotation.distance import Distance, load_distance
from graticule.annotation.exchange.files import read_checked
from graticule.annotation.exchange.pickles import refuse_pickle
from graticule.annotation.glossary import GLOSSARY, Glossary, add_glosses, make_glossary
from graticule.annotation.prune import PruneConfig, prune_candidates
from graticule.annotation.tasks import KINDS
from graticule.annotation.tasks.task import TaskConfig, Tasks
from graticule.cli.annotate_files import beside
from graticule.data.readers.images import read_images
from graticule.data.readers.predictions import read_predictions
from graticule.data.readers.rows import read_rows
from graticule.data.store import describe_run, write_table
from graticule.data.tables import ANSWERS, CANDIDATES, LABELS, REJECTS, TASKS
from graticule.errors import ConfigError, FileError, MissingExtraError, shown, unknown_choice
from graticule.progress import track

AUTO = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidatesRequest:
    """What was typed after ``annotate candidates``."""

    source: Path
    predictions: Sequence[str]
    top: int
    selections: Path | None
    distance: str
    glossary: Path | None
    prune: PruneConfig
    output: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class TasksRequest:
    """What was typed after ``annotate tasks``."""

    source: Path
    kind: str
    controls: Path | None
    glossary: Path | None
    distance: str
    config: TaskConfig
    seed: int
    output: Path


def make_candidates(request: CandidatesRequest) -> list[str]:
    """Write candidates, pruned where there are selections, and return what to print."""
    if not request.predictions and request.selections is None:
        raise ConfigError(
            "nothing to find candidates with: give --predictions (one file a model) to propose labels, or --selections "
            "(CONTAINS answers) to prune a table of candidates."
        )
    found = _propose(request) if request.predictions else read_checked(request.source, CANDIDATES)
    sentences = [_count(found, "candidates")]
    config = {"top": request.top, "predictions": [str(path) for path in request.predictions]}
    inputs = {path.name: path for path in [request.source, *map(Path, request.predictions)]}
    if request.selections is not None:
        glossary = read_glossary(request.glossary)
        distance = load_distance(request.distance, glossary=glossary)
        pruned = prune_candidates(found, _frequencies(request.selections), distance=distance, config=request.prune)
        write_table(pruned.rejects, beside(request.output, "rejects"), REJECTS)
        sentences.append(_count(pruned.kept, "are worth choosing among"))
        if pruned.n_unasked:
            sentences.append(f"{pruned.n_unasked} candidates were never asked about; they count as selected by nobody.")
        found = pruned.kept
        config |= asdict(request.prune) | {"distance": request.distance}
        inputs[request.selections.name] = request.selections
    provenance = describe_run("annotate candidates", config=config, inputs=inputs)
    write_table(found, request.output, CANDIDATES, provenance=provenance)
    return [*sentences, f"Candidates: {request.output}"]


def make_tasks(request: TasksRequest) -> list[str]:
    """Write tasks with their controls and what is not asked, and return what to print."""
    if request.kind not in KINDS:
        raise unknown_choice("kind", request.kind, KINDS, where="--kind")
    candidates = read_checked(request.source, CANDIDATES)
    labels = candidates["label"].unique().sort().to_list()
    glossary, remarks = _describe_labels(read_glossary(request.glossary), labels)
    controls = None if request.controls is None else _read_controls(request.controls)
    module, _, attribute = KINDS[request.kind].partition(":")
    built: Tasks = getattr(import_module(module), attribute)(
        candidates,
        controls=controls,
        glossary=glossary,
        distance=_find_distance(request.distance, glossary=glossary, labels=labels),
        config=request.config,
        seed=request.seed,
    )
    inputs = {path.name: path for path in (request.source, request.controls, request.glossary) if path is not None}
    config = asdict(request.config) | {"kind": request.kind, "distance": request.distance}
    provenance = describe_run("annotate tasks", config=config, inputs=inputs, seed=request.seed)
    write_table(built.tasks, request.output, TASKS, provenance=provenance, info={"kind": request.kind})
    write_table(built.skipped, beside(request.output, "skipped"), REJECTS)
    if not built.settled.is_empty():
        write_table(built.settled, beside(request.output, "settled"), LABELS)
    sentences = [*_describe_tasks(built, request), *remarks]
    if not built.controls.is_empty():
        place = write_table(built.controls, beside(request.output, "controls"), LABELS)
        presumed = " (presumed from what models and the data set agree on)" if request.controls is None else ""
        sentences.append(f"Controls{presumed}: {place}")
    return [*sentences, f"Tasks: {request.output}"]


def read_glossary(path: Path | None) -> Glossary:
    """Return the glossary in a table, or an empty one."""
    return Glossary() if path is None else make_glossary(read_checked(path, GLOSSARY), where=str(path))


def _propose(request: CandidatesRequest) -> pl.DataFrame:
    images = read_images(request.source)
    paths = track(request.predictions, total=len(request.predictions), label="Predictions", unit="model")
    return find_candidates(images, [read_predictions(path) for path in paths], top=request.top)


def _count(candidates: pl.DataFrame, what: str) -> str:
    n_images = candidates["image_id"].n_unique()
    return f"{candidates.height} {what} for {n_images} images, {candidates.height / n_images:.1f} an image."


def _frequencies(path: Path) -> pl.DataFrame:
    """Return selection frequencies from answers, or from a table that holds them already."""
    refuse_pickle(path)
    table = read_rows(path)
    if "selection_frequency" in table.columns:
        return read_checked(path, LABELS)
    answers = code_answers(read_checked(path, ANSWERS), repeats="keep", where=str(path))
    return SelectionFrequency().aggregate(answers).to_labels(min_probability=0.0)


def _read_controls(path: Path) -> pl.DataFrame:
    return check_controls(read_checked(path, CONTROLS), where=str(path))


def _find_distance(name: str, *, glossary: Glossary, labels: Sequence[str]) -> Distance:
    if name != AUTO:
        return load_distance(name, glossary=glossary)
    known = all(glossary.find_wordnet_id(label) for label in labels)
    return load_distance("wordnet" if known else "none", glossary=glossary)


def _describe_labels(glossary: Glossary, labels: Sequence[str]) -> tuple[Glossary, list[str]]:
    """Return the glossary with WordNet's glosses where it is installed, and what to say of labels without any."""
    try:
        full = add_glosses(glossary, labels)
    except (MissingExtraError, FileError) as error:
        return glossary, [f"No glosses from WordNet: {error}"]
    bare = [label for label in labels if label not in full.descriptions and label not in full.names]
    if not bare:
        return full, []
    return full, [f"{len(bare)} labels have no description: {shown(bare)}. Name a table of them with --glossary."]


def _describe_tasks(built: Tasks, request: TasksRequest) -> list[str]:
    n_tasks = built.tasks["task_id"].n_unique()
    sentences = [
        f"{n_tasks} {request.kind} tasks about {built.tasks['image_id'].n_unique()} images, each for "
        f"{request.config.n_workers} workers: {n_tasks * request.config.n_workers} assignments."
    ]
    for reason, count in built.skipped.group_by("reason").len().sort("reason").iter_rows():
        sentences.append(f"{count} not asked: {reason}.")
    if built.n_one_sided:
        sentences.append(
            f"{built.n_one_sided} grids have no positive or no negative control: one careless answer passes them. "
            "Give controls of both kinds with --controls."
        )
    return sentences

"""Features of labelled source images and of target images → predictions of the target, and how good they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from graticule.adaptation.adapt_config import TARGET_SUPERVISED, AdaptConfig, make_options
from graticule.adaptation.adapt_metrics import Scored, measure_run
from graticule.adaptation.algorithm import Algorithm
from graticule.adaptation.algorithms import ALGORITHMS
from graticule.adaptation.cross_fit import Part, split_work
from graticule.adaptation.inference import Inferred, join_inferred, pick_inferred
from graticule.adaptation.memory import keep_freed_memory
from graticule.adaptation.problem import Picked, Problem, Queries, make_problem
from graticule.adaptation.selection import ORACLE
from graticule.adaptation.trainer import Training
from graticule.adaptation.work import Work


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AdaptResult:
    """What an adaptation predicts, and what is known of it.

    Parameters
    ----------
    predictions
        A predictions table of all target and test images: image_id, scores (probabilities), is_test, and where
        labels can be unknown unknown_score and is_unknown.
    metrics
        A metrics table; its accuracies are of the test images.
    info
        What the file of predictions says of itself.
    history
        Losses on the way, a dict a row.
    notes
        What the person who asked should know, a sentence each.
    """

    predictions: pl.DataFrame
    metrics: pl.DataFrame
    info: Mapping[str, Any]
    history: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...]


def adapt_features(
    features: pl.DataFrame,
    images: pl.DataFrame,
    *,
    queries: Queries,
    config: AdaptConfig | None = None,
    seed: int = 0,
    checkpoints: Path | None = None,
    features_info: Mapping[str, Any] | None = None,
    shown: bool = False,
) -> AdaptResult:
    """Return what an algorithm that is adapted to the target predicts there.

    Parameters
    ----------
    features
        A features table.
    images
        An images table; labels of target images are used for the metrics alone.
    queries
        Which images are source, target, test and validation.
    config
        Algorithm and settings.
    seed
        Decides initial weights, the order of images and dropout.
    checkpoints
        A folder for checkpoints; a run that was killed goes on from the latest one there.
    features_info
        What the file of features says of itself; goes into the predictions' info.
    shown
        Whether to draw a progress bar.

    Raises
    ------
    ConfigError, TableError
        As of `graticule.adaptation.problem.make_problem`; a setting has no meaning, a batch is larger than a set, or
        the checkpoints are of another run.
    TrainingError
        A loss or a weight is no longer finite.
    """
    settings = config or AdaptConfig()
    keep_freed_memory()
    problem = make_problem(features, images, queries=queries, allow_unknown=settings.is_universal, scale=settings.scale)
    return adapt_problem(
        problem,
        queries=queries,
        config=settings,
        seed=seed,
        checkpoints=checkpoints,
        inputs_info={"features": dict(features_info or {})},
        shown=shown,
    )


def adapt_problem(
    problem: Problem,
    *,
    queries: Queries,
    config: AdaptConfig,
    seed: int,
    checkpoints: Path | None,
    inputs_info: Mapping[str, Any],
    shown: bool,
) -> AdaptResult:
    """Return what an algorithm that is adapted to a problem's target predicts there.

    Parameters
    ----------
    problem
        Features or photos, and which of them are what.
    inputs_info
        What is known of them; goes into the predictions' info.
    queries, config, seed, checkpoints, shown
        As of `adapt_features`.

    Raises
    ------
    ConfigError, TrainingError
        As of `adapt_features`.
    """
    settings = config
    work = Work(problem=problem, settings=settings, seed=seed, checkpoints=checkpoints, shown=shown)
    parts = split_work(problem, settings, seed=seed)
    trainings: list[tuple[Part, Training]] = [(part, work.train(part)) for part in parts]
    found = join_inferred([problem.inputs.infer(training.algorithm, part.positions) for part, training in trainings])
    positions = np.concatenate([part.positions for part, _ in trainings])
    by_position = {int(position): row for row, position in enumerate(positions)}
    algorithm = trainings[0][1].algorithm
    threshold = work.find_threshold(algorithm, found, by_position) if settings.is_universal else None
    name = str(settings.algorithm)
    rows = [by_position[int(position)] for position in problem.target.positions if int(position) in by_position]
    has_home = len(parts) == 1 and name != TARGET_SUPERVISED
    metrics = measure_run(
        _score(found, problem.test, by_position),
        labels=problem.labels,
        home=_score_home(algorithm, problem) if has_home else None,
        threshold=threshold,
        validators=work.validate(algorithm, target=pick_inferred(found, rows)) if has_home else {},
        model=name,
    )
    return AdaptResult(
        predictions=_tabulate(found, problem, by_position, threshold=threshold),
        metrics=metrics,
        info={
            "model": f"{name}, {queries.source} → {queries.target}",
            "labels": list(problem.labels),
            "kind": "probabilities",
            **inputs_info,
            "adaptation": {
                **asdict(settings),
                "resolved_options": asdict(make_options(name, settings.options)),
                "resolved_trainer": asdict(settings.trainer.fill(ALGORITHMS[name].recipe)),
                "seed": seed,
                "n_source": len(problem.source.positions),
                "n_target": len(problem.target.positions),
                "unknown_threshold": threshold,
                "reported_step": [training.reported_step for _, training in trainings],
                "n_folds": len(parts),
            },
        },
        history=trainings[0][1].history,
        notes=problem.notes + _note(settings),
    )


def _score(found: Inferred, picked: Picked, by_position: Mapping[int, int]) -> Scored:
    rows = np.array([by_position[int(position)] for position in picked.positions])
    return Scored(
        logits=found.logits[rows],
        codes=picked.codes,
        unknown_scores=found.unknown_scores[rows],
        members={name: logits[rows] for name, logits in found.members.items()},
    )


def _score_home(algorithm: Algorithm, problem: Problem) -> Scored | None:
    home = problem.validation
    if home is None:
        return None
    found = problem.inputs.infer(algorithm, home.positions)
    return Scored(logits=found.logits, codes=home.codes, unknown_scores=found.unknown_scores, members={})


def _tabulate(
    found: Inferred, problem: Problem, by_position: Mapping[int, int], *, threshold: float | None
) -> pl.DataFrame:
    tests = set(problem.test.image_ids)
    ids = {**dict(zip(problem.target.image_ids, problem.target.positions, strict=True))}
    ids |= dict(zip(problem.test.image_ids, problem.test.positions, strict=True))
    names = sorted(ids)
    rows = np.array([by_position[int(ids[name])] for name in names])
    logits = found.logits[rows].astype(np.float64)
    exp = np.exp(logits - logits.max(axis=1, keepdims=True))
    scores = (exp / exp.sum(axis=1, keepdims=True)).astype(np.float32)
    columns: dict[str, Any] = {
        "image_id": names,
        "scores": pl.Series(scores, dtype=pl.Array(pl.Float32, len(problem.labels))),
        "is_test": [name in tests for name in names],
    }
    if threshold is not None:
        columns["unknown_score"] = found.unknown_scores[rows]
        columns["is_unknown"] = found.unknown_scores[rows] > threshold
    return pl.DataFrame(columns)


def _note(settings: AdaptConfig) -> tuple[str, ...]:
    notes: list[str] = []
    if settings.select == ORACLE:
        notes.append("The checkpoint was picked by the test images' labels: an oracle, not a result.")
    if settings.algorithm == TARGET_SUPERVISED:
        notes.append("The target's labels were trained on: an upper reference, not an adaptation.")
    return tuple(notes)

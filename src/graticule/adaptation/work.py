"""The runs that an adaptation consists of: how each is trained, identified and scored."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from graticule.adaptation.adapt_config import AdaptConfig, make_options
from graticule.adaptation.algorithm import Algorithm, Shape
from graticule.adaptation.algorithms import ALGORITHMS
from graticule.adaptation.checkpoint import CheckpointFolder
from graticule.adaptation.cross_fit import Part
from graticule.adaptation.inference import Inferred
from graticule.adaptation.inputs import Rows
from graticule.adaptation.problem import Problem
from graticule.adaptation.run_logs import RUN_LOGS, RunLog
from graticule.adaptation.selection import LAST, ORACLE
from graticule.adaptation.trainer import Inspect, Training, train
from graticule.adaptation.unknown_threshold import split_scores
from graticule.adaptation.validators import VALIDATORS
from graticule.adaptation.validators.seen import Seen


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Work:
    """Trains, scores and identifies the runs of one problem.

    Parameters
    ----------
    problem
        Features, and which of them are what.
    settings
        Algorithm and settings.
    seed
        Decides everything random.
    checkpoints
        A folder for checkpoints; None keeps none.
    shown
        Whether to draw a progress bar.
    """

    problem: Problem
    settings: AdaptConfig
    seed: int
    checkpoints: Path | None
    shown: bool

    def train(self, part: Part) -> Training:
        """Return the trained algorithm of a part."""
        settings, problem = self.settings, self.problem
        kind = ALGORITHMS[settings.algorithm]
        rows = Rows(
            source=part.source_positions,
            source_labels=part.source_targets,
            target=problem.target.positions,
            is_source_balanced=kind.recipe.is_source_balanced,
        )
        batches = problem.inputs.make_batches(rows, batch_size=settings.trainer.batch_size, seed=self.seed)
        shape = Shape(
            n_features=problem.inputs.n_features,
            n_labels=len(problem.labels),
            n_source=len(rows.source),
            n_target=len(rows.target),
        )
        options = make_options(settings.algorithm, settings.options)
        folder = None
        if self.checkpoints is not None:
            folder = CheckpointFolder(folder=self.checkpoints / part.name, identity=self.identify(part))
        return train(
            lambda: kind(options, shape, backbone=problem.inputs.make_backbone()),
            batches,
            config=settings.trainer,
            seed=self.seed,
            checkpoints=folder,
            inspect=self.make_inspector(),
            select=None if settings.select == LAST else settings.select,
            label=f"{settings.algorithm} {part.name}".strip(),
            shown=self.shown,
            open_logs=lambda done: self._open_logs(part, done),
        )

    def _open_logs(self, part: Part, done: int) -> list[RunLog]:
        names = self.settings.logs
        folder = (self.checkpoints.parent if self.checkpoints else Path()) / "logs" / part.name
        label = f"{self.settings.algorithm} seed {self.seed} {part.name}".strip()
        return [RUN_LOGS[name](folder, label=label, done=done) for name in names]

    def identify(self, part: Part) -> dict[str, str]:
        """Return what a run is, so that a checkpoint of another is refused."""
        digest = hashlib.sha256(self.problem.inputs.hash().encode())
        for array in (part.source_positions, part.source_targets, self.problem.target.positions):
            digest.update(np.ascontiguousarray(array).tobytes())
        digest.update("\n".join(self.problem.labels).encode())
        recipe = ALGORITHMS[self.settings.algorithm].recipe
        options = make_options(self.settings.algorithm, self.settings.options)
        trainer = {
            name: value
            for name, value in asdict(self.settings.trainer.fill(recipe)).items()
            if name != "device" and (name != "checkpoint_every" or self.settings.select != LAST)
        }
        return {
            "algorithm": self.settings.algorithm,
            "options": json.dumps(asdict(options), sort_keys=True),
            "trainer": json.dumps(trainer, sort_keys=True),
            "select": self.settings.select,
            "seed": str(self.seed),
            "data": digest.hexdigest(),
        }

    def make_inspector(self) -> Inspect | None:
        """Return what scores a checkpoint; None where the last is reported anyway."""
        name = self.settings.select
        if name == LAST:
            return None
        if name == ORACLE:
            return lambda algorithm: {ORACLE: self.find_oracle(algorithm)}
        return lambda algorithm: {name: VALIDATORS[name](self.look(algorithm))}

    def find_oracle(self, algorithm: Algorithm) -> float:
        """Return the accuracy on the test images: only ever under the name oracle."""
        test = self.problem.test
        known = test.codes >= 0
        found = self.problem.inputs.infer(algorithm, test.positions)
        return float((found.logits.argmax(axis=1) == test.codes)[known].mean()) if known.any() else float("nan")

    def look(self, algorithm: Algorithm, *, target: Inferred | None = None) -> Seen:
        """Return what validators may see; ``target`` is what was inferred of the target's images already."""
        problem = self.problem
        target = target or problem.inputs.infer(algorithm, problem.target.positions)
        training = problem.inputs.infer(algorithm, problem.source.positions)
        held, codes = training, problem.source.targets
        if problem.validation is not None:
            keep = problem.validation.codes >= 0
            held = problem.inputs.infer(algorithm, problem.validation.positions[keep])
            codes = problem.validation.codes[keep]
        return Seen(
            source_features=held.features,
            source_logits=held.logits,
            source_labels=codes,
            training_features=training.features,
            target_features=target.features,
            target_logits=target.logits,
        )

    def validate(self, algorithm: Algorithm, *, target: Inferred) -> dict[str, float]:
        """Return all validators' scores."""
        seen = self.look(algorithm, target=target)
        return {name: validator(seen) for name, validator in VALIDATORS.items()}

    def find_threshold(self, algorithm: Algorithm, found: Inferred, by_position: Mapping[int, int]) -> float:
        """Return from which unknown score on an image is unknown."""
        if self.settings.threshold == "published":
            return algorithm.unknown_threshold
        rows = [by_position[int(position)] for position in self.problem.target.positions]
        return split_scores(found.unknown_scores[rows])

"""What answers come to: a probability for each image and label, a skill for each worker, and how the fit went."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl
from jaxtyping import Bool, Float, Int32

from graticule.annotation.aggregation.fit import Fit
from graticule.annotation.aggregation.votes import YES, Votes
from graticule.annotation.aggregation.winners import TIE, find_winners
from graticule.annotation.answers import Answers
from graticule.errors import ConfigError

MIN_PROBABILITY = 0.5
"""A label is accepted when it is at least as likely right as not."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Aggregate:
    """``p`` labels of images, in the order of images and labels; images without an answer have none.

    Parameters
    ----------
    method
        Registry name of the method.
    question
        What was asked, one of `graticule.annotation.answers.QUESTIONS`.
    images, labels, workers
        Names.
    image, label
        Indices into the names, shape ``(p,)``.
    probability
        Probability that the label is right (CONTAINS) or the right one (otherwise), shape ``(p,)``.
    selection_frequency
        Share of the workers who were asked that selected the label, shape ``(p,)``.
    n_workers
        Workers who were asked, shape ``(p,)``.
    is_main
        Whether the label is its image's winner, shape ``(p,)``: the likeliest label; equally likely ones are told apart
        by the order of the labels.
    object
        Number of the object that the label names, shape ``(p,)``, -1 where it names none; None where objects are not
        asked for.
    is_accepted
        Which labels people accept, shape ``(p,)``, where the method decides that itself; else None.
    skill
        What the method knows of each worker, shape ``(w,)``; NaN for those without an answer.
    n_answers
        Answers of each worker, shape ``(w,)``.
    log_likelihood
        Its value (or that of the bound that the method raises) after each iteration, shape ``(t,)``; empty for methods
        that do not iterate.
    converged
        Whether the fit ended because it stood still; true for methods that do not iterate.
    """

    method: str
    question: str
    images: pl.Series
    labels: pl.Series
    workers: pl.Series
    image: Int32[np.ndarray, " p"]
    label: Int32[np.ndarray, " p"]
    probability: Float[np.ndarray, " p"]
    selection_frequency: Float[np.ndarray, " p"]
    n_workers: Int32[np.ndarray, " p"]
    is_main: Bool[np.ndarray, " p"]
    skill: Float[np.ndarray, " w"]
    n_answers: Int32[np.ndarray, " w"]
    object: Int32[np.ndarray, " p"] | None = None
    is_accepted: Bool[np.ndarray, " p"] | None = None
    log_likelihood: Float[np.ndarray, " t"] = field(default_factory=lambda: np.zeros(0))
    converged: bool = True

    @property
    def n_iterations(self) -> int:
        """Iterations of the fit."""
        return len(self.log_likelihood)

    def to_labels(self, *, min_probability: float | None = None) -> pl.DataFrame:
        """Return a `LABELS` table, a row for each image and accepted label.

        Parameters
        ----------
        min_probability
            Accepted are labels of at least this probability, and the winner where workers chose one label an image;
            None accepts what the method accepts, else what is at least as likely as not; 0 keeps every label that
            somebody gave.

        Raises
        ------
        ConfigError
            The probability is not between 0 and 1.
        """
        accepted = self._accept(min_probability)
        columns = {
            "image_id": self.images.gather(self.image[accepted].astype(np.int64)),
            "label": self.labels.gather(self.label[accepted].astype(np.int64)),
            "probability": np.clip(self.probability[accepted], 0.0, 1.0),
            "selection_frequency": self.selection_frequency[accepted],
        }
        if self.object is not None:
            number = self.object[accepted].astype(np.int64)
            columns["object"] = pl.Series(number).set(pl.Series(number < 0), None)
        return pl.DataFrame(
            columns | {"is_main": self.is_main[accepted], "n_workers": self.n_workers[accepted].astype(np.int64)}
        )

    def to_workers(self) -> pl.DataFrame:
        """Return worker_id, skill and n_answers, a row a worker."""
        return pl.DataFrame(
            {"worker_id": self.workers, "skill": self.skill, "n_answers": self.n_answers.astype(np.int64)}
        )

    def _accept(self, min_probability: float | None) -> Bool[np.ndarray, " p"]:
        if min_probability is None:
            if self.is_accepted is not None:
                return self.is_accepted
            min_probability = MIN_PROBABILITY
        if not 0 <= min_probability <= 1:
            raise ConfigError(f"min_probability is {min_probability!r}; expected 0 to 1.")
        likely = self.probability >= min_probability - TIE
        return likely if self.question == "contains" else likely | self.is_main


def make_aggregate(answers: Answers, votes: Votes, fit: Fit, *, method: str) -> Aggregate:
    """Return what a fit says about images and labels."""
    rows = _list_yes(votes, fit) if votes.is_binary else _list_choices(votes, fit)
    is_main = find_winners(rows["image"], rows["probability"])
    if votes.is_binary:
        is_main &= rows["probability"] >= MIN_PROBABILITY - TIE
    return Aggregate(
        method=method,
        question=answers.question,
        images=answers.images,
        labels=answers.labels,
        workers=answers.workers,
        **rows,
        is_main=is_main,
        skill=fit.skill,
        n_answers=np.bincount(votes.worker, minlength=votes.n_workers).astype(np.int32),
        log_likelihood=fit.trace,
        converged=fit.converged,
    )


def _list_choices(votes: Votes, fit: Fit) -> dict[str, np.ndarray]:
    k = np.int64(votes.n_choices)
    listed = np.searchsorted(fit.item * k + fit.choice, votes.item * k + votes.choice)
    votes_for = np.bincount(listed, minlength=len(fit.item))
    asked = np.bincount(votes.item, minlength=votes.n_items)
    return {
        "image": votes.image[fit.item],
        "label": votes.choice_label[fit.choice],
        "probability": fit.probability,
        "selection_frequency": votes_for / asked[fit.item],
        "n_workers": asked[fit.item].astype(np.int32),
    }


def _list_yes(votes: Votes, fit: Fit) -> dict[str, np.ndarray]:
    probability = np.ones(votes.n_items)
    is_yes = fit.choice == YES
    probability[fit.item[~is_yes]] = 1.0 - fit.probability[~is_yes]
    probability[fit.item[is_yes]] = fit.probability[is_yes]
    asked = np.bincount(votes.item, minlength=votes.n_items)
    said_yes = np.bincount(votes.item[votes.choice == YES], minlength=votes.n_items)
    return {
        "image": votes.image,
        "label": votes.label,
        "probability": probability,
        "selection_frequency": said_yes / asked,
        "n_workers": asked.astype(np.int32),
    }

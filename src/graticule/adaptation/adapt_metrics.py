"""The numbers of a run: accuracies with intervals, what was lost on the way, unknown labels, and validators."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from jaxtyping import Float, Int

from graticule.adaptation.problem import NO_LABEL, UNKNOWN
from graticule.adaptation.shares import Share, estimate_share, subtract
from graticule.adaptation.universal_scores import score_universal
from graticule.data.tables import METRICS

WILSON = "share, Wilson's 95 % interval"
NEWCOMBE = "difference of shares, Newcombe's 95 % interval"
N_TOP = 5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scored:
    """Predictions of images with labels.

    Parameters
    ----------
    logits
        A score a label, shape ``(n, k)``.
    codes
        Indices of the labels, or `NO_LABEL` or `UNKNOWN`, shape ``(n,)``.
    unknown_scores
        How likely a label is unknown, shape ``(n,)``.
    members
        Logits of single heads.
    """

    logits: Float[np.ndarray, "n k"]
    codes: Int[np.ndarray, " n"]
    unknown_scores: Float[np.ndarray, " n"]
    members: Mapping[str, Float[np.ndarray, "n k"]]


def measure_run(
    test: Scored,
    *,
    labels: tuple[str, ...],
    home: Scored | None,
    threshold: float | None,
    validators: Mapping[str, float],
    model: str,
) -> pl.DataFrame:
    """Return the metrics table of a run.

    Parameters
    ----------
    test
        Predictions of the test images.
    labels
        The source's labels.
    home
        Predictions of held-out source images; None if there are none.
    threshold
        Above which an image is unknown; None where no label can be.
    validators
        Scores of the validators.
    model
        Name of the model, as the table shows it.

    Notes
    -----
    Images without a label do not count. Accuracy is of images with a shared label; where labels can be unknown, those
    of the closed and the open set stand beside it.
    """
    table = _Table(model=model)
    known = test.codes >= 0
    hits = test.logits.argmax(axis=1) == test.codes
    table.add("accuracy", estimate_share(int(hits[known].sum()), int(known.sum())), method=WILSON)
    if len(labels) > N_TOP:
        top = np.argsort(-test.logits, axis=1, kind="stable")[:, :N_TOP]
        found = (top == test.codes[:, None]).any(axis=1)
        table.add("top5_accuracy", estimate_share(int(found[known].sum()), int(known.sum())), method=WILSON)
    for name, logits in test.members.items():
        right = int((logits.argmax(axis=1) == test.codes)[known].sum())
        table.add("accuracy", estimate_share(right, int(known.sum())), group=f"head {name}", method=WILSON)
    _add_labels(table, test, home, labels)
    if threshold is not None:
        _add_universal(table, test, hits, threshold)
    for name, value in validators.items():
        number = Share(value=value, low=math.nan, high=math.nan, n=len(test.codes))
        table.add("validator", number, group=name, method="no target label is used")
    return table.finish()


def _add_labels(table: _Table, test: Scored, home: Scored | None, labels: tuple[str, ...]) -> None:
    """Add accuracies a label and, where there are images at home, the drop from there."""
    there = _share_by_label(test, len(labels))
    for label, share in zip(labels, there, strict=True):
        table.add("accuracy", share, label=label, method=WILSON)
    if home is None:
        return
    at_home = _share_by_label(home, len(labels))
    known = test.codes >= 0
    whole = estimate_share(int((test.logits.argmax(axis=1) == test.codes)[known].sum()), int(known.sum()))
    known_home = home.codes >= 0
    whole_home = estimate_share(
        int((home.logits.argmax(axis=1) == home.codes)[known_home].sum()), int(known_home.sum())
    )
    table.add("home_accuracy", whole_home, method=WILSON)
    table.add("drop", subtract(whole_home, whole), method=NEWCOMBE)
    for label, first, second in zip(labels, at_home, there, strict=True):
        table.add("home_accuracy", first, label=label, method=WILSON)
        table.add("drop", subtract(first, second), label=label, method=NEWCOMBE)


def _share_by_label(scored: Scored, n_labels: int) -> list[Share]:
    hits = scored.logits.argmax(axis=1) == scored.codes
    return [estimate_share(int(hits[scored.codes == k].sum()), int((scored.codes == k).sum())) for k in range(n_labels)]


def _add_universal(table: _Table, test: Scored, hits: np.ndarray, threshold: float) -> None:
    counted = test.codes != NO_LABEL
    scores = score_universal(
        hits[counted], test.codes[counted] == UNKNOWN, test.unknown_scores[counted], threshold=threshold
    )
    at = f"unknown above {threshold:.4g}"
    table.add("closed_set_accuracy", scores.closed, method=f"{WILSON}; {at}")
    table.add("closed_set_accuracy", scores.closed_without_rejection, group="without rejection", method=WILSON)
    table.add("open_set_accuracy", scores.open, method=f"{WILSON}; {at}")
    table.add("h_score", scores.h_score, method=f"harmonic mean, interval of beta draws; {at}")
    table.add("auroc", scores.auroc, method="Hanley and McNeil's interval")
    table.add("oscr", scores.oscr, method="area under the curve")


class _Table:
    def __init__(self, *, model: str) -> None:
        self.model = model
        self.rows: list[dict[str, object]] = []

    def add(
        self, metric: str, share: Share, *, label: str | None = None, group: str | None = None, method: str
    ) -> None:
        self.rows.append(
            {
                "metric": metric,
                "model": self.model,
                "region": None,
                "label": label,
                "group": group,
                "value": share.value,
                "low": share.low,
                "high": share.high,
                "n": share.n,
                "method": method,
            }
        )

    def finish(self) -> pl.DataFrame:
        schema = {name: column.dtype for name, column in METRICS.columns.items()}
        return pl.DataFrame(self.rows, schema=schema)

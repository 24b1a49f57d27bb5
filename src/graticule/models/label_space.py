"""A model with a fixed head, scored on other labels: each label gets the head's classes that are kinds of it.

An ImageNet classifier knows a minibus and a school bus, a data set asks for a bus. A labels file
(`graticule.models.label_file`) says which WordNet synsets a label stands for; the label then gets every class of the
head whose synset is one of them or descends from one, and a class that two labels claim goes to the nearer one.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Float32, Int

from graticule.errors import unknown_choice
from graticule.models.head import Head
from graticule.models.label_claims import Claims, claim_classes
from graticule.models.label_file import LabelFile, read_label_file
from graticule.models.model import SCORES, Model

logger = logging.getLogger(__name__)

AGGREGATIONS = {"max": np.maximum, "sum": np.logaddexp}
"""How a label's classes make its score; on logarithms of probabilities, so a sum is a sum of probabilities."""
OTHERS = {
    "compete": "classes of no label stay in under their own names, so an image may be taken for one of them",
    "restrict": "classes of no label are left out, and the labels' probabilities add up to one",
}
"""What becomes of the head's other classes → what that means."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSpaceConfig:
    """How a head's classes become labels."""

    aggregation: str = "max"
    """One of `AGGREGATIONS`; with ``max`` and ``compete`` the prediction is right when the head's best class is the
    label's."""
    others: str = "compete"
    """One of `OTHERS`."""
    wordnet: str | None = None
    """Folder or zip with WordNet's ``data.noun``; None looks for it (`graticule.models.wordnet`)."""

    def __post_init__(self) -> None:
        """Refuse unknown choices."""
        if self.aggregation not in AGGREGATIONS:
            raise unknown_choice("aggregation", self.aggregation, AGGREGATIONS)
        if self.others not in OTHERS:
            raise unknown_choice("way with other classes", self.others, OTHERS)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelMapping:
    """How a head's ``c`` classes become ``k`` labels.

    Parameters
    ----------
    labels
        What there are scores of: the mapped labels in the file's order, then, if they compete, the other classes.
    n_mapped
        How many of them are the file's.
    unmapped
        Labels of the file that no class of the head stands for → why.
    classes
        The head's classes that are used, sorted by their label, shape ``(u,)``.
    starts
        Where each label's classes start in ``classes``, shape ``(k,)``.
    aggregation
        One of `AGGREGATIONS`.
    info
        What a file of predictions says of the mapping.
    """

    labels: tuple[str, ...]
    n_mapped: int
    unmapped: Mapping[str, str]
    classes: Int[np.ndarray, " u"]
    starts: Int[np.ndarray, " k"]
    aggregation: str
    info: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def apply(self, scores: Float[np.ndarray, "n c"], *, kind: str) -> Float32[np.ndarray, "n k"]:
        """Return the labels' probabilities, which add up to one.

        Parameters
        ----------
        scores
            The head's scores.
        kind
            ``logits`` or ``probabilities``.

        Notes
        -----
        Logarithms are combined, so that nothing is lost where probabilities are tiny; a row in which every label's
        probability is 0 gives each label the same.
        """
        if kind == "probabilities":
            with np.errstate(divide="ignore"):
                logarithms = np.log(scores[:, self.classes].astype(np.float64))
        else:
            logarithms = scores[:, self.classes].astype(np.float64)
        combined = AGGREGATIONS[self.aggregation].reduceat(logarithms, self.starts, axis=1)
        highest = combined.max(axis=1, keepdims=True)
        powers = np.exp(combined - np.where(np.isfinite(highest), highest, 0))
        powers[~np.isfinite(highest[:, 0])] = 1
        return (powers / powers.sum(axis=1, keepdims=True)).astype(np.float32)


def mapped_head(model: Model, labels: str | Path | LabelFile, *, config: LabelSpaceConfig | None = None) -> Head:
    """Return the head that turns a model's scores into scores of other labels.

    Parameters
    ----------
    model
        A model with a head whose classes have names or WordNet ids.
    labels
        A labels file, or its path.
    config
        How classes are combined, and what becomes of the others.

    Raises
    ------
    ModelError
        The model has no head or its classes are not known, or no label is mapped.
    GraticuleError
        As `map_labels` and `graticule.models.label_file.read_label_file`.
    """
    model.require([SCORES])
    file = labels if isinstance(labels, LabelFile) else read_label_file(labels)
    names = model.labels or tuple(str(index) for index in range(model.n_scores))
    mapping = map_labels(file, names=names, ids=model.label_ids, config=config, model=model.name)
    if mapping.unmapped:
        logger.warning(
            "%s: %d of %d labels have no class in the head of %s and are left out: %s",
            file.where,
            len(mapping.unmapped),
            len(file.rules),
            model.name,
            ", ".join(mapping.unmapped),
        )

    def apply(scores: Float32[np.ndarray, "b c"]) -> Float32[np.ndarray, "b k"]:
        return mapping.apply(scores, kind=model.score_kind)

    return Head(labels=mapping.labels, kind="probabilities", takes=SCORES, apply=apply, info=mapping.info)


def map_labels(
    file: LabelFile,
    *,
    names: tuple[str, ...],
    ids: tuple[str, ...] | None,
    config: LabelSpaceConfig | None = None,
    model: str = "the model",
) -> LabelMapping:
    """Return how a head's classes become the labels of a file.

    Parameters
    ----------
    file
        The labels.
    names
        Names of the head's classes, each once, in the scores' order.
    ids
        Their WordNet ids; None for a head that is not ImageNet's.
    config
        How classes are combined, and what becomes of the others.
    model
        Name of the model, for messages.

    Raises
    ------
    ConfigError
        A class or a synset is not known, or two labels have the same right to a class.
    ModelError
        No label has a class in this head, or synsets are given and the head has no WordNet ids.
    FileError
        WordNet is needed and is not there.
    """
    settings = config or LabelSpaceConfig()
    claims = claim_classes(file, names=names, ids=ids, wordnet=settings.wordnet, model=model)
    mapped = [label for label in file.labels if label in claims.classes]
    groups = [sorted(claims.classes[label]) for label in mapped]
    labels = list(mapped)
    if settings.others == "compete":
        taken = {index for group in groups for index in group}
        others = [index for index in range(len(names)) if index not in taken]
        labels += _name_others(others, names, file.labels)
        groups += [[index] for index in others]
    sizes = np.array([len(group) for group in groups])
    return LabelMapping(
        labels=tuple(labels),
        n_mapped=len(mapped),
        unmapped=claims.unmapped,
        classes=np.array([index for group in groups for index in group], dtype=np.int64),
        starts=np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64),
        aggregation=settings.aggregation,
        info=_describe(file, claims, settings, names=names, mapped=mapped),
    )


def _name_others(others: list[int], names: tuple[str, ...], labels: tuple[str, ...]) -> list[str]:
    """Return names of classes of no label, none of them a label's, whether that is mapped or not."""
    taken = set(labels)
    return [f"{names[index]} (class {index})" if names[index] in taken else names[index] for index in others]


def _describe(
    file: LabelFile, claims: Claims, config: LabelSpaceConfig, *, names: tuple[str, ...], mapped: list[str]
) -> dict[str, Any]:
    return {
        "n_labels_mapped": len(mapped),
        "unmapped_labels": list(claims.unmapped),
        "label_space": {
            "labels_file": Path(file.where).name,
            "labels_file_sha256": file.sha256,
            "aggregation": config.aggregation,
            "others": config.others,
            "classes": {label: [names[index] for index in sorted(claims.classes[label])] for label in mapped},
            "unmapped": dict(claims.unmapped),
            "contested": [
                {"class": names[contest.index], "label": contest.winner, "also_claimed_by": list(contest.losers)}
                for contest in claims.contests
            ],
            "wordnet": claims.wordnet_used,
        },
    }

"""Images × predictions: which images can be scored for each model, and why others cannot.

The audit scores the images that the images table lists. A prediction of an image that it does not list is no error: it
is counted (`Alignment.n_unlisted`) and left aside.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from jaxtyping import Bool, Int, UInt64

from graticule.data.predictions import Predictions
from graticule.errors import ConfigError, TableError, shown
from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.coded_images import NONE, CodedImages, code_images, compose
from graticule.evaluation.image_keys import make_keys
from graticule.evaluation.label_scores import TOP, read_scores
from graticule.evaluation.prediction_rows import find_positions
from graticule.evaluation.scored import Scored

NO_LABEL = "no label"
NO_PREDICTION = "no prediction"
UNKNOWN_LABEL = "label outside the model's labels"
EMPTY_PREDICTION = "the prediction names no label"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Alignment:
    """What can be scored, and what was left out.

    Parameters
    ----------
    images
        The images as codes.
    scored
        One entry a model, in the order given.
    n_unlisted
        For each model, predictions of images that the table does not list.
    dropped
        ``path``, ``reason``, ``image_id`` and ``model`` of each image left out; ``model`` is null where it was left out
        for every model.
    """

    images: CodedImages
    scored: tuple[Scored, ...]
    n_unlisted: tuple[int, ...]
    dropped: pl.DataFrame


def align_predictions(images: pl.DataFrame, predictions: Sequence[Predictions], *, config: AuditConfig) -> Alignment:
    """Return each model's predictions joined to the images by name.

    Parameters
    ----------
    images
        The images table.
    predictions
        One entry a model, with different names.
    config
        ``by``, ``regions``, ``unmapped`` and ``seed`` are used.

    Raises
    ------
    ConfigError
        There is no model, or two have the same name.
    TableError
        The images table cannot be audited, or nothing of a model's predictions can be scored.

    Notes
    -----
    A prediction belongs to the image whose ``image_id`` it names. Where no ``image_id`` matches at all, predictions
    are matched by ``path``. An image is left out for one reason, the first that holds: no label, no region, no
    prediction, a label that the model cannot predict (unless such images are to be scored as wrong), a prediction
    without a label.
    """
    _check_models(predictions)
    spaces = [{compose(name): place for place, name in enumerate(model.labels)} for model in predictions]
    known = None if config.unmapped == "wrong" else {name for space in spaces for name in space}
    coded = code_images(images, by=config.by, regions=config.regions, known_labels=known)
    no_label = coded.label == NONE
    no_region = (coded.region == NONE) & ~no_label
    left_out = [
        _list_dropped(coded, no_label, NO_LABEL, model=None),
        _list_dropped(coded, no_region, f"no {config.by}", model=None),
    ]
    keys = make_keys(coded.table["image_id"], seed=config.seed)
    found: dict[int, Int[np.ndarray, " n"]] = {}
    scored: list[Scored] = []
    n_unlisted: list[int] = []
    for model, space in zip(predictions, spaces, strict=True):
        if id(model.image_ids) not in found:
            found[id(model.image_ids)] = find_positions(coded.table, model)
        positions = found[id(model.image_ids)]
        faults = _find_faults(coded, model, space, positions, keep_unknown=config.unmapped == "wrong")
        missing = {reason: where & ~no_label & ~no_region for reason, where in faults.items()}
        usable = ~(no_label | no_region | np.logical_or.reduce(list(missing.values())))
        if not usable.any():
            raise _nothing_scored(coded, model, {NO_LABEL: no_label, f"no {config.by}": no_region, **missing})
        scored.append(_score(coded, model, space, positions=positions, rows=np.flatnonzero(usable), keys=keys))
        left_out += [_list_dropped(coded, where, reason, model=model.model) for reason, where in missing.items()]
        n_unlisted.append(len(model.image_ids) - int(np.count_nonzero(positions >= 0)))
    return Alignment(images=coded, scored=tuple(scored), n_unlisted=tuple(n_unlisted), dropped=pl.concat(left_out))


def _check_models(predictions: Sequence[Predictions]) -> None:
    if not predictions:
        raise ConfigError(
            "no predictions were given, expected those of one model at least. Name them with --predictions."
        )
    names = [model.model for model in predictions]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ConfigError(
            f"two predictions are of a model called {shown(repeated)}, expected a name of its own for each. Give one "
            "of them another name."
        )


def _find_faults(
    coded: CodedImages,
    model: Predictions,
    space: Mapping[str, int],
    positions: Int[np.ndarray, " n"],
    *,
    keep_unknown: bool,
) -> dict[str, Bool[np.ndarray, " n"]]:
    """Return, for each reason, the images that this model cannot be scored on."""
    no_prediction = positions < 0
    is_known = np.array([name in space for name in coded.labels] + [False], dtype=bool)
    unknown = np.zeros(len(positions), dtype=bool)
    if not keep_unknown:
        unknown = ~is_known[np.where(coded.label >= 0, coded.label, len(coded.labels))] & ~no_prediction
    has_top = model.top[:, 0] >= 0 if model.top.shape[1] else np.zeros(len(model.top), dtype=bool)
    empty = ~np.append(has_top, True)[positions] & ~no_prediction & ~unknown
    return {NO_PREDICTION: no_prediction, UNKNOWN_LABEL: unknown, EMPTY_PREDICTION: empty}


def _score(
    coded: CodedImages,
    model: Predictions,
    space: Mapping[str, int],
    *,
    positions: Int[np.ndarray, " n"],
    rows: Int[np.ndarray, " m"],
    keys: UInt64[np.ndarray, " n"],
) -> Scored:
    columns = np.array([space.get(name, -1) for name in coded.labels], dtype=np.int32)
    label = coded.label[rows]
    own = columns[label]
    at = positions[rows]
    top = model.top[at]
    facts = None
    if model.scores is not None:
        facts = read_scores(model, positions=at, predicted=top[:, 0], label=own)
    is_right_top5 = facts.is_right_top5 if facts is not None else None
    if top.shape[1] >= TOP:
        is_right_top5 = ((top[:, :TOP] == own[:, None]) & (own[:, None] >= 0)).any(axis=1)
    return Scored(
        model=model.model,
        regions=coded.regions,
        labels=coded.labels,
        predicted_labels=model.labels,
        columns=columns,
        rows=rows,
        keys=keys[rows],
        region=coded.region[rows],
        label=label,
        predicted=top[:, 0],
        is_right=top[:, 0] == own,
        is_right_top5=is_right_top5,
        predicted_probability=facts.predicted_probability if facts is not None else None,
        label_probability=facts.label_probability if facts is not None else None,
        scores=facts.scores if facts is not None else None,
    )


def _list_dropped(coded: CodedImages, where: Bool[np.ndarray, " n"], reason: str, *, model: str | None) -> pl.DataFrame:
    chosen = coded.table.filter(pl.Series(where))
    path = pl.col("path").fill_null(pl.col("image_id")) if "path" in chosen.columns else pl.col("image_id")
    return chosen.select(
        path.alias("path"),
        pl.lit(reason).alias("reason"),
        pl.col("image_id").alias("image_id"),
        pl.lit(model, dtype=pl.String).alias("model"),
    )


def _nothing_scored(
    coded: CodedImages, model: Predictions, reasons: Mapping[str, Bool[np.ndarray, " n"]]
) -> TableError:
    counts = ", ".join(f"{reason}: {np.count_nonzero(where):,}" for reason, where in reasons.items() if where.any())
    labels = coded.table["label"].cast(pl.String).drop_nulls().unique().sort().to_list()
    hint = "Fill in what is missing."
    if reasons[UNKNOWN_LABEL].any():
        pairs = ((name, difflib.get_close_matches(name, model.labels, n=1)) for name in labels)
        near = next((f" Does '{name}' mean '{match[0]}'?" for name, match in pairs if match), "")
        hint = (
            f"The images' labels are {shown(labels)}, the model's {shown(model.labels)}; map one to the other in a "
            f"labels file.{near}"
        )
    return TableError(
        f"predictions of {model.model}: none of {coded.table.height:,} images can be scored ({counts}), expected "
        f"images with a label that the model can predict, a region and a prediction. {hint}"
    )

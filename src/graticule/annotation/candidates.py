"""Labels worth asking people about: what each model puts among its best, and the label that the data set gives.

Asking a person to choose among a thousand labels is hopeless. The labels that several models find plausible are few
(about 14 an image with ten models' five best), and the right ones are nearly always among them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from jaxtyping import Int

from graticule.data.predictions import Predictions
from graticule.data.tables import CANDIDATES, IMAGES
from graticule.data.validate import validate_table
from graticule.errors import ConfigError, TableError, shown

PAPER_TOP = 5
"""Labels taken from each model (Tsipras et al. 2020, section 3.1)."""


def find_candidates(images: pl.DataFrame, predictions: Sequence[Predictions], *, top: int = PAPER_TOP) -> pl.DataFrame:
    """Return the candidate labels of each image, with the models that proposed each of them.

    Parameters
    ----------
    images
        The images table; where ``label`` is null or missing, only the models propose.
    predictions
        Predictions of one or many models. An image that a model has no prediction for gets none from it.
    top
        Labels taken from each model; fewer where a model's file knows fewer.

    Returns
    -------
    pl.DataFrame
        A `CANDIDATES` table. Images keep their order; within an image the given label comes first, then the labels
        that more models propose, then the better best rank, then the label's name. The order of ``predictions`` makes
        no difference.

    Raises
    ------
    ConfigError
        ``top`` is below 1, or two predictions have the same model name.
    TableError
        The images break their declaration, or a model shares no image or no label with them.

    References
    ----------
    Tsipras, Santurkar, Engstrom, Ilyas and Madry 2020, section 3.1.

    Examples
    --------
    >>> images = pl.DataFrame({"image_id": ["a"], "label": ["cat"]})
    >>> model = Predictions(model="m", image_ids=np.array(["a"], dtype=object), labels=("cat", "dog", "fox"),
    ...                     kind="labels", top=np.array([[2, 0]]), scores=None, info={})
    >>> find_candidates(images, [model]).select("label", "is_given", "ranks").rows()
    [('cat', True, [2]), ('fox', False, [1])]
    """
    checked = _check(images, predictions, top=top)
    named = sorted(predictions, key=lambda model: model.model)
    vocabulary = _vocabulary(checked, named)
    votes = [_given_votes(checked, vocabulary)]
    votes += [
        _model_votes(checked, model, vocabulary=vocabulary, top=top, number=number)
        for number, model in enumerate(named)
    ]
    names = pl.Series([model.model for model in named], dtype=pl.String)
    codes = _count(pl.concat(votes))
    return (
        codes.with_columns(
            checked["image_id"].gather(codes["image"]).alias("image_id"),
            vocabulary["label"].gather(codes["code"]).alias("label"),
            pl.col("models").list.eval(pl.element().replace_strict(dict(enumerate(names)), return_dtype=pl.String)),
        )
        .sort(
            "image",
            "is_given",
            "n_models",
            "best_rank",
            "label",
            descending=[False, True, True, False, False],
            nulls_last=True,
        )
        .select([name for name in CANDIDATES.columns if name in (*codes.columns, "image_id", "label")])
    )


def _check(images: pl.DataFrame, predictions: Sequence[Predictions], *, top: int) -> pl.DataFrame:
    if top < 1:
        raise ConfigError(f"top is {top}, expected at least 1 label from each model.")
    checked = validate_table(images, IMAGES, where="images")
    if checked.is_empty():
        raise TableError("images: the table is empty; expected at least one image to find candidates for.")
    if "label" not in checked.columns:
        checked = checked.with_columns(pl.lit(None, dtype=pl.String).alias("label"))
    models = [model.model for model in predictions]
    repeated = sorted({name for name in models if models.count(name) > 1})
    if repeated:
        raise ConfigError(
            f"predictions: several files are of a model named {shown(repeated)}; expected one file a model. "
            "Leave out the repeated file, or give the models names of their own."
        )
    given = set(checked["label"].drop_nulls())
    image_ids = set(checked["image_id"])
    for model in predictions:
        if not image_ids.intersection(model.image_ids):
            raise TableError(
                f"predictions of '{model.model}': none of their images is in the images table. They name images "
                f"such as {shown(model.image_ids[:2])}, the table {shown(checked['image_id'][:2])}. Use the same ids."
            )
        if given and not given.intersection(model.labels):
            raise TableError(
                f"predictions of '{model.model}': none of their labels is a label of the images table. They name "
                f"{shown(model.labels[:3], limit=3)} and so on, the table {shown(sorted(given)[:3], limit=3)}. "
                "Rename one side's labels."
            )
    return checked.select("image_id", "label")


def _vocabulary(images: pl.DataFrame, predictions: Sequence[Predictions]) -> pl.DataFrame:
    names = set(images["label"].drop_nulls()).union(*(model.labels for model in predictions))
    return pl.DataFrame({"label": sorted(names)}, schema={"label": pl.String}).with_row_index("code")


def _given_votes(images: pl.DataFrame, vocabulary: pl.DataFrame) -> pl.DataFrame:
    given = images.with_row_index("image").join(vocabulary, on="label", how="inner", maintain_order="left")
    return given.select(
        "image", "code", pl.lit(-1, dtype=pl.Int32).alias("model"), pl.lit(None, dtype=pl.Int64).alias("rank")
    )


def _model_votes(
    images: pl.DataFrame, model: Predictions, *, vocabulary: pl.DataFrame, top: int, number: int
) -> pl.DataFrame:
    best = _best(model, top=top)
    labels = pl.DataFrame({"label": list(model.labels)}, schema={"label": pl.String})
    codes = labels.join(vocabulary, on="label", how="left", maintain_order="left")["code"].to_numpy()
    known = pl.DataFrame({"image_id": pl.Series(model.image_ids.tolist(), dtype=pl.String)}).with_row_index("row")
    rows = images.with_row_index("image").join(known, on="image_id", how="inner")
    chosen = best[rows["row"].to_numpy()]
    valid = chosen >= 0
    return pl.DataFrame(
        {
            "image": np.repeat(rows["image"].to_numpy(), valid.sum(axis=1)),
            "code": codes[chosen[valid]],
            "model": np.full(int(valid.sum()), number, dtype=np.int32),
            "rank": (np.nonzero(valid)[1] + 1).astype(np.int64),
        },
        schema={"image": pl.UInt32, "code": pl.UInt32, "model": pl.Int32, "rank": pl.Int64},
    )


def _best(model: Predictions, *, top: int) -> Int[np.ndarray, "n t"]:
    if model.scores is not None and model.top.shape[1] < min(top, len(model.labels)):
        return np.argsort(-model.scores, axis=1, kind="stable")[:, :top]
    return model.top[:, :top]


def _count(votes: pl.DataFrame) -> pl.DataFrame:
    proposed = pl.col("model") >= 0
    by_model = pl.col("model").filter(proposed)
    return votes.group_by("image", "code").agg(
        (pl.col("model") < 0).any().alias("is_given"),
        by_model.sort().alias("models"),
        pl.col("rank").filter(proposed).sort_by(by_model).alias("ranks"),
        proposed.sum().cast(pl.Int64).alias("n_models"),
        pl.col("rank").min().alias("best_rank"),
    )

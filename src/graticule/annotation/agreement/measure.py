"""Agreement among workers as a table: over all answers, by label and by worker, with intervals."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
from jaxtyping import Float

from graticule.annotation.aggregation.config_checks import check_at_least
from graticule.annotation.aggregation.votes import Votes, make_votes
from graticule.annotation.agreement import COEFFICIENTS
from graticule.annotation.agreement.sums import Tally, tally_votes
from graticule.annotation.agreement.worker_alpha import make_spread, sum_by_worker
from graticule.annotation.answers import CHOICE, Answers
from graticule.data.tables import AGREEMENT

N_DRAWS = 500
"""Resamplings of the images behind an interval."""
QUANTILES = (0.025, 0.975)
MIN_DEFINED = 0.5
"""An interval needs a coefficient that is defined in at least this share of the resamplings."""
CHUNK_CELLS = 4_000_000
"""Numbers of a block of resamplings that are held at once (32 MB)."""


def measure_agreement(answers: Answers, *, n_draws: int = N_DRAWS, seed: int = 0) -> pl.DataFrame:
    """Return an `AGREEMENT` table: each coefficient over all answers and by label, and alpha by worker.

    Parameters
    ----------
    answers
        What people answered. In CONTAINS a unit is an image and a label, and a label's rows are about its own yes and
        no; otherwise a unit is an image, the answers are (main) labels, and a label's rows are about it against all
        others.
    n_draws
        Resamplings of the images (all of an image's answers together) behind the 95 % intervals; 0 for none.
    seed
        Of the resamplings.

    Raises
    ------
    ConfigError
        ``n_draws`` is negative.

    Notes
    -----
    Intervals are percentiles of the resamplings; a worker's is normal with their standard deviation. A worker's alpha
    compares the worker's answers with the others' on the same units, and chance is that among all answers; so the alpha
    over all answers is the mean of the workers', weighed by their answers. Time and memory go with what was answered,
    not with how many labels there could have been.
    """
    check_at_least("n_draws", n_draws, low=0)
    votes = make_votes(answers)
    names = answers.labels if votes.is_binary else answers.labels.gather(votes.choice_label.astype(np.int64))
    tally = tally_votes(votes, n_labels=len(names))
    workers = sum_by_worker(votes, tally)
    once = np.ones((tally.n_images, 1))
    value = _measure(tally, once)[:, 0]
    worker_value = workers.measure(once, tally.sum_all(once))[:, 0]
    drawn, spread = [value[:, None]], make_spread(votes.n_workers)
    for weights in _resample(tally, n_draws=n_draws, seed=seed, rows=len(value) + len(worker_value)):
        drawn.append(_measure(tally, weights))
        spread.add(workers.measure(weights, tally.sum_all(weights)), center=worker_value)
    bounds = np.concatenate([_bound(np.concatenate(drawn, axis=1)[:, 1:]), spread.bound(worker_value, workers)], axis=1)
    rows = pl.concat([*[_count_rows(votes, tally, names)] * len(COEFFICIENTS), _count_workers(votes, tally, answers)])
    statistics = [name for name in COEFFICIENTS for _ in range(1 + len(names))]
    table = rows.with_columns(
        pl.Series("statistic", statistics + ["krippendorff_alpha"] * votes.n_workers, dtype=pl.String),
        pl.lit(None if answers.question == CHOICE else answers.question, dtype=pl.String).alias("kind"),
        pl.Series("value", np.concatenate([value, worker_value])),
        pl.Series("low", bounds[0]),
        pl.Series("high", bounds[1]),
    )
    is_whole = pl.col("label").is_null() & pl.col("worker_id").is_null()
    return table.select(list(AGREEMENT.columns)).filter(is_whole | (pl.col("n_answers") > 0))


def _measure(tally: Tally, weights: Float[np.ndarray, "i b"]) -> Float[np.ndarray, "r b"]:
    """Return each coefficient over all answers, then by label, under each weighing of the images."""
    every, by_label = tally.sum_all(weights), tally.sum_by_label(weights)
    rows = [
        part
        for measure in COEFFICIENTS.values()
        for part in (measure(every)[None], measure(by_label).reshape(tally.n_labels, weights.shape[1]))
    ]
    return np.concatenate(rows)


def _resample(tally: Tally, *, n_draws: int, seed: int, rows: int) -> Iterator[Float[np.ndarray, "i b"]]:
    """Yield how often each image is drawn, in blocks of resamplings that fit into memory."""
    rng = np.random.default_rng(seed)
    n = tally.n_images
    size = max(CHUNK_CELLS // max(n, rows, 1), 1)
    for start in range(0, n_draws if n else 0, size):
        block = [np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(start, min(start + size, n_draws))]
        yield np.stack(block, axis=1).astype(float)


def _bound(drawn: Float[np.ndarray, "r b"]) -> Float[np.ndarray, "2 r"]:
    """Return the ends of each row's interval over the draws where it is defined, NaN where it hardly ever is."""
    bounds = np.full((2, len(drawn)), np.nan)
    defined = np.isfinite(drawn)
    enough = defined.sum(axis=1) >= max(MIN_DEFINED * drawn.shape[1], 2)
    if enough.any():
        bounds[:, enough] = np.nanquantile(drawn[enough], QUANTILES, axis=1)
    return bounds


def _count_rows(votes: Votes, tally: Tally, names: pl.Series) -> pl.DataFrame:
    """Return label, worker_id and what each row rests on: all answers, then label by label."""
    compared = tally.unit_image >= 0
    worker, image = votes.worker[compared], votes.image[votes.item[compared]]
    label = (votes.label[votes.item[compared]] if votes.is_binary else votes.choice[compared]).astype(np.int64)
    frame = pl.DataFrame({"index": label, "worker": worker, "image": image})
    count = (
        pl.col("image").n_unique().cast(pl.Int64).alias("n_images"),
        pl.col("worker").n_unique().cast(pl.Int64).alias("n_workers"),
        pl.len().cast(pl.Int64).alias("n_answers"),
    )
    every = frame.select(*count).with_columns(pl.lit(None, dtype=pl.String).alias("label"))
    order = pl.DataFrame({"label": names, "index": np.arange(len(names))})
    by_label = order.join(frame.group_by("index").agg(*count), on="index", how="left", maintain_order="left")
    columns = ["label", "n_images", "n_workers", "n_answers"]
    rows = pl.concat([every.select(columns), by_label.select(columns)])
    return rows.with_columns(pl.col(columns[1:]).fill_null(0), pl.lit(None, dtype=pl.String).alias("worker_id"))


def _count_workers(votes: Votes, tally: Tally, answers: Answers) -> pl.DataFrame:
    compared = tally.unit_image >= 0
    worker, image = votes.worker[compared].astype(np.int64), votes.image[votes.item[compared]]
    seen = np.unique(worker * max(len(answers.images), 1) + image) // max(len(answers.images), 1)
    return pl.DataFrame(
        {
            "label": pl.Series([None] * votes.n_workers, dtype=pl.String),
            "n_images": np.bincount(seen, minlength=votes.n_workers).astype(np.int64),
            "n_workers": np.ones(votes.n_workers, dtype=np.int64),
            "n_answers": np.bincount(worker, minlength=votes.n_workers).astype(np.int64),
            "worker_id": answers.workers.alias("worker_id"),
        }
    )

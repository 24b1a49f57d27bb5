"""Which method to trust: the one that is right most often on questions of known answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from jaxtyping import Bool, Float

from graticule.annotation.aggregation import AGGREGATORS
from graticule.annotation.aggregation.aggregate import MIN_PROBABILITY, Aggregate
from graticule.annotation.aggregation.config_checks import check_at_least
from graticule.annotation.aggregation.gold import Gold
from graticule.annotation.aggregation.hbcc import MAX_CELLS, Hbcc
from graticule.annotation.aggregation.votes import make_votes
from graticule.annotation.aggregation.winners import TIE
from graticule.annotation.answers import CLASSIFY, CONTAINS, Answers
from graticule.errors import ConfigError, unknown_choice

AUTO = "auto"
TRUSTED = ("hbcc", "majority")
"""Methods that are never far off on the sets of known truth; another must be better than chance has it to be taken."""
METHODS = (*TRUSTED, "dawid_skene", "one_coin", "mace", "glad")
"""Methods that are tried; of equally good ones the first is taken."""
FOLDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A method, and why it.

    Parameters
    ----------
    method
        Its registry name.
    reason
        Why, in a sentence.
    scores
        method, accuracy (share of held-out right answers that it finds), brier (mean squared error of its
        probabilities) and n, a row for each method that was tried.
    """

    method: str
    reason: str
    scores: pl.DataFrame


def choose_method(
    answers: Answers, *, gold: Gold | None = None, methods: Sequence[str] = METHODS, folds: int = FOLDS, seed: int = 0
) -> Choice:
    """Return the method to aggregate with.

    Parameters
    ----------
    answers
        What people answered.
    gold
        Right answers. Each method is fitted as often as there are folds, with all but one fold of the right answers
        given to it, and judged on the fold that it has not seen. None chooses by the question alone.
    methods
        Methods to try.
    folds
        Parts of the right answers, at least 2.
    seed
        Of the partition into folds.

    Raises
    ------
    ConfigError
        A method is not known, or there are fewer than two folds.

    Notes
    -----
    The more accurate of hbcc and the majority vote wins; if they are equally accurate, the one with the smaller mean
    squared error of its probabilities. Another method replaces it if it is more accurate by more than the standard
    error of the difference: with few right answers, the best of many methods is often best by luck. Without right
    answers, or with fewer than two,
    CLASSIFY has its own aggregation, and hbcc is taken for the rest: on the sets of known truth in
    `docs/aggregation.md` it is the most accurate on average. Where its tables would not fit, there are many labels or
    workers for the answers, and one_coin, with a number a worker, is taken.
    """
    check_at_least("folds", folds, low=2)
    for name in methods:
        if name not in AGGREGATORS:
            raise unknown_choice("method", name, AGGREGATORS)
    none = pl.DataFrame(schema={"method": pl.String, "accuracy": pl.Float64, "brier": pl.Float64, "n": pl.Int64})
    if answers.question == CLASSIFY:
        return Choice(method="classify", reason="The answers tell objects apart, as classify does.", scores=none)
    fits = _fits(answers)
    if gold is None or len(gold) < 2:
        method = "hbcc" if fits else "one_coin"
        return Choice(
            method=method, reason="There are no right answers to choose by; this is the default.", scores=none
        )
    tried = [name for name in methods if fits or name != "hbcc"]
    if not tried:
        raise ConfigError("no method to choose from: hbcc alone, whose tables would not fit. Name others too.")
    fold = np.random.default_rng(seed).permutation(len(gold)) % min(folds, len(gold))
    judged = {name: _score(name, answers, gold, fold) for name in tried}
    best = _pick(judged)
    rows = [(name, float(right.mean()), float(error.mean()), len(gold)) for name, (right, error) in judged.items()]
    share = judged[best][0].mean()
    return Choice(
        method=best,
        reason=f"It finds {share:.1%} of {len(gold)} right answers without being given them; {len(tried)} were tried.",
        scores=pl.DataFrame(rows, schema=none.schema, orient="row"),
    )


def aggregate_answers(answers: Answers, *, method: str = AUTO, gold: Gold | None = None) -> Aggregate:
    """Return what answers come to, by a method's defaults.

    Parameters
    ----------
    answers
        What people answered.
    method
        A name in `graticule.annotation.aggregation.AGGREGATORS`, or ``auto`` to let `choose_method` choose.
    gold
        Right answers, which the result keeps.

    Raises
    ------
    ConfigError
        The method is not known, or cannot be used on these answers.
    """
    if method != AUTO and method not in AGGREGATORS:
        raise unknown_choice("method", method, [*AGGREGATORS, AUTO])
    chosen = choose_method(answers, gold=gold).method if method == AUTO else method
    return AGGREGATORS[chosen]().aggregate(answers, gold=gold)


def _fits(answers: Answers) -> bool:
    return Hbcc().count_cells(make_votes(answers)) <= MAX_CELLS


def _score(
    name: str, answers: Answers, gold: Gold, fold: np.ndarray
) -> tuple[Bool[np.ndarray, " g"], Float[np.ndarray, " g"]]:
    """Return which right answers a method finds when it is not given them, and how far its probabilities are off."""
    right = np.zeros(len(gold), dtype=bool)
    error = np.zeros(len(gold))
    for held_out in range(int(fold.max()) + 1):
        rows = fold == held_out
        aggregate = AGGREGATORS[name]().aggregate(answers, gold=gold.take(~rows))
        right[rows], error[rows] = _judge(aggregate, gold.take(rows))
    return right, error


def _pick(judged: Mapping[str, tuple[Bool[np.ndarray, " g"], Float[np.ndarray, " g"]]]) -> str:
    """Return the method to take, from what each found and how far off it was."""
    trusted = [name for name in judged if name in TRUSTED] or list(judged)
    best = min(trusted, key=lambda name: (-judged[name][0].sum(), round(float(judged[name][1].mean()), 9)))
    found = judged[best][0].astype(float)
    surely_better: dict[str, float] = {}
    for name, (right, _) in judged.items():
        gain = right - found
        if name not in trusted and gain.mean() > gain.std() / np.sqrt(len(gain)):
            surely_better[name] = float(gain.mean())
    return max(surely_better, key=lambda name: surely_better[name]) if surely_better else best


def _judge(aggregate: Aggregate, gold: Gold) -> tuple[Bool[np.ndarray, " g"], Float[np.ndarray, " g"]]:
    """Return which right answers an aggregate finds, and the squared error of its probabilities."""
    k = np.int64(len(aggregate.labels))
    keys, wanted = aggregate.image * k + aggregate.label, gold.image * k + gold.label
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    listed = keys[place] == wanted
    probability = np.where(listed, aggregate.probability[place], 0.0)
    if aggregate.question == CONTAINS:
        says = probability >= MIN_PROBABILITY - TIE
        return says == gold.holds, 2 * (probability - gold.holds) ** 2
    squares = np.bincount(aggregate.image, weights=aggregate.probability**2, minlength=len(aggregate.images))
    found = listed & aggregate.is_main[place]
    return found, squares[gold.image] - 2 * probability + 1

"""Models side by side: accuracy where each was trained and elsewhere (GeoNet's tables 2 and 6), pairs, robustness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from graticule.data.predictions import Predictions
from graticule.errors import ConfigError, shown, unknown_choice
from graticule.evaluation.alignment import Alignment, align_predictions
from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.estimates import Estimates, single_estimate
from graticule.evaluation.intervals import find_quantile, wilson_interval
from graticule.evaluation.paired import choose_pairs, compare_models
from graticule.evaluation.rows import make_rows
from graticule.evaluation.shift.robustness import FEWEST_MODELS, SCALES, measure_robustness
from graticule.evaluation.shift.spread import measure_spread


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferConfig:
    """How models are compared.

    Parameters
    ----------
    by
        Column whose values are the regions.
    source, target
        Regions for the drop and effective robustness; empty for neither.
    home
        Model → the region that it was trained in.
    fit
        Scale of the line through models, one of `graticule.evaluation.shift.robustness.SCALES`.
    group
        Column; images that share a value are drawn together.
    n_bootstraps, confidence, seed
        Of the intervals.
    """

    by: str = "region"
    source: str | None = None
    target: str | None = None
    home: Mapping[str, str] | None = None
    fit: str = "probit"
    group: str | None = None
    n_bootstraps: int = 500
    confidence: float = 0.95
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Transfer:
    """Models side by side.

    Parameters
    ----------
    metrics
        Every number.
    regions, models
        Names, in order.
    home
        Model → the region that it was trained in, where that is known.
    headline
        The findings in sentences.
    """

    metrics: pl.DataFrame
    regions: tuple[str, ...]
    models: tuple[str, ...]
    home: Mapping[str, str]
    headline: tuple[str, ...]


def compare_transfer(
    images: pl.DataFrame, predictions: Sequence[Predictions], *, config: TransferConfig | None = None
) -> Transfer:
    """Return models' accuracies by region, their drops, pairs of models, and effective robustness.

    Raises
    ------
    ConfigError
        A region or model that is named does not exist, or there are too few models for a line.
    TableError
        The tables cannot be joined.
    """
    settings = config or TransferConfig()
    if settings.n_bootstraps < 2:
        raise ConfigError(f"--bootstraps {settings.n_bootstraps}: expected at least 2, as in 500.")
    if settings.fit not in SCALES:
        raise unknown_choice("fit", settings.fit, SCALES, where="--fit")
    audit = AuditConfig(by=settings.by, seed=settings.seed)
    aligned = align_predictions(images, predictions, config=audit)
    regions, models = aligned.images.regions, tuple(scored.model for scored in aligned.scored)
    home = _find_homes(predictions, regions, given=settings.home or {})
    right = _gather(aligned)
    weights = _draw(aligned, settings)
    frames = [
        _tell_accuracy(aligned),
        _tell_drops(aligned, home, confidence=settings.confidence),
        compare_models(aligned.scored, n_images=aligned.images.table.height, config=audit),
    ]
    headline: list[str] = []
    if settings.source is not None or settings.target is not None:
        sides = _find_sides(settings, regions)
        drops = [_measure_sides(aligned, right, weight, sides) for weight in weights]
        frames.append(_tell_pairs(aligned, drops, target=regions[sides[1]], config=settings))
        takes_part = np.array([home.get(model) != settings.target for model in models])
        if takes_part.sum() >= FEWEST_MODELS:
            frame, sentence = _tell_robustness(aligned, drops, takes_part, sides=sides, config=settings)
            frames.append(frame)
            headline.append(sentence)
        else:
            headline.append(
                f"Effective robustness needs {FEWEST_MODELS} models that were not trained in {settings.target}; "
                f"there are {int(takes_part.sum())}."
            )
    metrics = pl.concat(frames)
    return Transfer(
        metrics=metrics,
        regions=regions,
        models=models,
        home=home,
        headline=(*_describe_homes(metrics, home), *headline),
    )


def _find_homes(
    predictions: Sequence[Predictions], regions: tuple[str, ...], *, given: Mapping[str, str]
) -> dict[str, str]:
    """Return where models were trained: as given, else the one region that a probe's training query names."""
    names = [model.model for model in predictions]
    for model, region in given.items():
        if model not in names:
            raise unknown_choice("model", model, names, where="--home")
        if region not in regions:
            raise unknown_choice("region", region, regions, where=f"--home {model}")
    found: dict[str, str] = {}
    for model in predictions:
        probe = model.info.get("probe")
        query = str(probe.get("train", "")) if isinstance(probe, dict) else ""
        named = [region for region in regions if f'"{region}"' in query or f"'{region}'" in query]
        if model.model in given:
            found[model.model] = given[model.model]
        elif len(named) == 1:
            found[model.model] = named[0]
    return found


def _find_sides(config: TransferConfig, regions: tuple[str, ...]) -> tuple[int, int]:
    for name, region in (("--source", config.source), ("--target", config.target)):
        if region is None:
            raise ConfigError(f"{name} is missing: expected both --source and --target, or neither.")
        if region not in regions:
            raise unknown_choice("region", region, regions, where=name)
    assert config.source is not None
    assert config.target is not None
    if config.source == config.target:
        raise ConfigError(f"--source and --target are both {shown([config.source])}; expected two regions.")
    return regions.index(config.source), regions.index(config.target)


def _tell_accuracy(aligned: Alignment) -> pl.DataFrame:
    frames: list[pl.DataFrame] = []
    regions = aligned.images.regions
    for scored in aligned.scored:
        for metric, right in (("accuracy", scored.is_right), ("top5_accuracy", scored.is_right_top5)):
            if right is None:
                continue
            n = np.bincount(scored.region, minlength=len(regions))
            hits = np.bincount(scored.region[right], minlength=len(regions))
            found = wilson_interval(hits, n, confidence=0.95)
            frames.append(make_rows(metric, found, model=scored.model, region=list(regions), method="wilson"))
    return pl.concat(frames)


def _tell_drops(aligned: Alignment, home: Mapping[str, str], *, confidence: float) -> pl.DataFrame:
    regions = aligned.images.regions
    frames = [make_rows("transfer_drop", _no_estimates(), model=None, region=[], method="home minus region, normal")]
    for scored in aligned.scored:
        if scored.model not in home:
            continue
        at_home = regions.index(home[scored.model])
        for metric, right in (("transfer_drop", scored.is_right), ("transfer_drop_top5", scored.is_right_top5)):
            if right is None:
                continue
            n = np.bincount(scored.region, minlength=len(regions)).astype(np.int64)
            share = np.bincount(scored.region[right], minlength=len(regions)) / np.where(n > 0, n, np.nan)
            errors = np.sqrt(share * (1 - share) / n)
            value = share[at_home] - share
            reach = find_quantile(confidence) * np.hypot(errors, errors[at_home])
            kept = np.flatnonzero((np.arange(len(regions)) != at_home) & (n > 0))
            found = Estimates(value=value[kept], low=(value - reach)[kept], high=(value + reach)[kept], n=n[kept])
            frames.append(
                make_rows(
                    metric,
                    found,
                    model=scored.model,
                    region=[regions[place] for place in kept],
                    group=home[scored.model],
                    method="home minus region, normal",
                )
            )
    return pl.concat(frames)


def _no_estimates() -> Estimates:
    nothing = np.empty(0)
    return Estimates(value=nothing, low=nothing, high=nothing, n=np.empty(0, dtype=np.int64))


def _gather(aligned: Alignment) -> np.ndarray:
    """Return whether each model is right on each image: 1, 0, or NaN where it was not scored; shape ``(m, n)``."""
    right = np.full((len(aligned.scored), aligned.images.table.height), np.nan)
    for place, scored in enumerate(aligned.scored):
        right[place, scored.rows] = scored.is_right
    return right


def _draw(aligned: Alignment, config: TransferConfig) -> list[np.ndarray]:
    """Return how often each image counts: once, then in each bootstrap draw of groups within regions."""
    table = aligned.images.table
    n = table.height
    codes = np.arange(n)
    if config.group is not None:
        if config.group not in table.columns:
            raise unknown_choice("column", config.group, table.columns, where="--group")
        codes = table[config.group].cast(pl.String).fill_null("").rank("dense").to_numpy().astype(np.int64)
    region = aligned.images.region.astype(np.int64)
    cells = np.unique(codes * (len(aligned.images.regions) + 2) + region + 2, return_inverse=True)[1]
    region_of = np.empty(int(cells.max()) + 1, dtype=np.int64)
    region_of[cells] = region
    rng = np.random.default_rng(config.seed)
    draws = [np.ones(n)]
    for _ in range(config.n_bootstraps):
        times = np.zeros(len(region_of))
        for place in np.unique(region_of):
            members = np.flatnonzero(region_of == place)
            times[members] = np.bincount(rng.integers(len(members), size=len(members)), minlength=len(members))
        draws.append(times[cells])
    return draws


def _measure_sides(
    aligned: Alignment, right: np.ndarray, weight: np.ndarray, sides: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return every model's accuracy in the source and in the target under weights."""
    found: list[np.ndarray] = []
    for side in sides:
        where = aligned.images.region == side
        known = np.isfinite(right[:, where])
        counted = known @ weight[where]
        hits = np.where(known, right[:, where], 0.0) @ weight[where]
        found.append(np.divide(hits, counted, out=np.full(len(right), np.nan), where=counted > 0))
    return found[0], found[1]


def _tell_pairs(
    aligned: Alignment, drops: list[tuple[np.ndarray, np.ndarray]], *, target: str, config: TransferConfig
) -> pl.DataFrame:
    """Return the drops, and by how much each pair of models differs in them, on the same draws of images."""
    lost = np.stack([source - other for source, other in drops])
    reach = find_quantile(config.confidence)
    n = np.array([len(scored.rows) for scored in aligned.scored])
    names = [scored.model for scored in aligned.scored]
    spread = measure_spread(lost[1:])
    frames: list[pl.DataFrame] = []
    for place, name in enumerate(names):
        value, wide = lost[0, [place]], reach * spread[[place]]
        found = Estimates(value=value, low=value - wide, high=value + wide, n=n[[place]])
        frames.append(make_rows("drop", found, model=name, region=target, method="bootstrap, normal"))
    for one, other in choose_pairs(aligned.scored):
        difference = lost[:, one] - lost[:, other]
        wide = reach * float(measure_spread(difference[1:, None])[0])
        value = float(difference[0])
        both = int(min(n[one], n[other]))
        found = single_estimate(value, n=both, low=value - wide, high=value + wide)
        frames.append(
            make_rows(
                "paired_drop_difference",
                found,
                model=names[one],
                region=target,
                group=names[other],
                method="bootstrap of the same images, normal",
            )
        )
    return pl.concat(frames)


def _tell_robustness(
    aligned: Alignment,
    drops: list[tuple[np.ndarray, np.ndarray]],
    takes_part: np.ndarray,
    *,
    sides: tuple[int, int],
    config: TransferConfig,
) -> tuple[pl.DataFrame, str]:
    names = [scored.model for scored in aligned.scored]
    target = aligned.images.regions[sides[1]]
    n = np.array([int((scored.region == sides[1]).sum()) for scored in aligned.scored])
    found = measure_robustness(
        drops[0][0],
        drops[0][1],
        n=n,
        takes_part=takes_part,
        draws=(np.stack([draw[0] for draw in drops[1:]]), np.stack([draw[1] for draw in drops[1:]])),
        fit=config.fit,
        confidence=config.confidence,
    )
    nothing = np.full(len(names), np.nan)
    frames: list[pl.DataFrame] = []
    for place, name in enumerate(names):
        one = slice(place, place + 1)
        beyond = Estimates(
            value=found.beyond.value[one], low=found.beyond.low[one], high=found.beyond.high[one], n=n[one]
        )
        promised = Estimates(value=found.promised[one], low=nothing[one], high=nothing[one], n=n[one])
        shared = f"{config.fit} line through {int(takes_part.sum())} models"
        frames.append(make_rows("effective_robustness", beyond, model=name, region=target, method=shared))
        frames.append(make_rows("promised_accuracy", promised, model=name, region=target, method=shared))
    for metric, value in (
        ("line_slope", found.slope),
        ("line_intercept", found.intercept),
        ("line_explained", found.share_explained),
    ):
        frames.append(
            make_rows(metric, single_estimate(value, n=len(names)), model=None, region=target, method=config.fit)
        )
    best = int(np.argmax(np.where(takes_part, found.beyond.value, -np.inf)))
    low, high = found.beyond.low[best], found.beyond.high[best]
    clear = "clearly " if low > 0 else ""
    sentence = (
        f"{names[best]} is {clear}furthest above what source accuracy promises in {target}: by "
        f"{100 * found.beyond.value[best]:.1f} points ({100 * low:.1f} to {100 * high:.1f})."
    )
    return pl.concat(frames), sentence


def _describe_homes(metrics: pl.DataFrame, home: Mapping[str, str]) -> list[str]:
    drops = metrics.filter(pl.col("metric") == "transfer_drop").sort("value", descending=True, nulls_last=True)
    return [
        f"{row['model']}, trained in {home[row['model']]}, loses {100 * row['value']:.1f} points in {row['region']} "
        f"({100 * row['low']:.1f} to {100 * row['high']:.1f})."
        for row in drops.head(4).iter_rows(named=True)
    ]

"""Why a model is less often right in one region than in another: every number of `graticule explain`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from jaxtyping import Float

from graticule.data.predictions import Predictions
from graticule.evaluation.estimates import Estimates, single_estimate
from graticule.evaluation.intervals import wilson_interval
from graticule.evaluation.rows import make_rows
from graticule.evaluation.shift.decomposition import (
    APPEARANCE,
    CONTEXT,
    DESIGN,
    Decomposition,
    DecompositionConfig,
    decompose_drop,
)
from graticule.evaluation.shift.feature_rows import pick_features
from graticule.evaluation.shift.label_distances import measure_distances
from graticule.evaluation.shift.label_groups import measure_groups
from graticule.evaluation.shift.label_shift import LABEL_SHIFTS
from graticule.evaluation.shift.label_shift.estimate import estimate_shares
from graticule.evaluation.shift.permutation import PermutationConfig
from graticule.evaluation.shift.prior import measure_total_variation, weigh_labels
from graticule.evaluation.shift.regions import Joined, TwoRegions, join_regions
from graticule.evaluation.shift.verdicts import write_label_verdict, write_verdict

DROP_METHOD = "bootstrap, normal"
PARTS_METHOD = "Shapley over re-weightings; bootstrap, intervals hold together"
DISTANCES_SHOWN = ("energy", "domain_classifier")
MLLS_LIMIT = 40_000_000
"""Images times labels above which the estimates of label shift are bootstrapped fewer times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainConfig:
    """How a drop is explained."""

    decomposition: DecompositionConfig = field(default_factory=DecompositionConfig)
    permutation: PermutationConfig = field(default_factory=PermutationConfig)
    distances: tuple[str, ...] = DISTANCES_SHOWN
    """Distances that are measured, each with its permutation test."""
    n_share_draws: int = 50
    """Bootstrap draws of the label-shift estimates."""
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Explanation:
    """Why accuracy drops from one region to another.

    Parameters
    ----------
    metrics
        Every number (table ``metrics``).
    labels
        A row a label: its images, accuracies, drop, parts and verdict; largest drop first.
    joined
        The images and what the model made of them.
    decomposition
        The parts of the drop.
    features
        Kind → features of the images, rows as in ``joined``.
    headline
        The findings in sentences.
    notes
        What was left out or could not be told, in sentences.
    """

    metrics: pl.DataFrame
    labels: pl.DataFrame
    joined: Joined
    decomposition: Decomposition
    features: Mapping[str, Float[np.ndarray, "n d"]]
    headline: tuple[str, ...]
    notes: tuple[str, ...]


def explain_drop(
    images: pl.DataFrame,
    predictions: Predictions,
    *,
    regions: TwoRegions,
    features: Mapping[str, pl.DataFrame] | None = None,
    adapted: Predictions | None = None,
    superclasses: Mapping[str, str] | None = None,
    config: ExplainConfig | None = None,
) -> Explanation:
    """Return why a model is less often right in the target than in the source.

    Parameters
    ----------
    images
        The images table with labels and the columns that the queries name.
    predictions
        A model's predictions of both regions; source images that it was trained on should be predicted out of fold.
    regions
        Source and target.
    features
        Features tables: ``context`` and ``design`` (background and foreground), ``appearance`` (whole images), or all.
    adapted
        Predictions after adaptation, to compare labels' drops before and after.
    superclasses
        Label → group.
    config
        The settings.

    Raises
    ------
    GraticuleError
        The tables cannot be joined, or hold nothing to compare.
    """
    settings = config or ExplainConfig()
    joined = join_regions(images, predictions, regions=regions)
    picked = pick_features(joined, features or {})
    seed = settings.seed
    kinds = {CONTEXT, DESIGN} if CONTEXT in picked.features else {APPEARANCE} & set(picked.features)
    split = decompose_drop(
        picked.joined.outcomes,
        {kind: picked.features[kind] for kind in kinds},
        config=settings.decomposition,
        seed=seed,
    )
    joined = picked.joined
    frames = [
        _tell_accuracy(joined),
        _tell_parts(joined, split),
        _tell_prior(joined, seed=seed, fewest=settings.decomposition.min_images),
        _tell_shares(joined, settings),
        *(
            measure_distances(
                joined, kind, vectors, config=settings.permutation, distances=settings.distances, seed=seed
            )
            for kind, vectors in picked.features.items()
        ),
    ]
    if superclasses:
        frames.append(_tell_groups(joined, superclasses, seed=seed))
    notes = [*joined.notes, *picked.notes, *_note(joined, split)]
    if adapted is not None:
        after = join_regions(images, adapted, regions=regions)
        frames += [_tell_accuracy(after), _tell_label_drops(after, seed=seed)]
        notes += [f"{after.model}: {note}" for note in after.notes]
    headline = [write_verdict(split, source=joined.source, target=joined.target)]
    return Explanation(
        metrics=pl.concat(frames),
        labels=_list_labels(joined, split),
        joined=joined,
        decomposition=split,
        features=picked.features,
        headline=tuple(headline),
        notes=tuple(notes),
    )


def _tell_accuracy(joined: Joined) -> pl.DataFrame:
    outcomes = joined.outcomes
    frames: list[pl.DataFrame] = []
    for metric, right in (("accuracy", outcomes.is_right), ("top5_accuracy", joined.is_right_top5)):
        if right is None:
            continue
        for side, region in ((False, joined.source), (True, joined.target)):
            where = outcomes.is_target == side
            hits, n = np.array([right[where].sum()]), np.array([where.sum()])
            found = wilson_interval(hits, n, confidence=0.95)
            frames.append(make_rows(metric, found, model=joined.model, region=region, method="wilson"))
    for side, region in ((0, joined.source), (1, joined.target)):
        counts = outcomes.count_labels()[side].astype(np.int64)
        where = outcomes.is_target == bool(side)
        hits = np.bincount(outcomes.label[where & outcomes.is_right], minlength=len(outcomes.labels))
        found = wilson_interval(hits, counts, confidence=0.95)
        frames.append(
            make_rows(
                "accuracy", found, model=joined.model, region=region, label=list(outcomes.labels), method="wilson"
            )
        )
    return pl.concat(frames)


def _tell_parts(joined: Joined, split: Decomposition) -> pl.DataFrame:
    labels = list(joined.outcomes.labels)
    shared = {"model": joined.model, "region": joined.target}
    frames = [
        make_rows("drop", split.drop, **shared, method=DROP_METHOD),
        make_rows("drop_part", split.parts, **shared, group=list(split.causes), method=PARTS_METHOD),
        make_rows("drop", split.label_drops, **shared, label=labels, method=DROP_METHOD),
        make_rows("prior_part", split.label_priors, **shared, label=labels, method=PARTS_METHOD),
    ]
    frames += [
        make_rows("drop_part", part, **shared, label=labels, group=cause, method=PARTS_METHOD)
        for cause, part in zip(split.causes, split.label_parts, strict=True)
        if cause != "prior"
    ]
    for kind, share in split.overlap.items():
        found = single_estimate(share, n=len(joined.outcomes.label))
        frames.append(make_rows("overlap", found, **shared, group=kind, method="effective share of images"))
    return pl.concat(frames)


def _tell_prior(joined: Joined, *, seed: int, fewest: int) -> pl.DataFrame:
    outcomes = joined.outcomes
    frames: list[pl.DataFrame] = []
    for name, found in weigh_labels(outcomes, fewest=fewest, seed=seed).items():
        for metric, region, estimates in (
            ("weighed_accuracy", joined.source, found.source),
            ("weighed_accuracy", joined.target, found.target),
            ("weighed_drop", joined.target, found.drop),
        ):
            frames.append(
                make_rows(metric, estimates, model=joined.model, region=region, group=name, method=DROP_METHOD)
            )
    apart = single_estimate(measure_total_variation(outcomes), n=len(outcomes.label))
    frames.append(
        make_rows("label_total_variation", apart, model=None, region=joined.target, method="between label shares")
    )
    return pl.concat(frames)


def _tell_shares(joined: Joined, config: ExplainConfig) -> pl.DataFrame:
    outcomes = joined.outcomes
    counts = outcomes.count_labels().astype(np.int64)
    labels = list(outcomes.labels)
    frames: list[pl.DataFrame] = []
    for side, region in ((0, joined.source), (1, joined.target)):
        total = np.full(len(labels), counts[side].sum())
        found = wilson_interval(counts[side], total, confidence=0.95)
        frames.append(make_rows("label_share", found, model=None, region=region, label=labels, method="wilson"))
    target = outcomes.is_target
    few = joined.scores.size > MLLS_LIMIT
    truth = counts[1] / counts[1].sum()
    for method in LABEL_SHIFTS:
        found = estimate_shares(
            outcomes.label[~target],
            joined.scores[~target],
            joined.scores[target],
            method=method,
            source_groups=outcomes.groups[~target],
            target_groups=outcomes.groups[target],
            n_bootstraps=10 if few else config.n_share_draws,
            seed=config.seed,
        )
        shared = {"model": joined.model, "region": joined.target}
        text = "from predictions alone; bootstrap"
        frames.append(make_rows("estimated_label_share", found, **shared, label=labels, group=method, method=text))
        apart = float(np.abs(found.value - truth).sum() / 2)
        frames.append(
            make_rows(
                "estimated_share_error",
                single_estimate(apart, n=int(target.sum()) if np.isfinite(apart) else 0),
                **shared,
                group=method,
                method="total variation to the real shares",
            )
        )
    return pl.concat(frames)


def _tell_groups(joined: Joined, superclasses: Mapping[str, str], *, seed: int) -> pl.DataFrame:
    found = measure_groups(joined.outcomes, superclasses, seed=seed)
    names = list(found.names)
    return pl.concat(
        [
            make_rows(metric, estimates, model=joined.model, region=region, group=names, method=DROP_METHOD)
            for metric, region, estimates in (
                ("superclass_accuracy", joined.source, found.source),
                ("superclass_accuracy", joined.target, found.target),
                ("superclass_drop", joined.target, found.drop),
            )
        ]
    )


def _tell_label_drops(joined: Joined, *, seed: int) -> pl.DataFrame:
    own = {label: label for label in joined.outcomes.labels}
    found = measure_groups(joined.outcomes, own, seed=seed)
    drop = weigh_labels(joined.outcomes, n_bootstraps=200, seed=seed)["own"].drop
    shared = {"model": joined.model, "region": joined.target}
    return pl.concat(
        [
            make_rows("drop", drop, **shared, method=DROP_METHOD),
            make_rows("drop", found.drop, **shared, label=list(found.names), method=DROP_METHOD),
        ]
    )


def _note(joined: Joined, split: Decomposition) -> list[str]:
    notes: list[str] = []
    n_labels = len(joined.outcomes.labels)
    if split.causes == ("prior", "rest"):
        notes.append(
            "No features were given, so only label frequencies are told from the rest. Give --features, or --masks "
            "with "
            "--model."
        )
    elif APPEARANCE in split.causes:
        notes.append(
            "Without masks backgrounds and objects cannot be told apart: what both have done is one part, the look of "
            "the images. Give --masks with --model."
        )
    if split.n_judged < n_labels:
        notes.append(
            f"{n_labels - split.n_judged} of {n_labels} labels have too few images in a region: what is lost in them "
            "is "
            "put down to their frequency or to the rest."
        )
    return notes


def _list_labels(joined: Joined, split: Decomposition) -> pl.DataFrame:
    counts = joined.outcomes.count_labels().astype(np.int64)
    accuracy = joined.outcomes.measure_labels()
    columns: dict[str, object] = {
        "label": list(joined.outcomes.labels),
        "n_source": counts[0],
        "n_target": counts[1],
        "accuracy_source": accuracy[0],
        "accuracy_target": accuracy[1],
        **_spread("drop", split.label_drops),
    }
    for cause, part in zip(split.causes, split.label_parts, strict=True):
        if cause != "prior":
            columns |= _spread(cause, part)
    columns |= _spread("prior_of_whole_drop", split.label_priors)
    columns["verdict"] = [write_label_verdict(split, place) for place in range(len(joined.outcomes.labels))]
    return pl.DataFrame(columns).sort(pl.col("drop").fill_nan(None), "label", descending=[True, False], nulls_last=True)


def _spread(name: str, estimates: Estimates) -> dict[str, Float[np.ndarray, " k"]]:
    return {name: estimates.value, f"{name}_low": estimates.low, f"{name}_high": estimates.high}

"""What an audit found, in plain sentences: the first thing on the page and on the terminal.

Every number comes from the metrics table. A gap is only called one where its interval excludes zero; labels that are
flagged stand beside the number that chance alone would flag.
"""

from __future__ import annotations

import polars as pl

from graticule.data.audit_record import AuditRecord
from graticule.evaluation.numbers import Number, Numbers, Place

IN_DETAIL = 3
"""Models that get sentences of their own; of more, only the extremes are named."""
LABELS_NAMED = 3
LEVEL = 0.05
PLACES = ("region", "subregion", "country", "continent")
"""Columns whose values are places, so that one can be in them."""
NAMES = (
    *("n_images", "accuracy", "worst_gap", "worst_gap_expected", "best_region", "worst_region", "label_mix_accuracy"),
    *("partition_flags", "partition_flags_expected", "partition_p_adjusted", "calibration_error"),
    *("calibration_confidence", "paired_difference", "mcnemar_p"),
)


def write_headline(metrics: pl.DataFrame, *, record: AuditRecord) -> tuple[str, ...]:
    """Return the sentences that sum up an audit, most important first.

    Parameters
    ----------
    metrics
        The metrics table.
    record
        What the audit was made of; its ``headline`` is not used.
    """
    models = [model.name for model in record.models]
    is_needed = pl.col("label").is_null() if len(models) > IN_DETAIL else pl.lit(value=True)
    numbers = Numbers(metrics.filter(is_needed), NAMES)
    sentences: list[str] = []
    if len(models) > IN_DETAIL:
        sentences += _sum_up_models(numbers, models)
    else:
        for model in models:
            sentences += _describe_model(numbers, model, record=record, is_named=len(models) > 1)
        sentences += _compare(numbers, models)
    sentences += _name_small_regions(numbers, record=record)
    sentences += _count_dropped(record)
    return tuple(sentences)


def _describe_model(numbers: Numbers, model: str, *, record: AuditRecord, is_named: bool) -> list[str]:
    overall = numbers.get(Place(metric="accuracy", model=model))
    name = model if is_named else "The model"
    sentences = [f"{name} is right on {_percent(overall)} of {overall.n:,} images."]
    sentences += _describe_gap(numbers, model, record=record, start=f"{model}: " if is_named else "")
    sentences += _describe_labels(numbers, model, record=record, start=f"{model}: " if is_named else "")
    error = numbers.get(Place(metric="calibration_error", model=model))
    if error.is_known:
        confidences = [
            number for number in numbers.find("calibration_confidence", model=model).items() if number[0].region is None
        ]
        total = sum(number.n for _, number in confidences)
        stated = sum(number.value * number.n for _, number in confidences if number.n) / max(total, 1)
        sentences.append(
            f"{model + ': ' if is_named else ''}It states a mean probability of {100 * stated:.1f} % for what it "
            f"predicts; its calibration error is {_points(error)}."
        )
    return sentences


def _describe_gap(numbers: Numbers, model: str, *, record: AuditRecord, start: str) -> list[str]:
    gap = numbers.get(Place(metric="worst_gap", model=model))
    if not gap.is_known:
        return [
            f"{start}Fewer than two places of '{record.by}' have {record.min_images} images, so that nothing can be "
            "said of gaps between them."
        ]
    if gap.value == 0:
        return [f"{start}No place with {record.min_images} images or more is better or worse than another."]
    (best_at, best), (worst_at, worst) = (
        next((at, number) for at, number in numbers.find(metric, model=model).items() if at.label is None)
        for metric in ("best_region", "worst_region")
    )
    expected = numbers.get(Place(metric="worst_gap_expected", model=model))
    verdict = (
        f"The gap is {_points(gap)}, more than chance: a random split of the same images shows "
        f"{100 * expected.value:.1f} points on average."
        if gap.low > 0
        else f"The gap is {_points(gap)} and may be chance: a random split of the same images shows "
        f"{100 * expected.value:.1f} points on average."
    )
    sentences = [
        f"{start or 'It is '}worst {_at(worst_at, record)}: {_percent(worst)} of {worst.n:,} images; best "
        f"{_at(best_at, record)}: {_percent(best)} of {best.n:,} images. {verdict}"
    ]
    mixes = [
        numbers.get(Place(metric="label_mix_accuracy", model=model, region=at.region)) for at in (best_at, worst_at)
    ]
    if gap.low > 0 and all(mix.is_known for mix in mixes):
        explained = 100 * (mixes[0].value - mixes[1].value)
        side = "ahead of" if explained >= 0 else "behind"
        sentences.append(
            f"{start}By their mix of labels alone {best_at.region} would be {abs(explained):.1f} points {side} "
            f"{worst_at.region}."
        )
    return sentences


def _describe_labels(numbers: Numbers, model: str, *, record: AuditRecord, start: str) -> list[str]:
    flags = numbers.get(Place(metric="partition_flags", model=model, group="extremes"))
    if not flags.is_known:
        return []
    expected = numbers.get(Place(metric="partition_flags_expected", model=model, group="extremes"))
    sure = sum(
        number.value < LEVEL
        for at, number in numbers.find("partition_p_adjusted", model=model).items()
        if at.group == "holm"
    )
    sentences = [
        f"{start}{flags.value:.0f} of {flags.n} labels differ between places more than a random partition of their "
        f"images does (about {expected.value:.1f} would by chance alone); {sure} still do when all labels are tested "
        "together (Holm)."
    ]
    gaps = [
        (at.label, number)
        for at, number in numbers.find("worst_gap", model=model).items()
        if at.label is not None and number.is_known and number.low > 0
    ]
    widest = sorted(gaps, key=lambda item: (-item[1].value, item[0]))[:LABELS_NAMED]
    if widest:
        ends = {
            metric: {at.label: (at.region, number) for at, number in numbers.find(metric, model=model).items()}
            for metric in ("worst_region", "best_region")
        }
        named = []
        for label, gap in widest:
            (low_at, low), (high_at, high) = ends["worst_region"][label], ends["best_region"][label]
            named.append(
                f"'{label}' {100 * gap.value:.0f} points ({low_at} {100 * low.value:.0f} %, {high_at} "
                f"{100 * high.value:.0f} %)"
            )
        sentences.append(f"{start}Widest gaps that are more than chance: {'; '.join(named)}.")
    return sentences


def _sum_up_models(numbers: Numbers, models: list[str]) -> list[str]:
    accuracy = {model: numbers.get(Place(metric="accuracy", model=model)) for model in models}
    best, worst = max(models, key=lambda name: accuracy[name].value), min(models, key=lambda name: accuracy[name].value)
    sentences = [
        f"{len(models)} models: the most accurate is {best}, right on {_percent(accuracy[best])} of "
        f"{accuracy[best].n:,} images; the least accurate {worst}, right on {_percent(accuracy[worst])}."
    ]
    gaps = {model: numbers.get(Place(metric="worst_gap", model=model)) for model in models}
    known = [model for model in models if gaps[model].is_known]
    if known:
        widest, narrowest = max(known, key=lambda name: gaps[name].value), min(known, key=lambda name: gaps[name].value)
        beyond = sum(gaps[model].low > 0 for model in known)
        sentences.append(
            f"The gap between best and worst place is more than chance for {beyond} of {len(known)} models (each "
            f"looked at alone; on the same images they share their luck); it is widest for {widest}, "
            f"{_points(gaps[widest])}, and narrowest for {narrowest}, {_points(gaps[narrowest])}."
        )
    return sentences


def _compare(numbers: Numbers, models: list[str]) -> list[str]:
    sentences: list[str] = []
    for place, model in enumerate(models):
        for other in models[place + 1 :]:
            difference = numbers.get(Place(metric="paired_difference", model=model, group=other))
            p_value = numbers.get(Place(metric="mcnemar_p", model=model, group=other))
            if not difference.is_known or not p_value.is_known:
                continue
            ahead, behind = (model, other) if difference.value >= 0 else (other, model)
            chance = "more than chance" if p_value.value < LEVEL else "which may be chance"
            sentences.append(
                f"On the {difference.n:,} images that both were scored on, {ahead} is "
                f"{100 * abs(difference.value):.1f} points ahead of {behind}, {chance} (p {_p_value(p_value.value)})."
            )
    return sentences


def _name_small_regions(numbers: Numbers, *, record: AuditRecord) -> list[str]:
    small = [
        f"{at.region} ({number.n})"
        for at, number in numbers.find("n_images", model=None).items()
        if at.region is not None and at.label is None and number.n < record.min_images
    ]
    if not small:
        return []
    listed = ", ".join(small[:10]) + (f" and {len(small) - 10} more" if len(small) > 10 else "")
    return [f"With fewer than {record.min_images} images, never named best or worst: {listed}."]


def _count_dropped(record: AuditRecord) -> list[str]:
    if not record.dropped:
        return []
    reasons = "; ".join(f"{reason}: {count:,}" for reason, count in record.dropped.items())
    return [f"Left out of {record.n_images:,} images: {reasons}."]


def _at(place: Place, record: AuditRecord) -> str:
    return f"in {place.region}" if record.by in PLACES else f"where {record.by} is {place.region}"


def _percent(number: Number) -> str:
    return f"{100 * number.value:.1f} % ({100 * number.low:.1f} to {100 * number.high:.1f})"


def _points(number: Number) -> str:
    return f"{100 * number.value:.1f} points ({100 * number.low:.1f} to {100 * number.high:.1f})"


def _p_value(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"

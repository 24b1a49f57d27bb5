"""Audits made by plain counting from seeded, made-up predictions: fast input for the report's tests.

Every number follows the contract of the metrics table (see ``graticule.data.tables``), and none comes from
``graticule.evaluation``: the report is tested against the contract, not against one producer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from graticule.data.audit_record import AuditedModel, AuditRecord

NAN = float("nan")
REGIONS = ("Africa", "Americas", "East Asia", "Europe", "Southeast Asia", "West Asia")
COUNTRIES = {
    "Africa": ("EGY", "NGA", "ZAF"),
    "Americas": ("ARG", "COL", "MEX"),
    "East Asia": ("CHN", "JPN", "KOR"),
    "Europe": ("ITA", "ROU", "ESP", "GBR"),
    "Southeast Asia": ("IDN", "PHL", "THA"),
    "West Asia": ("SAU", "TUR", "ARE"),
}
LABELS = (
    *("backyard", "bag", "bicycle", "boat", "bus", "candle", "car"),
    *("chair", "cleaning_equipment", "cooking_pot", "dog", "dustbin", "fence", "flag"),
    *("front_door", "hairbrush_comb", "hand_soap", "hat", "house", "jug", "light_fixture"),
    *("light_switch", "lighter", "medicine", "monument", "plate_of_food", "religious_building", "road_sign"),
    *("spices", "stall", "storefront", "stove", "streetlight_lantern", "toothbrush", "toothpaste_toothpowder"),
    *("toy", "tree", "truck", "waste_container", "wheelbarrow"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticAudit:
    metrics: pl.DataFrame
    failures: pl.DataFrame
    dropped: pl.DataFrame
    record: AuditRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the images are."""

    regions: tuple[str, ...]
    labels: tuple[str, ...]
    region_of: np.ndarray
    label_of: np.ndarray

    def each_region(self):
        """Yield no region with all images, then each region with its own."""
        yield None, np.ones(len(self.region_of), bool)
        for place, region in enumerate(self.regions):
            yield region, self.region_of == place


@dataclass(slots=True)
class Rows:
    rows: list[tuple[object, ...]] = field(default_factory=list)

    def add(self, metric, value, *, low=NAN, high=NAN, n=0, method=None, **where):
        place = tuple(where.get(name) for name in ("model", "region", "label", "group"))
        self.rows.append((metric, *place, float(value), float(low), float(high), int(n), method))

    def share(self, metric, hits, n, **where):
        low, high = wilson(hits, n)
        self.add(metric, hits / n if n else NAN, low=low, high=high, n=n, method="wilson", **where)

    def frame(self) -> pl.DataFrame:
        text = dict.fromkeys(("metric", "model", "region", "label", "group"), pl.String)
        number = dict.fromkeys(("value", "low", "high"), pl.Float64)
        return pl.DataFrame(
            self.rows, schema={**text, **number, "n": pl.Int64, "method": pl.String}, orient="row", nan_to_null=False
        )


def wilson(hits, n):
    if n == 0:
        return NAN, NAN
    z = 1.959963984540054
    p = hits / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, middle - half), min(1.0, middle + half)


def make_audit(
    *,
    regions=REGIONS,
    labels=LABELS,
    models=("timm/resnet50", "open_clip/ViT-B-32"),
    per_cell=40,
    seed=0,
    scores=True,
    failures_per_cell=4,
    min_images=10,
    record_changes=None,
) -> SyntheticAudit:
    rng = np.random.default_rng(seed)
    r, k = len(regions), len(labels)
    sizes = rng.poisson(per_cell, (r, k))
    if r > 1 and k > 3:
        sizes[0, 1], sizes[1, 2], sizes[r - 1, 3] = 0, 3, 5
    region_of = np.repeat(np.arange(r), sizes.sum(1))
    label_of = np.concatenate([np.repeat(np.arange(k), sizes[i]) for i in range(r)])
    n = len(label_of)
    out = Rows()
    seen = Seen(regions=regions, labels=labels, region_of=region_of, label_of=label_of)
    count_images(out, seen)
    failures = []
    hits_by_model = {}
    ease = rng.normal(1.7, 0.9, k)
    effect = np.linspace(-0.7, 0.4, r) if r > 1 else np.zeros(1)
    twist = rng.normal(0, 0.25, (r, k))
    twist[0, :: max(1, k // 5)] -= 1.2
    for place, model in enumerate(models):
        chance = 1 / (1 + np.exp(-(ease[label_of] + effect[region_of] + twist[region_of, label_of] + 0.25 * place)))
        right = rng.random(n) < chance
        wrong = (label_of + 1 + rng.geometric(0.45, n)) % k if k > 1 else label_of
        predicted = np.where(right, label_of, wrong)
        right = predicted == label_of
        sure = np.clip(np.where(right, rng.beta(6, 1.6, n), rng.beta(3, 3, n)), 0.02, 0.999)
        given = np.where(right, sure, (1 - sure) * rng.beta(2, 2, n))
        hits_by_model[model] = right
        count_accuracy(out, model, right, seen, min_images=min_images, scores=scores)
        count_partition(out, model, right, seen, min_images=min_images)
        count_confusions(out, model, predicted, seen)
        if scores:
            count_probabilities(out, model, given, seen)
            count_calibration(out, model, right, sure, seen)
        given = np.stack([sure, given]) if scores else np.full((2, n), np.nan)
        failures += pick_failures(model, predicted, given, seen, each=failures_per_cell)
    count_pairs(out, hits_by_model, seen)
    record = make_record(regions, labels, models, n, min_images=min_images, seed=seed, changes=record_changes)
    dropped = pl.DataFrame(
        {
            "path": [f"broken/{i}.jpg" for i in range(7)],
            "reason": ["the file is truncated"] * 4 + ["no region is known"] * 3,
        }
    )
    return SyntheticAudit(metrics=out.frame(), failures=failure_frame(failures), dropped=dropped, record=record)


def make_record(regions, labels, models, n, *, min_images, seed, changes=None):
    countries = {name: COUNTRIES[name] for name in regions if name in COUNTRIES}
    facts = dict(
        by="region",
        models=tuple(
            AuditedModel(name=model, kind="probabilities", n_labels=len(labels), sha256=f"{i:064x}")
            for i, model in enumerate(models)
        ),
        n_images=n + 7,
        n_scored=n,
        min_images=min_images,
        seed=seed,
        scheme="geode",
        boundary_policy="Borders as the United Nations draw them; disputed areas are given to the country in control.",
        photos="Photos of household objects, taken by paid contributors.",
        dropped={"the file is truncated": 4, "no region is known": 3},
        inputs={"images.parquet": "ab" * 32, "predictions.parquet": "cd" * 32},
        region_countries=countries,
        version="0.1.0",
        created_at="2025-01-31T12:00:00+00:00",
    )
    return AuditRecord(**{**facts, **(changes or {})})


def count_images(out, seen):
    regions, labels, region_of, label_of = seen.regions, seen.labels, seen.region_of, seen.label_of
    out.add("n_images", len(label_of), n=len(label_of))
    for i, region in enumerate(regions):
        inside = region_of == i
        out.add("n_images", inside.sum(), region=region, n=inside.sum())
        for j, label in enumerate(labels):
            cell = int((inside & (label_of == j)).sum())
            out.add("n_images", cell, region=region, label=label, n=cell)
    for j, label in enumerate(labels):
        cell = int((label_of == j).sum())
        out.add("n_images", cell, label=label, n=cell)


def count_accuracy(out, model, right, seen, *, min_images, scores):
    regions, labels, region_of, label_of = seen.regions, seen.labels, seen.region_of, seen.label_of
    r, k = len(regions), len(labels)
    n = np.zeros((r, k), int)
    hits = np.zeros((r, k), int)
    np.add.at(n, (region_of, label_of), 1)
    np.add.at(hits, (region_of, label_of), right)
    out.share("accuracy", int(hits.sum()), int(n.sum()), model=model)
    if scores:
        out.share("top5_accuracy", int(hits.sum() + (n.sum() - hits.sum()) // 2), int(n.sum()), model=model)
    balanced = np.nanmean(np.where(n.sum(0) > 0, hits.sum(0) / np.maximum(n.sum(0), 1), np.nan))
    out.add(
        "balanced_accuracy",
        balanced,
        model=model,
        low=balanced - 0.01,
        high=balanced + 0.01,
        n=n.sum(),
        method="stratified bootstrap",
    )
    for j, label in enumerate(labels):
        out.share("accuracy", int(hits[:, j].sum()), int(n[:, j].sum()), model=model, label=label)
    for i, region in enumerate(regions):
        out.share("accuracy", int(hits[i].sum()), int(n[i].sum()), model=model, region=region)
        rest_n, rest_hits = n.sum() - n[i].sum(), hits.sum() - hits[i].sum()
        if rest_n and n[i].sum():
            here, rest = hits[i].sum() / n[i].sum(), rest_hits / rest_n
            pooled = hits.sum() / n.sum()
            spread = math.sqrt(max(pooled * (1 - pooled) * (1 / n[i].sum() + 1 / rest_n), 1e-12))
            p = math.erfc(abs(here - rest) / spread / math.sqrt(2))
            out.add(
                "accuracy_difference",
                here - rest,
                model=model,
                region=region,
                group="rest",
                low=here - rest - 1.96 * spread,
                high=here - rest + 1.96 * spread,
                n=n[i].sum(),
            )
            out.add("accuracy_difference_p", p, model=model, region=region, group="rest", n=n[i].sum())
            out.add("accuracy_difference_p_holm", min(1, p * r), model=model, region=region, group="rest", n=n[i].sum())
        for j, label in enumerate(labels):
            out.share("accuracy", int(hits[i, j]), int(n[i, j]), model=model, region=region, label=label)
            prior = hits[:, j].sum() / max(1, n[:, j].sum())
            value = (hits[i, j] + 10 * prior) / (n[i, j] + 10)
            out.add(
                "shrunken_accuracy",
                value,
                model=model,
                region=region,
                label=label,
                low=max(0, value - 0.1),
                high=min(1, value + 0.1),
                n=n[i, j],
                method="beta-binomial",
            )
    add_extremes(out, model, hits.sum(1), n.sum(1), regions, label=None, min_images=min_images)
    for j, label in enumerate(labels):
        add_extremes(out, model, hits[:, j], n[:, j], regions, label=label, min_images=min_images)


def add_extremes(out, model, hits, n, regions, *, label, min_images):
    kept = [i for i in range(len(regions)) if n[i] >= min_images]
    if len(kept) < 2:
        out.add("worst_gap", NAN, model=model, label=label)
        return
    rate = {i: hits[i] / n[i] for i in kept}
    worst, best = min(kept, key=lambda i: (rate[i], i)), max(kept, key=lambda i: (rate[i], -i))
    gap = rate[best] - rate[worst]
    out.add(
        "worst_gap",
        gap,
        model=model,
        label=label,
        low=max(0, gap - 0.03),
        high=gap + 0.03,
        n=n[kept].sum(),
        method="stratified bootstrap",
    )
    out.add("worst_gap_expected", gap / 4, model=model, label=label, low=0.0, high=gap / 2, n=n[kept].sum())
    out.add("worst_gap_p", 0.004, model=model, label=label, n=n[kept].sum())
    out.share("best_region", int(hits[best]), int(n[best]), model=model, region=regions[best], label=label)
    out.share("worst_region", int(hits[worst]), int(n[worst]), model=model, region=regions[worst], label=label)


def count_partition(out, model, right, seen, *, min_images):
    regions, labels, region_of, label_of = seen.regions, seen.labels, seen.region_of, seen.label_of
    flags = {"pooled": 0, "extremes": 0}
    values = []
    for j, label in enumerate(labels):
        mine = label_of == j
        n = np.bincount(region_of[mine], minlength=len(regions))
        hits = np.bincount(region_of[mine], weights=right[mine], minlength=len(regions))
        kept = n >= min_images
        if kept.sum() < 2:
            continue
        p = hits[kept].sum() / n[kept].sum()
        spread = math.sqrt(max(p * (1 - p), 1e-6) / n[kept].mean())
        z = max(abs(hits[kept] / n[kept] - p)) / spread
        p_either = min(1.0, math.erfc(z / math.sqrt(2)) * kept.sum())
        values.append((label, p_either, n.sum()))
        for reading, width in (("pooled", 1.96), ("extremes", 2.63)):
            low, high = max(0, p - width * spread), min(1, p + width * spread)
            out.add("partition_low", low, model=model, label=label, group=reading, n=n.sum())
            out.add("partition_high", high, model=model, label=label, group=reading, n=n.sum())
            flag = bool((hits[kept] / n[kept] < low).any() or (hits[kept] / n[kept] > high).any())
            flags[reading] += flag
            out.add("partition_flag", float(flag), model=model, label=label, group=reading, n=n.sum())
        for group in ("min", "max", "either"):
            out.add("partition_p", p_either, model=model, label=label, group=group, n=n.sum(), method="exact")
    for label, p, n in values:
        for group in ("holm", "benjamini-hochberg"):
            adjusted = min(1.0, p * (len(values) if group == "holm" else 3))
            out.add("partition_p_adjusted", adjusted, model=model, label=label, group=group, n=n)
    for reading, share in (("pooled", 0.25), ("extremes", 0.05)):
        out.add("partition_flags", flags[reading], model=model, group=reading, n=len(values))
        out.add("partition_flags_expected", share * len(values), model=model, group=reading, n=len(values))


def count_confusions(out, model, predicted, seen):
    labels, label_of = seen.labels, seen.label_of
    k = len(labels)
    for region, inside in seen.each_region():
        cells, counts = np.unique(label_of[inside] * k + predicted[inside], return_counts=True)
        totals = np.bincount(label_of[inside], minlength=k)
        for cell, count in zip(cells, counts, strict=True):
            true, given = divmod(int(cell), k)
            where = {"model": model, "region": region, "label": labels[true], "group": labels[given]}
            out.share("confusion", int(count), int(totals[true]), **where)


def count_probabilities(out, model, given, seen):
    regions, labels, region_of, label_of = seen.regions, seen.labels, seen.region_of, seen.label_of
    for i, region in enumerate(regions):
        for j, label in enumerate(labels):
            values = given[(region_of == i) & (label_of == j)]
            for name, level in (("p05", 5), ("p25", 25), ("p50", 50), ("p75", 75), ("p95", 95)):
                value = np.percentile(values, level) if len(values) else NAN
                out.add("label_probability", value, model=model, region=region, label=label, group=name, n=len(values))


def count_calibration(out, model, right, sure, seen):
    bins = np.minimum((sure * 15).astype(int), 14)
    for region, inside in seen.each_region():
        error = 0.0
        for place in range(15):
            cell = inside & (bins == place)
            n = int(cell.sum())
            group = f"{place / 15:.3f}-{(place + 1) / 15:.3f}"
            out.share("calibration_accuracy", int(right[cell].sum()), n, model=model, region=region, group=group)
            confidence = sure[cell].mean() if n else NAN
            out.add("calibration_confidence", confidence, model=model, region=region, group=group, n=n)
            error += abs(right[cell].sum() - sure[cell].sum())
        n = int(inside.sum())
        out.add("calibration_error", error / n if n else NAN, model=model, region=region, n=n)


def count_pairs(out, hits_by_model, seen):
    for model, right in hits_by_model.items():
        for other, right_other in hits_by_model.items():
            if model == other:
                continue
            for region, inside in seen.each_region():
                n = int(inside.sum())
                difference = right[inside].astype(float) - right_other[inside]
                if not n:
                    continue
                half = 1.96 * difference.std() / math.sqrt(n)
                mean = difference.mean()
                out.add(
                    "paired_difference",
                    mean,
                    model=model,
                    region=region,
                    group=other,
                    low=mean - half,
                    high=mean + half,
                    n=n,
                )
                p = math.erfc(abs(mean) / max(half / 1.96, 1e-9) / math.sqrt(2))
                out.add("mcnemar_p", p, model=model, region=region, group=other, n=n)


def pick_failures(model, predicted, given, seen, *, each):
    """Return the first failures of each cell, random and worst in turn."""
    regions, labels = seen.regions, seen.labels
    wrong = np.flatnonzero(predicted != seen.label_of)
    picked, counts = [], {}
    for index in wrong[np.lexsort((wrong, seen.label_of[wrong], seen.region_of[wrong]))]:
        region, label = regions[seen.region_of[index]], labels[seen.label_of[index]]
        counts[region, label] = counts.get((region, label), 0) + 1
        if counts[region, label] > each:
            continue
        name = f"img{index:06d}"
        path = f"photos/{seen.region_of[index]}/{seen.label_of[index]}/{name}.jpg"
        kind = "random" if counts[region, label] % 2 else "worst"
        sure, own = given[:, index].tolist()
        picked.append((name, path, model, region, label, labels[predicted[index]], sure, own, kind))
    return picked


def failure_frame(rows) -> pl.DataFrame:
    names = ("image_id", "path", "model", "region", "label", "predicted")
    schema = {
        **dict.fromkeys(names, pl.String),
        "predicted_probability": pl.Float64,
        "label_probability": pl.Float64,
        "picked": pl.String,
    }
    return pl.DataFrame(rows, schema=schema, orient="row", nan_to_null=False)

"""What a data set is made of: counts by region, label and country, thin cells, and how even it all is.

GeoDE prints the counts (table 10) and compares its spread over regions with that of GeoYFCC (figure 1); GeoNet shows
how the labels' shares differ between regions (figure 2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from graticule.curation.balance import count_cells
from graticule.curation.evenness import expect_total_variation, find_entropy, find_gini, find_total_variation
from graticule.errors import ConfigError, GeoError, TableError, shown
from graticule.geo.countries import find_codes
from graticule.geo.schemes import load_scheme

PAIRS_LIMIT = 40
"""Values of ``by`` up to which every pair is compared; with more, each is compared with all others."""
SUBREGIONS = "m49_subregions"
CHANCE = "of 200 draws by chance, 2.5 to 97.5 %"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticsConfig:
    """What is counted."""

    by: str = "region"
    min_images: int = 20
    """Cells of region × label below are thin (GeoNet, section 3.2)."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.min_images < 0:
            raise ConfigError(f"min_images is {self.min_images}, expected 0 or more.")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Statistics:
    """Numbers of one data set or several."""

    metrics: pl.DataFrame
    """A `METRICS` table with the column ``dataset`` more. Metrics: images; images_in_country and images_in_subregion
    (named in ``region``); thin_cells, cells; label_entropy, label_gini, region_entropy …; label_total_variation (of
    ``region`` from ``group``, and of ``dataset`` from ``group`` where there is no region)."""
    config: StatisticsConfig

    @property
    def datasets(self) -> tuple[str, ...]:
        """Names of the data sets, in the order in which they were given."""
        return tuple(self.metrics["dataset"].unique(maintain_order=True).to_list())

    def count_cells(self, dataset: str) -> pl.DataFrame:
        """Return the images of each label in each region, as a table of one row a label: label, regions, all."""
        is_cell = pl.col("region").is_not_null() & pl.col("label").is_not_null()
        cells = self.metrics.filter((pl.col("metric") == "images") & (pl.col("dataset") == dataset) & is_cell)
        if cells.is_empty():
            return pl.DataFrame(schema={"label": pl.String, "all": pl.Int64})
        taken = {name: f"{name} (region)" for name in ("label", "all")}
        wide = cells.select("label", pl.col("region").replace(taken), pl.col("value").cast(pl.Int64)).pivot(
            "region", index="label", values="value"
        )
        regions = sorted(name for name in wide.columns if name != "label")
        return wide.select("label", *regions, pl.sum_horizontal(regions).alias("all")).sort("label")


def measure_statistics(datasets: Mapping[str, pl.DataFrame], *, config: StatisticsConfig | None = None) -> Statistics:
    """Return the numbers of one data set or of several side by side.

    Parameters
    ----------
    datasets
        Name → images table.
    config
        What is counted.

    Raises
    ------
    TableError
        A data set has neither labels nor regions nor countries, or a country that is not known.
    """
    settings = config or StatisticsConfig()
    rng = np.random.default_rng(settings.seed)
    rows: list[dict[str, object]] = []
    for name, images in datasets.items():
        rows += [{"dataset": name, **row} for row in _measure_one(images, settings, name=name, rng=rng)]
    rows += _compare(datasets, rng=rng)
    schema = {
        "metric": pl.String(),
        "dataset": pl.String(),
        "region": pl.String(),
        "label": pl.String(),
        "group": pl.String(),
        "value": pl.Float64(),
        "low": pl.Float64(),
        "high": pl.Float64(),
        "n": pl.Int64(),
        "method": pl.String(),
    }
    return Statistics(metrics=pl.DataFrame(rows, schema=schema), config=settings)


def _measure_one(
    images: pl.DataFrame, config: StatisticsConfig, *, name: str, rng: np.random.Generator
) -> list[dict[str, object]]:
    known = [column for column in ("label", config.by, "country") if column in images.columns]
    if not known:
        raise TableError(
            f"{name}: no column 'label', '{config.by}' or 'country', expected at least one of them; the columns are "
            f"{shown(images.columns, limit=12)}."
        )
    rows = images.select(
        (pl.col(column).cast(pl.String) if column in images.columns else pl.lit(None, dtype=pl.String)).alias(target)
        for target, column in (("region", config.by), ("label", "label"))
    )
    found: list[dict[str, object]] = [_row("images", images.height, n=images.height, method="count")]
    for column in ("region", "label"):
        counts = rows[column].drop_nulls().value_counts().sort("count", column, descending=[True, False])
        found += [
            _row("images", count, n=count, method="count", **{column: value}) for value, count in counts.iter_rows()
        ]
        found += _measure_spread(counts["count"], column, n=images.height)
    cells = count_cells(rows).sort("region", "label")
    found += [
        _row("images", n, n=n, method="count", region=region, label=label) for region, label, n in cells.iter_rows()
    ]
    if cells.height:
        thin = int((cells["n"] < config.min_images).sum())
        method = f"fewer than {config.min_images} images"
        found += [
            _row("cells", cells.height, n=images.height),
            _row("thin_cells", thin, n=images.height, method=method),
        ]
        found += _compare_regions(cells, rng=rng)
    return found + _measure_countries(images, name=name)


def _measure_spread(counts: pl.Series, what: str, *, n: int, region: str | None = None) -> list[dict[str, object]]:
    values = counts.cast(pl.Int64).to_numpy()
    if not len(values):
        return []
    return [
        _row(f"{what}_entropy", find_entropy(values), n=n, method="over its largest possible", region=region),
        _row(f"{what}_gini", find_gini(values), n=n, method="Gini coefficient of the counts", region=region),
    ]


def _compare_regions(cells: pl.DataFrame, *, rng: np.random.Generator) -> list[dict[str, object]]:
    """Return how even each region's labels are, and how far the regions' labels lie apart."""
    # Cells are complete and sorted by region, then label, so that every region has the same labels in the same order.
    counts = {
        str(name): group["n"].cast(pl.Int64).to_numpy()
        for (name,), group in cells.group_by(["region"], maintain_order=True)
    }
    regions = list(counts)
    found: list[dict[str, object]] = []
    for name in regions:
        found += _measure_spread(pl.Series(counts[name]), "label", n=int(counts[name].sum()), region=name)
    if len(regions) <= PAIRS_LIMIT:
        pairs = [(first, second, counts[first], counts[second]) for first, second in combinations(regions, 2)]
    else:
        whole = np.sum(list(counts.values()), axis=0)
        pairs = [(name, "all others", counts[name], whole - counts[name]) for name in regions]
    for first, second, here, there in pairs:
        found.append(_distance(here, there, rng=rng, region=first, group=second))
    return found


def _compare(datasets: Mapping[str, pl.DataFrame], *, rng: np.random.Generator) -> list[dict[str, object]]:
    """Return how far the labels of each pair of data sets lie apart."""
    spreads = {
        name: images["label"].cast(pl.String).drop_nulls().value_counts(name="n")
        for name, images in datasets.items()
        if "label" in images.columns
    }
    found: list[dict[str, object]] = []
    for first, second in combinations(spreads, 2):
        both = (
            spreads[first].join(spreads[second], on="label", how="full", coalesce=True, suffix="_second").fill_null(0)
        )
        here, there = (both[name].cast(pl.Int64).to_numpy() for name in ("n", "n_second"))
        found.append({"dataset": first, **_distance(here, there, rng=rng, region=None, group=second)})
    return found


def _distance(
    here: np.ndarray, there: np.ndarray, *, rng: np.random.Generator, region: str | None, group: str
) -> dict[str, object]:
    low, high = expect_total_variation(here, there, rng=rng)
    row = _row(
        "label_total_variation",
        find_total_variation(here, there),
        n=int(here.sum() + there.sum()),
        method=f"range {CHANCE}",
        region=region,
    )
    return {**row, "group": group, "low": float(low), "high": float(high)}


def _measure_countries(images: pl.DataFrame, *, name: str) -> list[dict[str, object]]:
    if "country" not in images.columns or images["country"].null_count() == images.height:
        return []
    text = images["country"].cast(pl.String).str.strip_chars()
    try:
        codes = find_codes(text.set(text == "", None), where=f"{name}: column 'country'")
    except GeoError as error:
        raise TableError(str(error)) from error
    counts = codes.drop_nulls().alias("code").value_counts().sort("count", "code", descending=[True, False])
    found = [
        _row("images_in_country", n, n=n, method="count", region=code)
        for code, n in counts.select("code", "count").iter_rows()
    ]
    subregions = load_scheme(SUBREGIONS).regions_of(codes).drop_nulls().alias("place")
    parts = subregions.value_counts().sort("count", "place", descending=[True, False])
    found += [_row("images_in_subregion", n, n=n, method=SUBREGIONS, region=place) for place, n in parts.iter_rows()]
    return found + _measure_spread(counts["count"], "country", n=images.height)


def _row(
    metric: str, value: float | int, *, n: int, method: str = "", region: str | None = None, label: str | None = None
) -> dict[str, object]:
    return {"metric": metric, "region": region, "label": label, "value": float(value), "n": n, "method": method}


def describe_statistics(statistics: Statistics) -> Sequence[str]:
    """Return the headline of each data set in sentences."""
    sentences: list[str] = []
    for dataset in statistics.datasets:
        found = statistics.metrics.filter(dataset=dataset)
        whole = found.filter(pl.col("region").is_null() & pl.col("label").is_null())
        value = dict(whole.filter(pl.col("metric") != "label_total_variation").select("metric", "value").iter_rows())
        n_of = {
            what: found.filter(metric="images").filter(
                pl.col(what).is_not_null() & pl.col("label" if what == "region" else "region").is_null()
            ).height
            for what in ("region", "label")
        }  # fmt: skip
        n_countries = found.filter(metric="images_in_country").height
        parts = [f"{value['images']:.0f} images", f"{n_of['label']} labels", f"{n_of['region']} regions"]
        sentences.append(f"{dataset}: {', '.join(parts)}, {n_countries} countries.")
        if "thin_cells" in value:
            sentences.append(
                f"  {value['thin_cells']:.0f} of {value['cells']:.0f} cells of region × label have fewer than "
                f"{statistics.config.min_images} images."
            )
        even = [
            f"{what}s {value[f'{what}_entropy']:.3f} (Gini {value[f'{what}_gini']:.3f})"
            for what in ("label", "region", "country")
            if f"{what}_entropy" in value
        ]
        sentences.append(f"  Evenness, 1 at best: {', '.join(even)}.".replace("countrys", "countries"))
        apart = found.filter(metric="label_total_variation").sort("value", descending=True, nulls_last=True)
        regions = apart.filter(pl.col("region").is_not_null())
        if regions.height:
            row = regions.row(0, named=True)
            sentences.append(
                f"  Labels differ most between {row['region']} and {row['group']}: total variation {row['value']:.3f} "
                f"(by chance {row['low']:.3f} to {row['high']:.3f})."
            )
        for row in apart.filter(pl.col("region").is_null()).iter_rows(named=True):
            sentences.append(f"  Labels against {row['group']}: total variation {row['value']:.3f}.")
    return sentences

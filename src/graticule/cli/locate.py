"""``graticule locate``: GPS or country names → country and region of each image."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from graticule.data.locate import LocateResult


@click.command(context_settings={"show_default": True})
@click.argument("images", type=click.Path(path_type=Path))
@click.option(
    "--scheme",
    default="geode",
    metavar="NAME|FILE",
    help="geode, geode_strict, geonet, m49, m49_subregions, world_bank_income, or your own YAML or CSV.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Table to write.  [default: IMAGES itself, if it is Parquet; else beside it, as .parquet]",
)
@click.option(
    "--policy", default="de-facto", metavar="NAME|FILE", help="Disputed places: de-facto, united-nations, or a YAML."
)
@click.option(
    "--override",
    "overrides",
    multiple=True,
    metavar="PLACE=COUNTRY",
    help="Give a disputed place or a country to another country, as in crimea=UKR or XKX=SRB. May be repeated.",
)
@click.option(
    "--assign",
    multiple=True,
    metavar="COUNTRY=REGION",
    help="Move a country to another region, as in USA='North America'. May be repeated.",
)
@click.option("--overwrite", is_flag=True, help="Replace countries and regions that the table already has.")
def locate(
    *,
    images: Path,
    scheme: str,
    output: Path | None,
    policy: str,
    overrides: tuple[str, ...],
    assign: tuple[str, ...],
    overwrite: bool,
) -> None:
    """Fill in the country and the region of each image in IMAGES.

    IMAGES is an images table (Parquet, CSV, JSON Lines). A country that it names, in any common spelling, is kept and
    written as ISO alpha-3; where it names none, latitude and longitude tell, offline. The scheme says which region a
    country belongs to. What disagrees is counted and printed; images without a place stay, with an empty region.

    \b
    In place, with GeoDE's six regions:
      graticule locate images.parquet --scheme geode
    By income group, into another file:
      graticule locate images.parquet --scheme world_bank_income -o by_income.parquet
    With regions of your own (a CSV with the columns country and region):
      graticule locate images.csv --scheme my_regions.csv -o images.parquet
    With another policy on disputed places, or your own decision on one:
      graticule locate images.parquet --policy united-nations
      graticule locate images.parquet --override crimea=UKR --assign USA='North America'
    """
    from graticule.data.locate_files import locate_file

    result, place = locate_file(
        images, output, scheme=scheme, policy=policy, overrides=overrides, assign=assign, overwrite=overwrite
    )
    for line in _describe(result):
        click.echo(line)
    click.echo(f"{'Replaced' if place == images else 'Wrote'} {place}")


def _describe(result: LocateResult) -> list[str]:
    counts = result.counts
    placed = counts.n_images - counts.n_without_place
    lines = [
        f"{placed} of {counts.n_images} images have a place: {counts.n_named} by the country that the table names, "
        f"{counts.n_from_gps} by coordinates, {counts.n_regions_kept} by the region that the table names.",
        f"Regions ({result.scheme.name}): "
        + (", ".join(f"{region} {count}" for region, count in result.region_counts.items()) or "none"),
    ]
    notes = {
        "n_without_place": "without any place; they stay, with an empty region",
        "n_at_sea": "with coordinates in no country (at sea, or at a pole)",
        "n_null_island": "at 0° N 0° E, where cameras without a fix put them; those coordinates were not used",
        "n_half": "with a latitude or a longitude only",
        "n_country_conflicts": "whose coordinates lie in another country than the table names; see --overwrite",
        "n_region_conflicts": "whose region in the table is not the scheme's for their country; see --overwrite",
        "n_unassigned": "from countries that the scheme puts in no region",
        "n_extended": "from countries that the scheme's source does not cover, added to the nearest region",
    }
    lines += [f"  {count} {text}" for name, text in notes.items() if (count := getattr(counts, name))]
    return [
        *lines,
        f"Disputed places: {result.policy.name}" + "".join(f"; {change}" for change in result.policy.changes),
    ]

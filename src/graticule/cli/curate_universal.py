"""``graticule curate universal``: labels that two regions share, and labels that each has alone."""

from __future__ import annotations

from pathlib import Path

import click

from graticule.cli.options import MANY, many_values


@click.command(cls=many_values("--unknown-in"))
@click.argument("images", metavar="IMAGES", type=click.Path(path_type=Path))
@click.option("--source", required=True, metavar="REGION", help="Region whose labels are known.")
@click.option("--target", required=True, metavar="REGION", help="Region that a model is adapted to.")
@click.option("--top", default=200, show_default=True, metavar="N", help="Labels of each, those with most images.")
@click.option("--by", default="region", show_default=True, metavar="COLUMN", help="Column that names the regions.")
@click.option(
    "--unknown-in",
    type=MANY,
    multiple=True,
    metavar="SPLIT…",
    help="Splits in which the target's private labels get one index.  [default: test]",
)
@click.option("--layout", metavar="PATTERN", help="If IMAGES is a folder: what its folders mean.")
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("universal.parquet"), show_default=True)
def universal(
    *,
    images: Path,
    source: str,
    target: str,
    top: int,
    by: str,
    unknown_in: tuple[str, ...],
    layout: str | None,
    output: Path,
) -> None:
    """Take the labels with most images in two regions; those in both are shared, the others private.

    OUTPUT has two more columns: label_index (shared labels first, then the source's, then the target's; the target's
    private labels are one number in the test split) and label_kind. OUTPUT.labels.csv lists the labels.

    \b
    GeoUniDA's way, on images that have splits:
      graticule curate universal split.parquet --source USA --target Asia --top 200 -o universal.parquet
    Between two countries:
      graticule curate universal split.parquet --by country --source DEU --target ITA --top 20 -o de_it.parquet
    """
    from graticule.curation.universal import UniversalConfig
    from graticule.curation.universal_files import universal_file

    config = UniversalConfig(source=source, target=target, top=top, by=by, unknown_in=unknown_in or ("test",))
    for sentence in universal_file(images, output, config=config, layout=layout):
        click.echo(sentence)

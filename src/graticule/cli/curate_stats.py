"""``graticule curate stats``: what a data set is made of, or several side by side."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("sources", metavar="IMAGES…", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--by", default="region", show_default=True, metavar="COLUMN", help="What is compared: region, country …")
@click.option("--each", metavar="COLUMN", help="Take each value of this column (dataset, split) as a data set.")
@click.option("--min-images", default=20, show_default=True, metavar="N", help="Cells with fewer are thin.")
@click.option("--layout", metavar="PATTERN", help="If IMAGES is a folder: what its folders mean.")
@click.option("--title", help="Title of the page.")
@click.option("--seed", default=0, show_default=True, help="Seed of the draws by chance.")
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("stats"), show_default=True)
def stats(
    *,
    sources: tuple[Path, ...],
    by: str,
    each: str | None,
    min_images: int,
    layout: str | None,
    title: str | None,
    seed: int,
    output: Path,
) -> None:
    """Count images by region, label and country, and say how even they are.

    The result is a folder: index.html (maps, counts, thin cells, evenness; one page that needs no network), counts.csv
    (labels by regions), metrics.parquet and metrics.csv (every number), figures/ (SVG and PNG).

    \b
      graticule curate stats images.parquet -o stats/
      graticule curate stats geode.parquet geoyfcc.parquet dollarstreet.csv -o comparison/
      graticule curate stats split.parquet --each split --min-images 30 -o stats/
    """
    from graticule.cli.curate_stats_steps import StatsRequest, run_stats

    request = StatsRequest(
        sources=sources,
        by=by,
        each=each,
        min_images=min_images,
        layout=layout,
        title=title,
        seed=seed,
        output=output,
    )
    for sentence in run_stats(request):
        click.echo(sentence)

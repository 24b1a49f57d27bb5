"""``graticule annotate aggregate``: from answers to labels."""

from __future__ import annotations

from pathlib import Path

import click

from graticule.annotation.aggregation import AGGREGATORS
from graticule.annotation.chooser import AUTO
from graticule.cli.options import MANY, many_values


@click.command(cls=many_values("--set"))
@click.argument("source", metavar="ANSWERS", type=click.Path(path_type=Path))
@click.option(
    "--method",
    default=AUTO,
    show_default=True,
    metavar="|".join([AUTO, *AGGREGATORS]),
    help="How answers become labels; auto takes the one that finds most of the right answers in --gold.",
)
@click.option("--gold", type=click.Path(path_type=Path), metavar="FILE", help="Right answers, taken as they are.")
@click.option(
    "--settled", type=click.Path(path_type=Path), metavar="FILE", help="Labels of images that were not asked."
)
@click.option("--min-probability", type=float, metavar="P", help="Accept labels from this on.  [default: the method's]")
@click.option("--set", "options", type=MANY, multiple=True, metavar="NAME=VALUE…", help="Options of the method.")
@click.option("-o", "--output", type=click.Path(path_type=Path), default="labels.parquet", show_default=True)
def aggregate(
    *,
    source: Path,
    method: str,
    gold: Path | None,
    settled: Path | None,
    min_probability: float | None,
    options: tuple[str, ...],
    output: Path,
) -> None:
    """Turn people's answers into labels with probabilities, and say how good each worker is.

    Writes the accepted labels, OUTPUT.selections.parquet (every label that was asked about or chosen, with how often)
    and OUTPUT.workers.parquet (each worker's skill).

    \b
      graticule annotate aggregate answers.parquet --gold gold.parquet -o labels.parquet
      graticule annotate aggregate answers.parquet --method dawid_skene -o labels.parquet
      graticule annotate aggregate answers.csv --method glad --gold gold.csv -o labels.parquet
      graticule annotate aggregate classify.parquet --method classify --settled classify.settled.parquet
      graticule annotate aggregate answers.parquet --method dawid_skene --set smoothing=0.1 max_iterations=500
    """
    from graticule.cli.annotate_labels import AggregateRequest, make_labels

    request = AggregateRequest(
        source=source,
        method=method,
        gold=gold,
        settled=settled,
        min_probability=min_probability,
        options=options,
        output=output,
    )
    for sentence in make_labels(request):
        click.echo(sentence)

"""``graticule annotate import`` and ``export``: answers and labels from and to other tools."""

from __future__ import annotations

from pathlib import Path

import click

FORMAT_HELP = "parquet, csv, json_lines, label_studio or real.  [default: what the file's name says]"


@click.command("import")
@click.argument("source", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--format", "name", metavar="NAME", help=FORMAT_HELP)
@click.option("--images", type=click.Path(path_type=Path), metavar="FILE", help="real: the images in the file's order.")
@click.option("-o", "--output", type=click.Path(path_type=Path), default="answers.parquet", show_default=True)
def import_answers(*, source: Path, name: str | None, images: Path | None, output: Path) -> None:
    """Read answers (or ReaL-style labels) from another tool into a table.

    \b
      graticule annotate import answers.csv -o answers.parquet
      graticule annotate import project.json --format label_studio -o answers.parquet
      graticule annotate import real.json --format real -o labels.parquet
    """
    from graticule.cli.annotate_files import import_table

    for sentence in import_table(source, output, name=name, images=images):
        click.echo(sentence)


@click.command("export")
@click.argument("source", metavar="TABLE", type=click.Path(path_type=Path))
@click.option("--format", "name", metavar="NAME", help=FORMAT_HELP)
@click.option(
    "--images",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="real: the images in the order to write; label_studio: where they are.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True)
def export_answers(*, source: Path, name: str | None, images: Path | None, output: Path) -> None:
    """Write answers (or labels, as ReaL-style JSON) for another tool.

    \b
      graticule annotate export answers.parquet -o answers.csv
      graticule annotate export answers.parquet --format label_studio --images images.parquet -o project.json
      graticule annotate export labels.parquet --format real -o real.json
    """
    from graticule.cli.annotate_files import export_table

    for sentence in export_table(source, output, name=name, images=images):
        click.echo(sentence)

"""``graticule audit``: from photos and a model, or from tables, to the page that says where the model fails."""

from __future__ import annotations

from pathlib import Path

import click

from graticule.cli.label_options import add_label_options
from graticule.cli.options import MANY, many_values

GATE_FAILED = 1


@click.command(cls=many_values("--predictions", "--model"))
@click.argument("source", metavar="SOURCE")
@click.option("--predictions", type=MANY, multiple=True, metavar="FILE…", help="Predictions, one file a model.")
@click.option("--model", "models", type=MANY, multiple=True, metavar="NAME…", help="Models to run on the photos.")
@click.option("--layout", metavar="PATTERN", help="What the folders mean, as in '{region}/{label}'.")
@click.option(
    "--labels", metavar="FILE", help="labels.yaml: what a model's classes or prompts are; or what people accept."
)
@click.option(
    "--superclasses",
    metavar="FILE",
    help="With --labels of people: groups of labels, for confusions within and between them (label, superclass).",
)
@add_label_options
@click.option("--train", "trains", multiple=True, metavar="QUERY", help="Train a linear probe on these images first.")
@click.option("--group", metavar="COLUMN", help="With --train: images that share a value stay in one fold.")
@click.option(
    "--by", default="region", show_default=True, metavar="COLUMN", help="Column to compare: region, country …"
)
@click.option("--scheme", metavar="NAME|FILE", help="Regions of the world.  [default: as located, else geode]")
@click.option("--min-images", type=click.IntRange(1), metavar="N", help="Cells below are greyed, never best or worst.")
@click.option("--fail-if", "fail_if", metavar="RULE", help="Exit with 1 when it holds, as in 'worst_gap > 0.05'.")
@click.option("--partitions", type=click.IntRange(1), help="Random partitions of the partition test.  [default: 500]")
@click.option("--bootstraps", type=click.IntRange(1), help="Bootstrap draws of the intervals.  [default: 1000]")
@click.option("--seed", default=0, show_default=True, help="Seed of every draw.")
@click.option("--weights", metavar="FILE|package|hub", help="With --model: where its weights come from.")
@click.option("--engine", default="auto", show_default=True, help="With --model: what runs it.")
@click.option("--title", help="Title of the page.")
@click.option("--photos-note", "photos_note", default="", help="A sentence about the photos, printed on the page.")
@click.option("--rendered", is_flag=True, help="Say loudly on the page that the photos are rendered scenes.")
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("report"), show_default=True)
@click.pass_context
def audit(ctx: click.Context, **options: object) -> None:
    """Say where in the world a model fails, how sure that is, and what the failures look like.

    SOURCE is a folder or archive of photos, or a table of images (Parquet, CSV, JSON Lines) with a label and a place in
    each row. The result is a folder: index.html (one page that needs no network), metrics.parquet and metrics.csv
    (every number on it), figures/ (SVG and PNG).

    \b
    Tables alone; no photo is opened unless the page can show it:
      graticule audit images.csv --predictions top1.csv --by country
      graticule audit images.parquet --predictions a.parquet b.parquet --by region -o report/
    Photos and a model, all of it at once:
      graticule audit PHOTOS --layout '{region}/{label}' --model timm/tf_efficientnet_lite0 --labels labels.yaml
    Photos whose labels the model does not know: a linear probe on its features:
      graticule audit PHOTOS --layout '{region}/{label}' --model timm/tf_efficientnet_lite0 \\
        --train 'region == "Europe"'
    A gate for a CI: exit code 1 when the rule holds:
      graticule audit images.csv --predictions top1.csv --by country --fail-if 'worst_gap > 0.05'
    """
    from graticule.cli.audit_steps import AuditRequest, run_audit

    request = AuditRequest(**options)  # pyright: ignore[reportArgumentType]
    outcome = run_audit(request)
    for sentence in outcome.headline:
        click.echo(sentence)
    click.echo(f"\nPage:    {outcome.page}\nNumbers: {request.output / 'metrics.csv'}")
    if outcome.broken_rules:
        for rule in outcome.broken_rules:
            click.echo(f"Failed: {rule}", err=True)
        ctx.exit(GATE_FAILED)

"""``graticule annotate tasks``: what workers are to be shown."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("source", metavar="CANDIDATES", type=click.Path(path_type=Path))
@click.option("--kind", required=True, metavar="contains|classify", help="Grids of images, or labels of an image.")
@click.option("--overlap", "n_workers", default=9, show_default=True, metavar="N", help="Workers who answer each task.")
@click.option("--controls", type=click.Path(path_type=Path), metavar="FILE", help="Questions of known answer.")
@click.option("--glossary", type=click.Path(path_type=Path), metavar="FILE", help="Table: label, name, description …")
@click.option("--distance", default="auto", show_default=True, metavar="NAME", help="wordnet, none or file:PAIRS.csv.")
@click.option("--grid", "grid_size", default=48, show_default=True, metavar="N", help="contains: images in a grid.")
@click.option("--n-controls", default=6, show_default=True, metavar="N", help="contains: controls in a grid.")
@click.option("--min-controls", default=5, show_default=True, metavar="N", help="contains: fewer are an error.")
@click.option(
    "--dominant",
    "dominant_frequency",
    default=0.5,
    show_default=True,
    help="classify: skip an image whose given label this share selected …",
)
@click.option("--weak", "weak_frequency", default=0.125, show_default=True, help="… and no other label more than this.")
@click.option("--seed", default=0, show_default=True, help="Fixes grids and orders.")
@click.option("-o", "--output", type=click.Path(path_type=Path), default="tasks.parquet", show_default=True)
def tasks(
    *,
    source: Path,
    kind: str,
    n_workers: int,
    controls: Path | None,
    glossary: Path | None,
    distance: str,
    grid_size: int,
    n_controls: int,
    min_controls: int,
    dominant_frequency: float,
    weak_frequency: float,
    seed: int,
    output: Path,
) -> None:
    """Cut candidates into tasks for workers.

    CONTAINS: grids of 48 images with one query label, and controls hidden among them. CLASSIFY: the candidate labels of
    one image; images whose given label is clearly dominant are skipped. The controls stand in OUTPUT.controls.parquet,
    what is not asked in OUTPUT.skipped.parquet, and the labels of skipped images in OUTPUT.settled.parquet.

    \b
      graticule annotate tasks candidates.parquet --kind contains --overlap 9 --seed 0 -o tasks.parquet
      graticule annotate tasks candidates.parquet --kind contains --controls controls.csv --glossary labels.csv
      graticule annotate tasks pruned.parquet --kind classify -o classify.parquet
    """
    from graticule.annotation.tasks.task import TaskConfig
    from graticule.cli.annotate_steps import TasksRequest, make_tasks

    config = TaskConfig(
        n_workers=n_workers,
        grid_size=grid_size,
        n_controls=n_controls,
        min_controls=min_controls,
        dominant_frequency=dominant_frequency,
        weak_frequency=weak_frequency,
    )
    request = TasksRequest(
        source=source,
        kind=kind,
        controls=controls,
        glossary=glossary,
        distance=distance,
        config=config,
        seed=seed,
        output=output,
    )
    for sentence in make_tasks(request):
        click.echo(sentence)

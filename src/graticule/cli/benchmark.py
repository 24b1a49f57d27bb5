"""``graticule benchmark``: a TOML file of data sets, algorithms and seeds → tables with intervals."""

from __future__ import annotations

from pathlib import Path

import click

SOME_FAILED = 1


@click.command(context_settings={"show_default": True})
@click.argument("plan", metavar="GRID.TOML", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), default=Path("results"), help="Folder; goes on from it."
)
@click.option("--processes", type=click.INT, help="Runs at once, each on one thread.  [default: one a core]")
@click.pass_context
def benchmark(ctx: click.Context, *, plan: Path, output: Path, processes: int | None) -> None:
    """Run algorithms over data sets, tasks and seeds, and write tables of what adapting gains.

    The folder gets tables.md, tables.csv, tables.tex and tables.html (mean and standard error over seeds, the best and
    those not significantly worse marked), runs.parquet (every number) and runs/. A benchmark that was stopped goes on
    when the same command is typed again. A run that fails is named, and the others go on; the exit code is then 1.

    \b
      graticule benchmark grid.toml -o results/

    \b
    A grid.toml, whose paths are relative to it:
      algorithms = ["source_only", "dann", "mcc", "target_supervised"]
      seeds = 5
      trainer = { n_steps = 1000 }
      options = { mcc = { temperature = 2.5 } }
      [[datasets]]
      name = "signs"
      images = "images.parquet"
      backbones = { lite0 = "features.parquet" }
      by = "region"                 # all ordered pairs; or tasks = [{ source = "…", target = "…" }]
      train = 'split == "train"'    # optional, with test: what is adapted to and what is measured on
      test = 'split == "test"'
    """
    from graticule.cli.adapt import check_installed

    check_installed()
    from graticule.adaptation.grid.benchmark import run_benchmark
    from graticule.adaptation.grid.writers.markdown import write_markdown
    from graticule.models.processors import count_workers

    found = run_benchmark(plan, output, n_processes=count_workers() if processes is None else processes)
    click.echo(write_markdown([table for table in found.tables if table.key.endswith(("-accuracy", "-h_score"))]))
    click.echo(f"Tables: {found.folder / 'tables.md'} (and .csv, .tex, .html)")
    for one in found.failed:
        click.echo(f"Failed: {one.cell.folder}: {one.problem}", err=True)
    if found.failed:
        ctx.exit(SOME_FAILED)

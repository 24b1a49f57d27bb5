"""``graticule annotate quality``: which answers can be trusted."""

from __future__ import annotations

from pathlib import Path

import click

from graticule.cli.options import MANY, many_values


@click.command(cls=many_values("--check"))
@click.argument("source", metavar="ANSWERS", type=click.Path(path_type=Path))
@click.option("--controls", type=click.Path(path_type=Path), metavar="FILE", help="Questions of known answer.")
@click.option("--tasks", type=click.Path(path_type=Path), metavar="FILE", help="The tasks that workers were given.")
@click.option("--check", "checks", type=MANY, multiple=True, metavar="NAME…", help="Checks to run.  [default: all]")
@click.option("--min-accuracy", "min_worker_accuracy", default=0.7, show_default=True, help="On controls, of a worker.")
@click.option("--min-task-accuracy", default=0.5, show_default=True, help="On controls, of an answered task.")
@click.option("--min-task-controls", default=3, show_default=True, help="Tasks with fewer controls are not judged.")
@click.option("--min-seconds", "min_elapsed_s", default=0.0, show_default=True, help="Faster answers are left out …")
@click.option(
    "--min-share", "min_elapsed_share", default=0.2, show_default=True, help="… and faster than this × median."
)
@click.option("--confidence", default=0.95, show_default=True, help="That a worker is below before being left out.")
@click.option("-o", "--output", type=click.Path(path_type=Path), default="kept.parquet", show_default=True)
def quality(
    *,
    source: Path,
    controls: Path | None,
    tasks: Path | None,
    checks: tuple[str, ...],
    min_worker_accuracy: float,
    min_task_accuracy: float,
    min_task_controls: int,
    min_elapsed_s: float,
    min_elapsed_share: float,
    confidence: float,
    output: Path,
) -> None:
    """Keep the answers that can be trusted, and say why the others cannot.

    Writes the kept answers, OUTPUT.rejects.parquet (a row an answer that was left out, with the check and the reason)
    and agreement.parquet beside it (Krippendorff's alpha and Fleiss' kappa, overall, by label and by worker; every
    worker's accuracy on controls).

    \b
      graticule annotate quality answers.parquet --controls controls.parquet -o kept.parquet
      graticule annotate quality answers.csv --controls controls.csv --min-accuracy 0.8
      graticule annotate quality answers.jsonl --check duplicates invalid main_not_selected
    """
    from graticule.annotation.quality.check import QualityConfig
    from graticule.cli.annotate_answers import QualityRequest, check_quality

    config = QualityConfig(
        min_worker_accuracy=min_worker_accuracy,
        min_task_accuracy=min_task_accuracy,
        min_task_controls=min_task_controls,
        min_elapsed_s=min_elapsed_s,
        min_elapsed_share=min_elapsed_share,
        confidence=confidence,
    )
    request = QualityRequest(source=source, controls=controls, tasks=tasks, checks=checks, config=config, output=output)
    for sentence in check_quality(request):
        click.echo(sentence)

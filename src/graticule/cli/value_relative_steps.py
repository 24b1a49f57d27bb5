"""The steps of ``graticule value relative``: the one place that joins probes, curves and the page."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl

from graticule.cli.value_files import note_axes, read_pair, write_run
from graticule.errors import TableError
from graticule.evaluation.value.compare import keep_shared
from graticule.evaluation.value.relative import RelativeConfig, measure_relative_value
from graticule.evaluation.value.tell_relative import describe_relative, make_relative_rows
from graticule.models.probe_space import ProbeSpaceConfig, make_probe_space
from graticule.report.value.page import Section
from graticule.report.value.relative import draw_relative


@dataclass(frozen=True, slots=True, kw_only=True)
class RelativeRequest:
    """What was typed after ``value relative``."""

    features: tuple[Path, Path]
    images: tuple[Path, ...]
    group: str | None
    n_images: int
    n_seeds: int
    inverse_penalty: float
    n_axes: int
    seed: int
    output: Path


def run_relative(request: RelativeRequest) -> list[str]:
    """Write the folder of relative values, and return what to print.

    Raises
    ------
    GraticuleError
        A table cannot be read, lacks labels, shares fewer than two with the other, or is smaller than the baseline;
        nothing is written.
    """
    config = RelativeConfig(n_images=request.n_images, n_seeds=request.n_seeds)
    probes = ProbeSpaceConfig(inverse_penalty=request.inverse_penalty, n_axes=request.n_axes)
    both = read_pair(request.features, request.images, by=None, group=request.group)
    pair = keep_shared(both)
    if len(pair.images.labels) < 2:
        raise TableError(
            f"{pair.names[0]} and {pair.names[1]} share the label {''.join(pair.images.labels)!r} only; expected "
            "at least two to tell apart. Take data sets with more labels in common."
        )
    space = make_probe_space(
        pair.images.vectors, pair.images.targets, n_labels=len(pair.images.labels), config=probes, seed=request.seed
    )
    frames: list[pl.DataFrame] = []
    headline: list[str] = []
    for is_other, names in ((pair.is_second, pair.names), (~pair.is_second, (pair.names[1], pair.names[0]))):
        found = measure_relative_value(
            space, is_other, pair.images.groups, config=config, seed=request.seed, names=names, shown=True
        )
        frames.append(make_relative_rows(found, names=names))
        headline.append(describe_relative(found, names=names))
    metrics = pl.concat(frames)
    figure = draw_relative(metrics, pair.names)
    n_left = len(both.images.labels) - len(pair.images.labels)
    notes = [*pair.images.notes, note_axes(space.kept_share)]
    if n_left:
        notes.append(f"{n_left} of {len(both.images.labels)} labels are in one data set only and were left out.")
    section = Section(
        key="curves",
        title="Accuracy by number of images",
        question="How many images of the other data set does it take?",
        figures=(figure,) if figure is not None else (),
    )
    return write_run(
        request.output,
        metrics,
        [section],
        command="relative",
        config=asdict(config) | asdict(probes) | {"group": request.group},
        inputs=[*request.features, *request.images],
        seed=request.seed,
        title=f"What an image of {pair.names[0]} and of {pair.names[1]} is worth",
        headline=headline,
        notes=notes,
    )

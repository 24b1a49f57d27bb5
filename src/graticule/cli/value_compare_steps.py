"""The steps of ``graticule value compare``: the one place that joins features, tests, t-SNE and the page."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import polars as pl

from graticule.cli.value_files import read_pair, write_run
from graticule.errors import MissingExtraError, unknown_choice
from graticule.evaluation.shift.distances import DISTANCES
from graticule.evaluation.shift.permutation import PermutationConfig
from graticule.evaluation.value.compare import FEWEST, CompareConfig, Pair, compare_sets
from graticule.evaluation.value.coverage import draw_rows
from graticule.evaluation.value.tell_compare import describe_comparison, make_comparison_rows
from graticule.models.projection import project_features
from graticule.report.value.comparison import draw_coverage, draw_label_distances, draw_planes
from graticule.report.value.page import Section

MOST_IN_PLANE = 200
"""Images of each data set in one picture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareRequest:
    """What was typed after ``value compare``."""

    features: tuple[Path, Path]
    images: tuple[Path, ...]
    by: str | None
    group: str | None
    n_folds: int
    neighbours: int
    distance: str
    n_permutations: int
    n_planes: int
    seed: int
    output: Path


def run_compare(request: CompareRequest) -> list[str]:
    """Write the folder of a comparison, and return what to print.

    Raises
    ------
    GraticuleError
        A table cannot be read, lacks labels, or shares none with the other; nothing is written.
    """
    if request.distance not in DISTANCES:
        raise unknown_choice("distance", request.distance, DISTANCES, where="--distance")
    config = CompareConfig(
        n_folds=request.n_folds,
        neighbours=request.neighbours,
        distances=PermutationConfig(distance=request.distance, n_permutations=request.n_permutations, max_images=600),
    )
    pair = read_pair(request.features, request.images, by=request.by, group=request.group)
    found = compare_sets(pair, config=config, seed=request.seed)
    metrics = make_comparison_rows(found, distance=request.distance)
    notes = [*pair.images.notes]
    planes, missing = _project(pair, request.n_planes, seed=request.seed)
    notes += [missing] if missing else []
    figures = {
        "coverage": draw_coverage(metrics, pair.names),
        "distances": draw_label_distances(metrics, distance=request.distance),
        "planes": draw_planes(planes, pair.names),
    }
    questions = {
        "coverage": (
            "What each covers of the other",
            "Do the images of one already show what those of the other show?",
        ),
        "distances": ("How far apart they look", "Would dealing the images at random put them as far apart?"),
        "planes": ("Pictures of cells", "Do images of one label and region mix, or keep apart?"),
    }
    absent = {
        "coverage": f"No label has {FEWEST} images in both data sets.",
        "distances": f"No label has {FEWEST} images in both data sets.",
        "planes": missing or "No cell has enough images in both data sets, or none was asked for.",
    }
    sections = [
        Section(
            key=key,
            title=questions[key][0],
            question=questions[key][1],
            figures=(figure,) if figure is not None else (),
            absent=absent[key],
        )
        for key, figure in figures.items()
    ]
    return write_run(
        request.output,
        metrics,
        sections,
        command="compare",
        config=asdict(config) | {"by": request.by, "group": request.group},
        inputs=[*request.features, *request.images],
        seed=request.seed,
        title=f"{pair.names[0]} and {pair.names[1]}",
        headline=describe_comparison(found),
        notes=notes,
    )


def _project(pair: Pair, limit: int, *, seed: int) -> tuple[dict[str, pl.DataFrame], str]:
    """Return t-SNE of the cells with most images in both data sets, and what kept it from being made."""
    images = pair.images
    cell = images.region * len(images.labels) + images.targets
    counts = [np.bincount(cell[pair.is_second == side], minlength=int(cell.max()) + 1) for side in (False, True)]
    smaller = np.minimum(*counts)
    chosen = [place for place in np.argsort(-smaller, kind="stable")[:limit] if smaller[place] >= FEWEST]
    rng = np.random.default_rng([seed, 3])
    planes: dict[str, pl.DataFrame] = {}
    for place in chosen:
        rows = np.concatenate(
            [
                draw_rows(np.flatnonzero((cell == place) & (pair.is_second == side)), MOST_IN_PLANE, rng)
                for side in (False, True)
            ]
        )
        try:
            places = project_features(images.vectors[rows], seed=seed)
        except MissingExtraError as error:
            return {}, str(error)
        region, label = images.regions[place // len(images.labels)], images.labels[place % len(images.labels)]
        planes[f"{label}, {region}" if region else label] = pl.DataFrame(
            {"x": places[:, 0], "y": places[:, 1], "is_second": pair.is_second[rows]}
        )
    return planes, ""

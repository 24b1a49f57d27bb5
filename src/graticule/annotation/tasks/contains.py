"""CONTAINS tasks: grids of images, one query label, "which of these show it?", with controls hidden among them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import polars as pl

from graticule.annotation.controls import check_controls, deal, presume_controls
from graticule.annotation.distance import FAR_NODES, Distance
from graticule.annotation.glossary import Glossary
from graticule.annotation.tasks.task import TaskConfig, Tasks, check_candidates, finish_tasks, no_labels
from graticule.errors import TableError, shown

SPARE_NEGATIVES = 4
"""Presumed negatives are drawn from this many times as many images as are needed, since some are candidates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pools:
    """Images for the grids of one label, in the order in which they are used."""

    asked: list[str]
    positive: list[str]
    negative: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grid:
    """The images of one grid: those asked about, and its controls."""

    asked: list[str]
    positive: list[str]
    negative: list[str]


def build_contains_tasks(
    candidates: pl.DataFrame,
    *,
    controls: pl.DataFrame | None,
    glossary: Glossary,
    distance: Distance,
    config: TaskConfig,
    seed: int,
) -> Tasks:
    """Return grids in which every candidate is asked about once.

    Parameters
    ----------
    candidates
        A `CANDIDATES` table.
    controls
        Questions of known answer (image_id, label, selected). None presumes them: positive where most models put
        the given label first, negative where a label is no candidate of an image on whose label they agree.
    glossary
        What is shown of the query label.
    distance
        Where controls are given and a label has too few negative ones, positive controls of labels more than
        `FAR_NODES` away are borrowed.
    config
        Sizes and overlap.
    seed
        Fixes which images share a grid, and their places.

    Raises
    ------
    TableError
        The candidates break their declaration, or a label has fewer controls than a grid needs.

    Notes
    -----
    The images of a label are spread evenly, so that its grids differ by one image at most; a label with few images
    gets one small grid with as many controls as a full one. Controls differ within a grid, and a label's grids share
    them only when there are too few. A candidate whose answer is known (a control) is asked as a control only.
    """
    checked = check_candidates(candidates)
    known = None if controls is None else check_controls(controls, where="controls")
    pools = (
        _presumed_pools(checked, config=config, seed=seed)
        if known is None
        else _known_pools(checked, known, distance=distance)
    )
    _require_controls(pools, config=config)
    grids = {label: _cut(pool, config=config, rng=_make_rng(seed, label)) for label, pool in pools.items()}
    frame = _lay_out(grids, seed=seed)
    n_one_sided = sum(not (grid.positive and grid.negative) for cut in grids.values() for grid in cut)
    pair = ["image_id", "label"]
    missing = checked.select(pair).join(frame.select(pair).unique(), on=pair, how="anti").sort(pair)
    tasks = finish_tasks(
        frame.drop("selected"),
        kind="contains",
        n_workers=config.n_workers,
        descriptions=glossary.describe(frame["label"].unique().to_list()),
    )
    return Tasks(
        tasks=tasks,
        controls=frame.filter("is_control").select(*pair, "selected").unique(maintain_order=True).sort(pair),
        skipped=missing.select(
            pl.col("image_id").alias("path"), "label", pl.lit("its answer is known: it is a control").alias("reason")
        ),
        settled=no_labels(),
        n_one_sided=n_one_sided if config.min_controls else 0,
    )


def _lay_out(grids: dict[str, list[_Grid]], *, seed: int) -> pl.DataFrame:
    """Return a row a cell of every grid, its images in random order; ``selected`` is the right answer of a control."""
    rows: list[tuple[str, str, str, int, bool | None]] = []
    numbered = [(label, grid) for label, cut in grids.items() for grid in cut]
    for number, (label, grid) in enumerate(numbered):
        cells: list[tuple[str, bool | None]] = [(image, None) for image in grid.asked]
        cells += [(image, True) for image in grid.positive] + [(image, False) for image in grid.negative]
        order = _make_rng(seed, label, number).permutation(len(cells)).tolist()
        rows += [(f"contains-{number:06d}", cells[cell][0], label, at, cells[cell][1]) for at, cell in enumerate(order)]
    schema = {
        **dict.fromkeys(("task_id", "image_id", "label"), pl.String),
        "position": pl.Int64,
        "selected": pl.Boolean,
    }
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return frame.with_columns(pl.col("selected").is_not_null().alias("is_control"))


def _make_rng(seed: int, label: str, *numbers: int) -> np.random.Generator:
    """Return a generator of a label's own, so that other labels change nothing of its grids."""
    return np.random.default_rng([seed % 2**32, *numbers, *label.encode()])


def _known_pools(candidates: pl.DataFrame, controls: pl.DataFrame, *, distance: Distance) -> dict[str, _Pools]:
    positives = _by_label(controls.filter("selected"))
    negatives = _by_label(controls.filter(~pl.col("selected")))
    asked = _by_label(candidates)
    pools: dict[str, _Pools] = {}
    for label in sorted(asked):
        known = {*positives[label], *negatives[label]}
        others = [other for other in sorted(positives) if other != label and positives[other]]
        far = distance.measure([label] * len(others), others) > FAR_NODES
        borrowed = (
            {image for other, is_far in zip(others, far.tolist(), strict=True) if is_far for image in positives[other]}
            - known
            - set(asked[label])
        )
        pools[label] = _Pools(
            asked=[image for image in asked[label] if image not in known],
            positive=sorted(positives[label]),
            negative=sorted(negatives[label]) + sorted(borrowed),
        )
    return pools


def _presumed_pools(candidates: pl.DataFrame, *, config: TaskConfig, seed: int) -> dict[str, _Pools]:
    presumed = presume_controls(candidates)
    positives = _by_label(presumed)
    asked = _by_label(candidates)
    clear = presumed["image_id"].unique().sort().to_numpy()
    pools: dict[str, _Pools] = {}
    for label in sorted(asked):
        rng = _make_rng(seed, label, 1)
        taken = set(asked[label])
        needed = config.n_controls * (1 + len(taken) // (config.grid_size - config.n_controls))
        drawn = (
            rng.permutation(clear)
            if len(clear) <= SPARE_NEGATIVES * needed + len(taken)
            else rng.choice(clear, size=SPARE_NEGATIVES * needed + len(taken), replace=False)
        )
        negative = [image for image in drawn.tolist() if image not in taken]
        pools[label] = _Pools(asked=asked[label], positive=positives[label], negative=negative)
    return pools


def _by_label(pairs: pl.DataFrame) -> defaultdict[str, list[str]]:
    grouped = pairs.group_by("label", maintain_order=True).agg("image_id")
    return defaultdict(list, {label: images for label, images in grouped.iter_rows()})


def _shares(pool: _Pools, *, config: TaskConfig) -> tuple[int, int]:
    """Return how many positive and negative controls a grid gets: half and half, or more of what there is."""
    n_negative = min(config.n_controls // 2, len(pool.negative))
    n_positive = min(config.n_controls - n_negative, len(pool.positive))
    n_negative = min(config.n_controls - n_positive, len(pool.negative))
    return n_positive, n_negative


def _require_controls(pools: dict[str, _Pools], *, config: TaskConfig) -> None:
    short = {label: sum(_shares(pool, config=config)) for label, pool in pools.items()}
    short = {label: n for label, n in short.items() if n < config.min_controls}
    if short:
        raise TableError(
            f"controls: {len(short)} labels have fewer than {config.min_controls} different controls: "
            f"{shown([f'{label} ({n})' for label, n in short.items()])}. Give more, positive and negative, with "
            "--controls, or accept fewer with --min-controls."
        )


def _cut(pool: _Pools, *, config: TaskConfig, rng: np.random.Generator) -> list[_Grid]:
    """Return the grids of one label."""
    n_positive, n_negative = _shares(pool, config=config)
    room = config.grid_size - n_positive - n_negative
    n_grids = 1
    while True:
        positive = deal(pool.positive, n_hands=n_grids, size=n_positive)
        negative = deal(pool.negative, n_hands=n_grids, size=n_negative)
        dealt = {image for hand in (*positive, *negative) for image in hand}
        rest = [image for image in pool.asked if image not in dealt]
        if len(rest) <= n_grids * room:
            break
        n_grids = max(n_grids + 1, -(-len(rest) // room))
    if not pool.asked:
        return []
    shuffled = [rest[place] for place in rng.permutation(len(rest)).tolist()]
    return [
        _Grid(asked=shuffled[grid::n_grids], positive=positive[grid], negative=negative[grid])
        for grid in range(n_grids)
    ]

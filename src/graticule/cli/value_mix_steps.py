"""The steps of ``graticule value mix``: the one place that joins mixes, probes and the page."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import polars as pl

from graticule.cli.value_files import Pool, note_axes, read_pool, write_run
from graticule.data.store import replace_atomically
from graticule.errors import ConfigError, shown, unknown_choice
from graticule.evaluation.value.drawing import split_off
from graticule.evaluation.value.mix import MixConfig, measure_mix
from graticule.evaluation.value.tell_mix import describe_mix, list_top_labels, make_mix_rows
from graticule.models.probe_space import ProbeSpaceConfig, make_probe_space
from graticule.report.figures.figure import Figure
from graticule.report.value.mix import draw_gains, draw_mix_curves
from graticule.report.value.page import Section

SET_ASIDE = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class MixRequest:
    """What was typed after ``value mix``."""

    features: Path
    images: Path
    source: str
    control: str | None
    regions: tuple[str, ...]
    by: str
    test: str | None
    group: str | None
    shares: tuple[float, ...]
    budget: int | None
    n_seeds: int
    n_bootstraps: int
    inverse_penalty: float
    n_axes: int
    seed: int
    output: Path


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Sides:
    """Rows to train on and to test on, the source's among them, and the regions by their index."""

    train: np.ndarray
    test: np.ndarray
    source: np.ndarray
    control: int
    regions: tuple[int, ...]


def run_mix(request: MixRequest) -> list[str]:
    """Write the folder of mixes, and return what to print.

    Raises
    ------
    GraticuleError
        A table cannot be read, lacks labels or regions, or a query picks nothing; nothing is written.
    """
    usual = MixConfig()
    config = MixConfig(
        shares=request.shares or usual.shares,
        budget=request.budget,
        n_seeds=request.n_seeds,
        n_bootstraps=request.n_bootstraps,
    )
    probes = ProbeSpaceConfig(inverse_penalty=request.inverse_penalty, n_axes=request.n_axes)
    pool = read_pool(request.features, request.images, by=request.by, group=request.group)
    images = pool.labelled
    sides = _pick_sides(pool, request)
    space = make_probe_space(
        images.vectors, images.targets, n_labels=len(images.labels), config=probes, seed=request.seed
    )
    frames: list[pl.DataFrame] = []
    headline: list[str] = []
    tops: list[dict[str, str]] = []
    control = images.regions[sides.control]
    notes = [*images.notes, note_axes(space.kept_share)]
    for code in sides.regions:
        region = images.regions[code]
        is_there = images.region[sides.test] == code
        is_control = images.region[sides.test] == sides.control
        tests = {
            "region": sides.test[is_there],
            "control": sides.test[is_control & ~is_there],
            "elsewhere": sides.test[~is_there & ~is_control],
        }
        regional = np.setdiff1d(sides.train[images.region[sides.train] == code], sides.source)
        found = measure_mix(
            space,
            sides.source,
            regional,
            tests,
            region=code,
            labels=images.labels,
            groups=images.groups,
            config=config,
            seed=request.seed,
        )
        frames.append(make_mix_rows(found, region=region, labels=images.labels))
        headline.append(f"{region}: {describe_mix(found, region=region, control=control, labels=images.labels)}")
        top = list_top_labels(found, images.labels)
        tops.append({"region": region, "labels": ", ".join(top)})
        if found.short:
            short = [images.labels[label] for label in found.short]
            notes.append(f"{region} has too few images of {shown(short, limit=3)}; the source fills up.")
    metrics = pl.concat(frames, how="diagonal")
    lines = write_run(
        request.output,
        metrics,
        _draw(metrics, [images.regions[code] for code in sides.regions], source=request.source, control=control),
        command="mix",
        config=asdict(config) | asdict(probes) | {"source": request.source, "test": request.test, "by": request.by},
        inputs=[request.features, request.images],
        seed=request.seed,
        title=f"Images of {_name(request.source)} replaced by regional ones",
        headline=headline,
        notes=notes,
    )
    with replace_atomically(request.output / "top_labels.csv") as temporary:
        pl.DataFrame(tops).write_csv(temporary)
    return lines


def _draw(metrics: pl.DataFrame, regions: list[str], *, source: str, control: str) -> list[Section]:
    curves = draw_mix_curves(metrics, regions, source=source, control=control)
    gains: list[Figure] = [figure for region in regions for figure in [draw_gains(metrics, region)] if figure]
    return [
        Section(
            key="curves",
            title="Accuracy as regional images come in",
            question="What do they do in their region, in the control region, and elsewhere?",
            figures=(curves,) if curves else (),
        ),
        Section(
            key="gains",
            title="Labels that gain",
            question="Which labels are worth collecting in each region?",
            figures=tuple(gains),
            absent="No label has a test image in a region.",
        ),
    ]


def _pick_sides(pool: Pool, request: MixRequest) -> _Sides:
    images = pool.labelled
    everything = np.arange(len(images.targets))
    if request.test is not None:
        test = pool.find(request.test, where="--test")
    else:
        rng = np.random.default_rng([request.seed, 4])
        cells = images.region * len(images.labels) + images.targets
        test = np.flatnonzero(split_off(cells, images.groups, share=SET_ASIDE, rng=rng))
    train = np.setdiff1d(everything, test)
    source = np.intersect1d(pool.find(request.source, where="--source"), train)
    if len(np.unique(images.targets[source])) < 2:
        raise ConfigError(
            f"--source {request.source!r}: {len(source)} training images of {len(np.unique(images.targets[source]))} "
            "labels once those to test on are taken out, expected at least two labels. Pick more, or change --test."
        )
    for name in (*request.regions, *([request.control] if request.control else [])):
        if name not in images.regions:
            raise unknown_choice("region", name, images.regions, where=f"--regions / --control (column {request.by})")
    shares = np.bincount(images.region[source], minlength=len(images.regions))
    control = images.regions.index(request.control) if request.control else int(shares.argmax())
    others = [
        name for code, name in enumerate(images.regions) if not (shares[code] and shares[code] >= 0.5 * len(source))
    ]
    chosen = request.regions or tuple(others)
    if not chosen:
        raise ConfigError(
            f"--regions: the source holds the only region, {images.regions[0]!r}; expected another whose images come "
            "in. Pick a smaller --source, or another column with --by."
        )
    return _Sides(
        train=train,
        test=test,
        source=source,
        control=control,
        regions=tuple(images.regions.index(name) for name in chosen),
    )


def _name(query: str) -> str:
    return query if len(query) <= 60 else query[:59] + "…"

"""How accuracy grows with images of either data set, and where the other reaches the baseline."""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl

from graticule.report.figures.figure import Figure
from graticule.report.value.curve_figure import CurvePanel, make_curve_figure
from graticule.report.value.read_curves import read_curve
from graticule.report.wording import count, percent, spell


def draw_relative(metrics: pl.DataFrame, names: Sequence[str]) -> Figure | None:
    """Return the curves of both directions; None where none were measured."""
    panels: list[CurvePanel] = []
    sentences: list[str] = []
    for first, second in ((names[0], names[1]), (names[1], names[0])):
        own, other = f"{first} for {first}", f"{second} for {first}"
        curves = metrics.filter(pl.col("metric") == "accuracy_by_images")
        baseline = metrics.filter((pl.col("metric") == "baseline_accuracy") & (pl.col("group") == own))
        needed = metrics.filter((pl.col("metric") == "images_needed") & (pl.col("group") == other))
        if baseline.is_empty():
            continue
        level, n_images = float(baseline["value"][0]), int(baseline["n_train"][0])
        number = float(needed["value"][0])
        found = "not reached" if math.isinf(number) else f"reached with {count(round(number))}"
        panels.append(
            CurvePanel(
                title=f"Tested on {first}",
                detail=f"{percent(level)} with {count(n_images)} of its own; with {second}'s {found}",
                curves=(
                    read_curve(curves.filter(pl.col("group") == own), name="its own images"),
                    read_curve(curves.filter(pl.col("group") == other), name="the other's images"),
                ),
                level=level,
            )
        )
        sentences.append(
            f"On {spell(first)} the level of {count(n_images)} of its own images is {found} of {spell(second)}'s."
            if not math.isinf(number)
            else f"On {spell(first)} all images of {spell(second)} do not reach what {count(n_images)} of its own give."
        )
    if not panels:
        return None
    return make_curve_figure(
        panels,
        name="relative_value",
        title="Accuracy by number and origin of training images",
        subtitle=f"{names[0]} and {names[1]}; mean over seeds with 95% intervals",
        legend=("its own images", "the other data set's images"),
        level_name="the baseline",
        x_title="training images (logarithmic)",
        alt=" ".join(sentences),
        caption="A dashed line marks what the baseline's images give; where the other curve crosses it is the answer.",
        is_log=True,
    )

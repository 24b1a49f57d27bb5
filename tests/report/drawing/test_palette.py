"""Colours: readable, ordered, and apart for people who see colours differently."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from graticule.errors import ConfigError
from graticule.report.drawing.palette import (
    DARK,
    LIGHT,
    N_MARKS,
    N_STEPS,
    THEMES,
    list_variables,
    resolve_colours,
    text_on_step,
)

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
SIGHTS = {
    "usual": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
LEAST_APART = 0.065
"""Distance in OKLab; 0.02 is about what a careful eye can just tell apart side by side."""


def linear(colour):
    channels = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    light, dark = sorted((float(linear(c) @ [0.2126, 0.7152, 0.0722]) for c in (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


TO_CONES = np.array(
    [
        [0.41222147, 0.53633254, 0.05144599],
        [0.2119035, 0.68069955, 0.10739696],
        [0.08830246, 0.28171884, 0.6299787],
    ]
)
TO_LAB = np.array(
    [
        [0.21045426, 0.79361779, -0.00407205],
        [1.9779985, -2.4285922, 0.45059371],
        [0.02590404, 0.78277177, -0.80867577],
    ]
)


def oklab(rgb):
    """Return a colour in Ottosson's OKLab."""
    return TO_LAB @ np.cbrt(TO_CONES @ np.clip(rgb, 0, 1))


@pytest.mark.parametrize("theme", THEMES)
def test_text_has_the_contrast_that_wcag_asks_for(theme):
    colours = THEMES[theme]
    for text in ("ink", "muted", "accent", "worst", "best"):
        for ground in ("paper", "raised", "desk"):
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    assert contrast(colours["notice-ink"], colours["notice"]) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
def test_marks_and_controls_stand_out_from_the_paper(theme):
    colours = THEMES[theme]
    for name in [*(f"mark-{place}" for place in range(N_MARKS)), "control", "thin"]:
        assert contrast(colours[name], colours["paper"]) >= 3, name


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("sight", SIGHTS)
def test_mark_colours_differ_for_every_kind_of_sight(theme, sight):
    marks = [oklab(SIGHTS[sight] @ linear(THEMES[theme][f"mark-{place}"])) for place in range(N_MARKS)]
    for one, other in combinations(range(N_MARKS), 2):
        assert np.linalg.norm(marks[one] - marks[other]) >= LEAST_APART, (one, other)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("sight", SIGHTS)
def test_the_scale_of_accuracies_goes_one_way_in_lightness_and_low_is_salient(theme, sight):
    lightness = [oklab(SIGHTS[sight] @ linear(THEMES[theme][f"step-{step}"]))[0] for step in range(N_STEPS)]
    falling = theme == "light"
    assert all((one > other) == falling for one, other in pairwise(lightness))
    ground = oklab(linear(THEMES[theme]["paper"]))[0]
    assert abs(lightness[-1] - ground) > abs(lightness[0] - ground)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("step", range(N_STEPS))
def test_numbers_can_be_read_on_every_step(theme, step):
    assert contrast(text_on_step(step, theme=theme), THEMES[theme][f"step-{step}"]) >= 4.5


def test_both_themes_name_the_same_colours():
    assert list(LIGHT) == list(DARK)
    assert list_variables("dark").count("--") == len(DARK) + N_STEPS


def test_an_unknown_colour_is_an_error():
    with pytest.raises(ConfigError, match="unknown colour '--papr'"):
        resolve_colours("a{fill:var(--papr)}")

"""The colours of the report, once for light and once for dark, by the name of what they mean.

Accuracy is drawn on one ordered scale whose salient end is the *low* one: what fails stands out on white paper and on
a dark screen alike. Its lightness changes in one direction only, so it reads in grey and under every colour blindness.
The six mark colours differ under simulated protanopia, deuteranopia and tritanopia, and are never used without a shape
or a name beside them.
"""

from __future__ import annotations

import re

from graticule.errors import ConfigError

N_STEPS = 10
"""Steps of the accuracy scale; step 0 is the highest accuracy."""
N_MARKS = 6

LIGHT: dict[str, str] = {
    "paper": "#ffffff",
    "desk": "#f5f4f1",
    "raised": "#faf9f7",
    "ink": "#1b1f24",
    "muted": "#59616b",
    "rule": "#dcdad4",
    "grid": "#ebe9e4",
    "control": "#7d8590",
    "accent": "#0b5cad",
    "accent-soft": "#e6eff9",
    "worst": "#b3330b",
    "worst-soft": "#fdeee6",
    "best": "#0b66b0",
    "band": "#e3e6ea",
    "band-core": "#c5cbd3",
    "thin": "#8b929b",
    "hatch": "#8b857a",
    "land": "#dcdad4",
    "coast": "#8d877c",
    "sea": "#eef2f6",
    "notice": "#fff3cd",
    "notice-ink": "#5c4400",
    "mark-0": "#0b66b0",
    "mark-1": "#d1550d",
    "mark-2": "#3a1a6b",
    "mark-3": "#149b83",
    "mark-4": "#b02a7c",
    "mark-5": "#5e4a08",
    "step-0": "#f9f3e5",
    "step-1": "#eddab7",
    "step-2": "#e7be87",
    "step-3": "#e29f5d",
    "step-4": "#dc7d35",
    "step-5": "#d15b1c",
    "step-6": "#bb401d",
    "step-7": "#9c3124",
    "step-8": "#7c2526",
    "step-9": "#5d1b22",
    "on-low-step": "#000000",
    "on-high-step": "#ffffff",
}

DARK: dict[str, str] = {
    "paper": "#171a1f",
    "desk": "#0f1114",
    "raised": "#1d2127",
    "ink": "#e9ebee",
    "muted": "#a5adb8",
    "rule": "#343a43",
    "grid": "#272c33",
    "control": "#7f8893",
    "accent": "#7db8f5",
    "accent-soft": "#1b2b3d",
    "worst": "#ff9a66",
    "worst-soft": "#3a2117",
    "best": "#6fb5f2",
    "band": "#2b3139",
    "band-core": "#46505c",
    "thin": "#7f8893",
    "hatch": "#8d8a85",
    "land": "#3a3f47",
    "coast": "#0f1114",
    "sea": "#1d2631",
    "notice": "#3d3210",
    "notice-ink": "#ffe39b",
    "mark-0": "#5aa9ee",
    "mark-1": "#f0803c",
    "mark-2": "#d9ccff",
    "mark-3": "#86e3b0",
    "mark-4": "#cf60aa",
    "mark-5": "#f0d869",
    "step-0": "#322525",
    "step-1": "#52302f",
    "step-2": "#763a35",
    "step-3": "#994636",
    "step-4": "#b95530",
    "step-5": "#d46b22",
    "step-6": "#e78825",
    "step-7": "#f2a848",
    "step-8": "#f6c87a",
    "step-9": "#fee6aa",
    "on-low-step": "#ffffff",
    "on-high-step": "#000000",
}

THEMES: dict[str, dict[str, str]] = {"light": LIGHT, "dark": DARK}

LAST_LOW_STEP: dict[str, int] = {"light": 5, "dark": 4}
"""Steps up to this one carry ``on-low-step`` text, those above ``on-high-step``."""


def text_on_step(step: int, *, theme: str) -> str:
    """Return the colour of text that stands on a step of the accuracy scale.

    Examples
    --------
    >>> text_on_step(0, theme="light"), text_on_step(9, theme="light")
    ('#000000', '#ffffff')
    """
    colours = THEMES[theme]
    return colours["on-low-step"] if step <= LAST_LOW_STEP[theme] else colours["on-high-step"]


def list_variables(theme: str) -> str:
    """Return the CSS declarations of a theme's colours, one custom property a colour."""
    colours = THEMES[theme] | {f"on-step-{step}": text_on_step(step, theme=theme) for step in range(N_STEPS)}
    return "".join(f"--{name}:{value};" for name, value in colours.items())


def resolve_colours(css: str, *, theme: str = "light") -> str:
    """Return ``css`` with every ``var(--name)`` replaced by the theme's colour, for files that stand alone.

    Raises
    ------
    ConfigError
        ``css`` names a colour that does not exist.

    Examples
    --------
    >>> resolve_colours("path { fill: var(--paper) }")
    'path { fill: #ffffff }'
    """
    colours = THEMES[theme] | {f"on-step-{step}": text_on_step(step, theme=theme) for step in range(N_STEPS)}

    def look_up(found: re.Match[str]) -> str:
        name = found.group(1)
        if name not in colours:
            raise ConfigError(f"style sheet: unknown colour '--{name}'. Known: {', '.join(sorted(colours))}.")
        return colours[name]

    return re.sub(r"var\(--([a-z0-9-]+)\)", look_up, css)

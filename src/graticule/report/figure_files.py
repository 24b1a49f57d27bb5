"""The page's figures as files of their own: SVG for editing, PNG for slides."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from graticule.report.figures.figure import Figure
from graticule.report.panels.figure_panels import Panel
from graticule.report.raster import ZOOM, render_png

TALL = 3000.0
"""Drawings that are taller than this many pixels become PNGs at their own scale."""


def write_figures(folder: Path, *, panels: Mapping[str, Panel]) -> list[Path]:
    """Write every figure into a folder as SVG and PNG, and return the paths."""
    named = name_figures(panels)
    written: list[Path] = []
    for name, figure in named.items():
        svg, png = folder / f"{name}.svg", folder / f"{name}.png"
        svg.write_text(figure.svg, encoding="utf-8")
        png.write_bytes(render_png(figure.svg, zoom=1.0 if _measure_height(figure.svg) > TALL else ZOOM))
        written += [svg, png]
    return written


def name_figures(panels: Mapping[str, Panel]) -> dict[str, Figure]:
    """Return file name → figure: the figure's name, and its model's where there are several."""
    blocks = [block for panel in panels.values() for block in panel.blocks]
    several = len({block.model for block in blocks if block.model}) > 1
    slugs = _name_models([block.model for block in blocks if block.model])
    return {
        figure.name + (f"-{slugs[block.model]}" if several and block.model else ""): figure
        for block in blocks
        for figure in block.figures
    }


def _name_models(models: list[str]) -> dict[str, str]:
    """Return model → a name that every file system takes, no two alike."""
    slugs: dict[str, str] = {}
    for model in dict.fromkeys(models):
        slug = re.sub(r"[^a-z0-9]+", "-", model.lower()).strip("-")[:48] or "model"
        slugs[model] = f"{slug}-{len(slugs) + 1}" if slug in slugs.values() else slug
    return slugs


def _measure_height(svg: str) -> float:
    found = re.search(r'height="([0-9.]+)"', svg)
    return float(found.group(1)) if found else 0.0

"""Fetch a package of the npm registry, at a pinned version, into a folder: the sources of the packaged geography."""

from __future__ import annotations

import itertools
import json
import subprocess
import tarfile
from pathlib import Path
from typing import Any

COUNTRY_CODER = "@rapideditor/country-coder@5.6.1"
WORLD_ATLAS = "world-atlas@2.0.2"
COUNTRY_NAMES = "i18n-iso-countries@7.14.0"


def fetch_package(package: str, *, folder: Path) -> Path:
    """Return the folder of an unpacked npm package; it is downloaded only once."""
    place = folder / package.strip("@").replace("/", "-").replace("@", "-")
    if not place.is_dir():
        done = subprocess.run(
            ["npm", "pack", "--silent", package], cwd=folder, capture_output=True, text=True, check=True
        )
        archive = folder / done.stdout.split()[-1]
        with tarfile.open(archive) as tar:
            tar.extractall(place, filter="data")
        archive.unlink()
    return place / "package"


def read_topology(path: Path) -> dict[str, Any]:
    """Return a TopoJSON file with its arcs decoded to degrees."""
    topology = json.loads(path.read_text(encoding="utf-8"))
    (scale_x, scale_y), (move_x, move_y) = topology["transform"]["scale"], topology["transform"]["translate"]
    arcs: list[list[tuple[float, float]]] = []
    for deltas in topology["arcs"]:
        x = y = 0
        arc: list[tuple[float, float]] = []
        for dx, dy in deltas:
            x, y = x + dx, y + dy
            arc.append((x * scale_x + move_x, y * scale_y + move_y))
        arcs.append(arc)
    topology["arcs"] = arcs
    return topology


def join_arcs(arcs: list[list[tuple[float, float]]], numbers: list[int]) -> list[tuple[float, float]]:
    """Return the ring that the numbered arcs make; a number below zero means the arc backwards.

    A ring that crosses the antimeridian goes on beyond 180 degrees; one around the pole is closed along the south pole.
    """
    ring: list[tuple[float, float]] = []
    for number in numbers:
        arc = arcs[number] if number >= 0 else arcs[~number][::-1]
        ring += arc[1:] if ring else arc
    turns = 0
    unwrapped = ring[:1]
    for (before, _), (x, y) in itertools.pairwise(ring):
        turns += (x - before < -180) - (x - before > 180)
        unwrapped.append((x + 360 * turns, y))
    if turns:
        unwrapped += [(unwrapped[-1][0], -90.0), (unwrapped[0][0], -90.0), unwrapped[0]]
    return unwrapped


def polygons_of(geometry: dict[str, Any]) -> list[list[list[int]]]:
    """Return a TopoJSON geometry's polygons, each a list of rings, each a list of arc numbers."""
    if geometry["type"] == "Polygon":
        return [geometry["arcs"]]
    return geometry["arcs"] if geometry["type"] == "MultiPolygon" else []

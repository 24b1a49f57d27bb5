"""Rendered scenes, for a demo without real photos: three invented regions, five objects, three designs of each.

The regions are invented, so that nothing here claims to show a real place. An object is drawn in the way of its region
(a house with a steep roof, with a flat one, with a round one of thatch) before the sky, the ground and the light of
that region, and no two scenes are alike. A model trained on one region meets the others' designs as it would abroad;
how far it falls says nothing about the real world, and every page made from them says that they are rendered.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from graticule.data.scenery import Colour, Stage, shade
from graticule.data.store import replace_atomically
from graticule.data.synthetic_objects import OBJECTS
from graticule.errors import ConfigError

WIDTH, HEIGHT = 320, 240
OVERSAMPLING = 2
JPEG_QUALITY = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """How an invented region looks."""

    design: int
    """Which of an object's designs is usual here."""
    sky: tuple[Colour, Colour]
    """Colours at the top and at the horizon."""
    ground: Colour
    hills: Colour
    light: tuple[float, float]
    """Least and greatest brightness of a scene."""


REGIONS: dict[str, Region] = {
    "Northmark": Region(
        design=0, sky=((128, 150, 176), (206, 214, 220)), ground=(96, 122, 74), hills=(92, 110, 104), light=(0.72, 1.0)
    ),
    "Saltcoast": Region(
        design=1,
        sky=((70, 140, 214), (190, 222, 240)),
        ground=(206, 188, 146),
        hills=(64, 128, 166),
        light=(0.92, 1.14),
    ),
    "Redplain": Region(
        design=2, sky=((112, 160, 206), (238, 214, 178)), ground=(176, 112, 70), hills=(150, 96, 74), light=(0.84, 1.1)
    ),
}
"""Region → how it looks."""

UNUSUAL_SHARE = 0.12
"""Share of scenes in which an object of another region's design stands, as things travel."""


def render_scenes(output: str | Path, *, images_per_cell: int = 40, seed: int = 0) -> Path:
    """Render scenes into ``output/{region}/{label}/*.jpg`` and return the folder.

    Parameters
    ----------
    output
        Folder to write to; scenes of the same name are replaced.
    images_per_cell
        Scenes of each object in each region.
    seed
        The same seed gives the same scenes, and more scenes a cell leave the earlier ones as they are.

    Raises
    ------
    ConfigError
        ``images_per_cell`` is below 1.
    FileError
        The folder cannot be written to.
    """
    if images_per_cell < 1:
        raise ConfigError(f"images_per_cell is {images_per_cell}, expected at least 1.")
    for region_index, region in enumerate(REGIONS):
        for label_index, label in enumerate(OBJECTS):
            for number in range(images_per_cell):
                rng = np.random.default_rng([seed, region_index, label_index, number])
                scene = render_scene(label, REGIONS[region], rng=rng)
                with replace_atomically(Path(output) / region / label / f"{number:04d}.jpg") as temporary:
                    scene.save(temporary, "JPEG", quality=JPEG_QUALITY)
    return Path(output)


def render_scene(label: str, region: Region, *, rng: np.random.Generator) -> Image.Image:
    """Return one scene of an object in a region, 320 × 240 pixels."""
    size = (WIDTH * OVERSAMPLING, HEIGHT * OVERSAMPLING)
    image = Image.new("RGB", size)
    horizon = int(size[1] * rng.uniform(0.5, 0.66))
    _draw_background(image, region, horizon=horizon, rng=rng)
    design = region.design if rng.random() > UNUSUAL_SHARE else int(rng.integers(len(REGIONS)))
    scale = size[1] * rng.uniform(0.42, 0.72)
    foot = min(size[1] - 6, horizon + int(size[1] * rng.uniform(0.12, 0.3)))
    stage = Stage(
        draw=ImageDraw.Draw(image), x=size[0] * rng.uniform(0.32, 0.68), foot=foot, scale=scale, design=design, rng=rng
    )
    stage.shadow()
    OBJECTS[label](stage)
    _draw_foreground(image, region, foot=foot, rng=rng)
    return _finish(image, brightness=rng.uniform(*region.light), rng=rng)


def _draw_background(image: Image.Image, region: Region, *, horizon: int, rng: np.random.Generator) -> None:
    width, height = image.size
    share = np.linspace(0, 1, horizon)[:, None]
    sky = (1 - share) * np.array(region.sky[0]) + share * np.array(region.sky[1])
    rows = np.linspace(0.82, 1.12, height - horizon)[:, None] * np.array(region.ground)
    column = np.clip(np.concatenate([sky, rows]), 0, 255).astype(np.uint8)
    image.paste(Image.fromarray(np.repeat(column[:, None], width, axis=1)))
    draw = ImageDraw.Draw(image)
    for _ in range(int(rng.integers(0, 5))):
        _draw_cloud(draw, float(rng.uniform(0, width)), float(rng.uniform(0.05, 0.6) * horizon), width=width, rng=rng)
    crest = [(0, horizon)]
    for x in np.linspace(0, width, 9):
        crest.append((int(x), int(horizon - height * rng.uniform(0.02, 0.14))))
    draw.polygon([*crest, (width, horizon)], fill=shade(region.hills, rng.uniform(0.85, 1.15)))
    for _ in range(140):
        x, y = rng.uniform(0, width), rng.uniform(horizon, height)
        size = 1 + 7 * (y - horizon) / (height - horizon)
        draw.ellipse((x, y, x + 2 * size, y + size), fill=shade(region.ground, rng.uniform(0.75, 1.2)))


def _draw_cloud(draw: ImageDraw.ImageDraw, x: float, y: float, *, width: int, rng: np.random.Generator) -> None:
    for _ in range(6):
        radius = width * rng.uniform(0.02, 0.06)
        left, top = x + rng.normal(0, width * 0.05), y + rng.normal(0, width * 0.008)
        draw.ellipse((left - radius, top - radius * 0.5, left + radius, top + radius * 0.5), fill=(238, 240, 243))


def _draw_foreground(image: Image.Image, region: Region, *, foot: int, rng: np.random.Generator) -> None:
    """Put a few stones or tufts before the object, which may hide a part of its foot."""
    draw = ImageDraw.Draw(image)
    for _ in range(int(rng.integers(2, 8))):
        x, y = rng.uniform(0, image.width), rng.uniform(foot, image.height)
        size = rng.uniform(4, 16)
        colour = shade(region.ground, rng.uniform(0.5, 0.8))
        if rng.random() < 0.5:
            draw.ellipse((x - size, y - size * 0.6, x + size, y + size * 0.4), fill=colour)
        else:
            for blade in range(5):
                draw.line((x + 3 * blade, y, x + 3 * blade + rng.normal(0, 5), y - 1.6 * size), fill=colour, width=3)


def _finish(image: Image.Image, *, brightness: float, rng: np.random.Generator) -> Image.Image:
    """Bring a scene to its size, with a camera's tilt, light, softness and grain."""
    tilted = image.rotate(float(rng.normal(0, 1.5)), Image.Resampling.BILINEAR)
    inset = 14
    cropped = tilted.crop((inset, inset, image.width - inset, image.height - inset))
    small = cropped.resize((WIDTH, HEIGHT), Image.Resampling.BILINEAR)
    soft = small.filter(ImageFilter.GaussianBlur(float(rng.uniform(0, 0.8))))
    warmth = rng.normal(0, 0.03)
    pixels = np.asarray(soft, np.float32) * brightness * np.array([1 + warmth, 1, 1 - warmth], np.float32)
    grain = rng.normal(0, 3.0, (HEIGHT, WIDTH, 1)).astype(np.float32)
    return Image.fromarray(np.clip(pixels + grain, 0, 255).astype(np.uint8))

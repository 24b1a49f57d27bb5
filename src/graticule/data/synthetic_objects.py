"""The objects of rendered scenes, each in three designs: one for every invented region."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from graticule.data.scenery import Colour, Stage, shade

GLASS: Colour = (66, 84, 100)
WOOD: Colour = (104, 72, 48)
DARK: Colour = (38, 36, 36)


def draw_house(stage: Stage) -> None:
    """Draw a brick house with a steep roof, a white one with a flat roof, or a round one of clay and thatch."""
    if stage.design == 0:
        wall = stage.pick([(150, 82, 64), (172, 120, 92), (196, 186, 168)])
        stage.box(-0.5, 0, 0.5, 0.55, fill=wall)
        stage.shape((-0.6, 0.53), (0, 1.05), (0.6, 0.53), fill=stage.pick([(88, 56, 50), (70, 72, 78)]))
        stage.box(0.22, 0.78, 0.34, 1.05, fill=shade(wall, 0.8))
        for x in (-0.36, 0.16):
            stage.box(x, 0.24, x + 0.2, 0.44, fill=(232, 230, 222))
            stage.box(x + 0.02, 0.26, x + 0.18, 0.42, fill=GLASS)
        stage.box(-0.09, 0, 0.09, 0.32, fill=stage.pick([(54, 74, 58), (96, 40, 40), WOOD]))
    elif stage.design == 1:
        wall = stage.pick([(240, 238, 230), (232, 220, 198), (236, 210, 190)])
        stage.box(-0.62, 0, 0.62, 0.5, fill=wall)
        stage.box(-0.1, 0.5, 0.5, 0.86, fill=shade(wall, 0.94))
        stage.box(-0.66, 0.49, 0.66, 0.53, fill=shade(wall, 0.82))
        for x, y in ((-0.5, 0.22), (0.3, 0.22), (0.12, 0.6)):
            stage.box(x, y, x + 0.18, y + 0.17, fill=stage.pick([(40, 92, 156), (52, 122, 150)]))
        stage.disc(-0.09, 0.3, 0.1, fill=(40, 84, 140))
        stage.box(-0.19, 0, 0.01, 0.3, fill=(40, 84, 140))
    else:
        wall = stage.pick([(176, 122, 84), (196, 146, 100), (150, 98, 66)])
        stage.box(-0.42, 0, 0.42, 0.42, fill=wall)
        stage.disc(0, 0.02, 0.42, fill=wall, flat=0.14)
        thatch = stage.pick([(168, 138, 84), (142, 116, 72)])
        stage.shape((-0.62, 0.36), (-0.04, 0.96), (0.04, 0.96), (0.62, 0.36), fill=thatch)
        for x in np.linspace(-0.56, 0.56, 13):
            stage.stroke((0, 0.94), (float(x), 0.36), width=0.008, fill=shade(thatch, 0.78))
        stage.box(-0.1, 0, 0.1, 0.3, fill=DARK)


def draw_door(stage: Stage) -> None:
    """Draw a panelled door with a letter box, an arched blue one with studs, or a carved one of planks with a cloth."""
    wall = {0: (168, 98, 78), 1: (238, 232, 220), 2: (188, 134, 92)}[stage.design]
    stage.box(-0.7, 0, 0.7, 1.15, fill=shade(wall, float(stage.rng.uniform(0.9, 1.08))))
    if stage.design == 0:
        colour = stage.pick([(34, 66, 52), (120, 32, 36), (36, 48, 86)])
        stage.box(-0.32, 0, 0.32, 1.02, fill=(236, 234, 228))
        stage.box(-0.26, 0, 0.26, 0.96, fill=colour)
        for x in (-0.2, 0.04):
            for y in (0.1, 0.54):
                stage.box(x, y, x + 0.16, y + 0.34, fill=shade(colour, 0.78))
        stage.box(-0.07, 0.47, 0.07, 0.5, fill=(206, 178, 96))
    elif stage.design == 1:
        colour = stage.pick([(36, 92, 160), (44, 124, 150), (30, 70, 130)])
        stage.disc(0, 0.68, 0.32, fill=colour)
        stage.box(-0.32, 0, 0.32, 0.68, fill=colour)
        stage.stroke((0, 0), (0, 1.0), width=0.014, fill=shade(colour, 0.6))
        for x in (-0.22, -0.1, 0.1, 0.22):
            for y in np.linspace(0.1, 0.78, 6):
                stage.disc(x, float(y), 0.018, fill=(214, 206, 180))
    else:
        colour = stage.pick([(110, 70, 42), (88, 56, 36), (136, 92, 54)])
        stage.box(-0.28, 0, 0.28, 0.92, fill=colour)
        for x in np.linspace(-0.2, 0.2, 5):
            stage.stroke((float(x), 0), (float(x), 0.92), width=0.01, fill=shade(colour, 0.66))
        for y in (0.2, 0.7):
            stage.box(-0.28, y, 0.28, y + 0.06, fill=shade(colour, 0.72))
        cloth = stage.pick([(190, 60, 50), (214, 150, 50), (70, 110, 90)])
        stage.shape((-0.34, 0.98), (0.34, 0.98), (0.3, 0.8), (-0.3, 0.84), fill=cloth)


def draw_bus(stage: Stage) -> None:
    """Draw a red bus of two decks, a long white coach, or a painted minibus with baggage on its roof."""
    if stage.design == 0:
        colour = stage.pick([(176, 32, 36), (150, 28, 40), (196, 60, 40)])
        stage.box(-0.75, 0.1, 0.75, 0.98, fill=colour)
        for y in (0.36, 0.7):
            stage.box(-0.7, y, 0.7, y + 0.18, fill=GLASS)
            for x in np.linspace(-0.5, 0.5, 5):
                stage.box(float(x) - 0.015, y, float(x) + 0.015, y + 0.18, fill=colour)
        stage.box(0.45, 0.12, 0.68, 0.52, fill=shade(colour, 0.6))
    elif stage.design == 1:
        colour = stage.pick([(236, 236, 232), (210, 226, 232), (240, 222, 176)])
        stage.box(-0.9, 0.12, 0.84, 0.66, fill=colour)
        stage.shape((0.84, 0.12), (0.92, 0.14), (0.92, 0.4), (0.84, 0.66), fill=colour)
        stage.box(-0.86, 0.36, 0.8, 0.6, fill=(40, 52, 66))
        stage.box(-0.9, 0.22, 0.9, 0.28, fill=stage.pick([(36, 110, 176), (30, 140, 130)]))
    else:
        colour = stage.pick([(228, 170, 40), (70, 140, 96), (210, 96, 50)])
        stage.box(-0.62, 0.12, 0.5, 0.66, fill=colour)
        stage.shape((0.5, 0.12), (0.72, 0.14), (0.7, 0.38), (0.5, 0.62), fill=colour)
        for x in (-0.54, -0.28, -0.02, 0.24):
            stage.box(x, 0.4, x + 0.2, 0.58, fill=GLASS)
        stage.box(-0.62, 0.28, 0.56, 0.33, fill=stage.pick([(250, 246, 230), (40, 60, 120)]))
        for x in np.linspace(-0.5, 0.3, 5):
            bale = stage.pick([(150, 120, 80), (120, 60, 50), (90, 100, 120)])
            stage.box(float(x), 0.68, float(x) + 0.17, 0.74 + float(stage.rng.uniform(0, 0.12)), fill=bale)
    for x in (-0.45, 0.45):
        stage.disc(x, 0.11, 0.12, fill=DARK)
        stage.disc(x, 0.11, 0.055, fill=(150, 150, 150))


def draw_stall(stage: Stage) -> None:
    """Draw a market stall under a striped awning, under a parasol, or under a cloth on poles."""
    if stage.design == 0:
        colours = ((236, 234, 226), stage.pick([(180, 44, 44), (40, 104, 70), (46, 70, 140)]))
        for index, x in enumerate(np.linspace(-0.7, 0.56, 10)):
            left = float(x)
            stage.shape(
                (left, 0.68),
                (left + 0.14, 0.68),
                (left * 0.86 + 0.12, 0.98),
                (left * 0.86, 0.98),
                fill=colours[index % 2],
            )
        posts, table = (-0.64, 0.64), (124, 96, 66)
    elif stage.design == 1:
        colour = stage.pick([(240, 200, 70), (236, 240, 240), (90, 170, 190)])
        stage.shape((-0.72, 0.74), (0, 1.08), (0.72, 0.74), fill=colour)
        stage.shape((-0.24, 0.74), (0, 1.08), (0.24, 0.74), fill=shade(colour, 0.84))
        posts, table = (0.0,), (228, 222, 206)
    else:
        colour = stage.pick([(200, 120, 60), (150, 60, 80), (120, 130, 70)])
        stage.shape((-0.72, 0.82), (-0.2, 0.76), (0.3, 0.8), (0.72, 0.9), (0.66, 0.7), (-0.68, 0.64), fill=colour)
        posts, table = (-0.66, 0.66), (150, 100, 62)
    for x in posts:
        stage.stroke((x, 0), (x, 0.76), width=0.03, fill=WOOD)
    stage.box(-0.6, 0.3, 0.6, 0.36, fill=table)
    stage.box(-0.56, 0, 0.56, 0.3, fill=shade(table, 0.72))
    goods = [(206, 60, 46), (236, 150, 40), (110, 150, 50), (240, 214, 80), (120, 60, 100)]
    for x in np.linspace(-0.52, 0.52, 9):
        fruit = stage.pick(goods)
        for offset in (-0.035, 0.035):
            stage.disc(float(x) + offset, 0.39, 0.045, fill=fruit)
        stage.disc(float(x), 0.45, 0.045, fill=shade(fruit, 1.1))


def draw_tree(stage: Stage) -> None:
    """Draw a fir, a palm, or a tree with a wide flat crown."""
    if stage.design == 0:
        stage.box(-0.05, 0, 0.05, 0.3, fill=WOOD)
        colour = stage.pick([(38, 78, 52), (52, 92, 58), (30, 66, 60)])
        for level, y in enumerate(np.linspace(0.16, 0.78, 5)):
            width = 0.46 - 0.08 * level
            stage.shape(
                (-width, float(y)), (0, float(y) + 0.36), (width, float(y)), fill=shade(colour, 0.9 + 0.06 * level)
            )
    elif stage.design == 1:
        bend = float(stage.rng.uniform(-0.16, 0.16))
        stage.stroke((0, 0), (bend * 0.4, 0.5), (bend, 0.9), width=0.07, fill=(140, 112, 80))
        colour = stage.pick([(60, 130, 62), (84, 146, 66)])
        for angle in np.linspace(-0.5, np.pi + 0.5, 10):
            x, y = bend + 0.42 * np.cos(angle), 0.9 + 0.24 * np.sin(angle)
            stage.stroke(
                (bend, 0.92),
                ((bend + x) / 2, y + 0.08),
                (float(x), float(y) - 0.12),
                width=0.055,
                fill=shade(colour, float(stage.rng.uniform(0.8, 1.1))),
            )
    else:
        colour = stage.pick([(104, 124, 56), (88, 110, 58), (126, 130, 64)])
        for x in (-0.3, 0.0, 0.32):
            stage.stroke((0, 0), (x * 0.2, 0.4), (x, 0.76), width=0.05, fill=(92, 70, 54))
        for _ in range(16):
            stage.disc(
                float(stage.rng.uniform(-0.6, 0.6)),
                float(stage.rng.normal(0.8, 0.03)),
                0.15,
                fill=shade(colour, float(stage.rng.uniform(0.8, 1.15))),
                flat=0.42,
            )


OBJECTS: dict[str, Callable[[Stage], None]] = {
    "house": draw_house,
    "door": draw_door,
    "bus": draw_bus,
    "market_stall": draw_stall,
    "tree": draw_tree,
}
"""Label → what draws it."""

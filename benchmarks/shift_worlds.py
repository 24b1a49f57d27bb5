"""Is the cause of a drop found where it was planted? Seeded worlds of each kind, and the table for docs/explain.md.

A world is judged only if its planted shift can matter: each planted cause truly costs at least ``--least`` of accuracy
and at least ``--least-share`` of the whole drop (both counted on 20,000 images a label in each of the eight worlds,
never on the images that the analysis gets). Others are passed over, the next seed is tried, and how many were passed
over is printed.

A judged world is *named right* if the causes named are those planted, all and no other; its interval *holds* if each
planted cause's true part lies in its own. The table also counts worlds in which the intervals of all three causes hold,
and those in which a sizeable rest is claimed, where there truly is none.

    OMP_NUM_THREADS=1 python benchmarks/shift_worlds.py --worlds 100
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from dataclasses import dataclass
from itertools import count

import numpy as np

from graticule.evaluation.shift.decomposition import DecompositionConfig, decompose_drop
from graticule.evaluation.shift.planted import CAUSES, WorldConfig, plant_world
from graticule.evaluation.shift.verdicts import has_clear_rest, name_causes

KINDS = (
    ("prior",),
    ("context",),
    ("design",),
    ("prior", "context"),
    ("prior", "design"),
    ("context", "design"),
    ("prior", "context", "design"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What came of the worlds of one kind."""

    kind: str
    judged: int
    passed_over: int
    named: int
    covered: int
    found: int
    others_covered: int
    false_rest: int
    error: float
    elapsed_s: float


def judge_kind(
    kind: tuple[str, ...],
    *,
    n_worlds: int,
    least: float,
    least_share: float,
    config: WorldConfig,
    n_bootstraps: int,
    first_seed: int,
) -> Row:
    tally: Counter[str] = Counter()
    errors: list[float] = []
    began = time.perf_counter()
    for seed in count(first_seed):
        if tally["judged"] == n_worlds or seed - first_seed > 50 * n_worlds:
            break
        world = plant_world(kind, config=config, seed=seed)
        if min(world.truth[cause] for cause in kind) < max(least, least_share * sum(world.truth.values())):
            tally["passed over"] += 1
            continue
        settings = DecompositionConfig(n_bootstraps=n_bootstraps)
        found = decompose_drop(world.outcomes, world.features, config=settings, seed=seed)
        is_named = set(name_causes(found)) == set(kind)
        inside = {
            cause: bool(low <= world.truth[cause] <= high)
            for cause, low, high in zip(found.causes, found.parts.low, found.parts.high, strict=True)
            if cause in CAUSES
        }
        is_covered = all(inside[cause] for cause in kind)
        tally["judged"] += 1
        tally["named"] += is_named
        tally["covered"] += is_covered
        tally["found"] += is_named and is_covered
        tally["rest"] += has_clear_rest(found)
        tally["others"] += all(inside.values())
        errors += [
            found.parts.value[place] - world.truth[cause] for place, cause in enumerate(found.causes) if cause in kind
        ]
    return Row(
        kind=" + ".join(kind),
        judged=tally["judged"],
        passed_over=tally["passed over"],
        named=tally["named"],
        covered=tally["covered"],
        found=tally["found"],
        others_covered=tally["others"],
        false_rest=tally["rest"],
        error=float(np.sqrt(np.mean(np.square(errors)))),
        elapsed_s=time.perf_counter() - began,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=100)
    parser.add_argument("--images", type=int, default=3000, help="a side")
    parser.add_argument("--least", type=float, default=0.05, help="what each planted cause must truly cost")
    parser.add_argument("--least-share", type=float, default=0.25, help="and of the drop")
    parser.add_argument("--leak", type=float, default=0.0)
    parser.add_argument("--bootstraps", type=int, default=100)
    parser.add_argument("--first-seed", type=int, default=0, help="settings were chosen on worlds from 0 on")
    parser.add_argument("--kinds", nargs="*", default=["+".join(kind) for kind in KINDS])
    given = parser.parse_args()
    config = WorldConfig(n_images=given.images, leak=given.leak)
    print(
        "| planted | judged (passed over) | named right | holds | both | all three hold | false rest | error, points |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name in given.kinds:
        row = judge_kind(
            tuple(name.split("+")),
            n_worlds=given.worlds,
            least=given.least,
            least_share=given.least_share,
            config=config,
            n_bootstraps=given.bootstraps,
            first_seed=given.first_seed,
        )
        print(
            f"| {row.kind} | {row.judged} ({row.passed_over}) | {row.named} | {row.covered} | {row.found} | "
            f"{row.others_covered} | {row.false_rest} | {100 * row.error:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()

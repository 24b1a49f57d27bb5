"""Aggregation and agreement beside crowd-kit, cleanlab and krippendorff: the same answers, one run, the same result.

    python benchmarks/aggregation.py                 # sizes that a small machine finishes in minutes
    python benchmarks/aggregation.py --full          # the sizes of the claims, up to ten million answers for ours
    python benchmarks/aggregation.py --only glad mace

Each case runs in a process of its own, ours and the peer's, one after the other, so that a peak of memory is one
program's. Both start from the same table of answers in memory, Polars for ours and pandas for the peers, and end with
labels and probabilities. Names are text, as in every file of answers, and coding them is counted; in the cases called
``…_from_codes`` both start from integers. CPU seconds compare on a busy machine, wall seconds do not.

Where the model is the same the options are too (start, smoothing, steps, tolerance), and the results must agree to
1e-6. MACE's random start is replaced, in crowd-kit's class too, by the one that ours has. GLAD's M-steps end early by
default, where a rounding error moves the end a little: there the labels must agree, and probabilities to 0.01; in the
case of its own where they run to the end, to 1e-6 too.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

AGREE = 1e-6
AGREE_ROUGHLY = 0.01
MARKS = ("<!-- aggregation-speed -->", "<!-- /aggregation-speed -->")
MACE_STEPS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    images: int
    per_image: int
    workers: int
    labels: int

    def __str__(self):
        return f"{self.images * self.per_image:,} answers × {self.labels:,} labels, {self.workers:,} workers"


def draw(size, seed=0):
    """Image, worker and label of a crowd; nobody answers an image twice. Numbers rise with their first appearance."""
    rng = np.random.default_rng(seed)
    n = size.images * size.per_image
    image = np.repeat(np.arange(size.images), size.per_image)
    start = rng.integers(0, size.workers, size.images)
    step = rng.integers(1, max(size.workers // size.per_image, 2), size.images)
    place = np.tile(np.arange(size.per_image), size.images)
    worker = (np.repeat(start, size.per_image) + place * np.repeat(step, size.per_image)) % size.workers
    truth = rng.integers(0, size.labels, size.images)[image]
    skill = rng.uniform(0.3, 0.9, size.workers)[worker]
    near = (truth + rng.integers(1, min(size.labels, 4), n)) % size.labels if size.labels > 2 else 1 - truth
    label = np.where(rng.random(n) < skill, truth, near)
    return image, by_appearance(worker), by_appearance(label)


def by_appearance(codes):
    used, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    rank = np.empty(len(used), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(used))
    return rank[inverse]


def draw_text(size):
    """The same crowd as columns of text."""
    import polars as pl

    image, worker, label = draw(size)
    frame = pl.DataFrame({"image": image, "worker": worker, "label": label})
    width = {"image": 8, "worker": 7, "label": 4}
    return frame.select(pl.col(name).cast(pl.String).str.zfill(n) for name, n in width.items())


def our_table(size, case):
    if not case.from_codes:
        return draw_text(size).with_columns(task_id="image").rename({"image": "image_id", "worker": "worker_id"})
    import polars as pl

    from graticule.annotation.answers import CHOICE, Answers

    image, worker, label = (codes.astype(np.int32) for codes in draw(size))
    names = [pl.Series([f"{n:08d}" for n in range(count)]) for count in (size.images, size.workers, size.labels)]
    return Answers(
        question=CHOICE,
        images=names[0],
        workers=names[1],
        labels=names[2],
        image=image,
        worker=worker,
        label=label,
        selected=np.ones(len(image), dtype=bool),
    )


def peer_table(size, case):
    import pandas as pd

    if case.from_codes:
        image, worker, label = draw(size)
        return pd.DataFrame({"task": image, "worker": worker, "label": label})
    text = draw_text(size)
    return pd.DataFrame({name: text[column].to_list() for name, column in zip(PEER_COLUMNS, text.columns, strict=True)})


PEER_COLUMNS = ("task", "worker", "label")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Probabilities of images × labels (or one number), and how many steps it took."""

    table: np.ndarray
    steps: int = 0


def aggregate(aggregator, table):
    return aggregator.aggregate(as_answers(table))


def as_answers(table):
    from graticule.annotation.answers import Answers, code_answers

    return table if isinstance(table, Answers) else code_answers(table)


def as_table(size, found):
    dense = np.zeros((size.images, size.labels), dtype=np.float32 if size.labels > 100 else float)
    labels = np.array([int(name) for name in found.labels])
    dense[found.image, labels[found.label]] = found.probability
    return Outcome(table=dense, steps=found.n_iterations)


def ours(make):
    def run(size, table):
        found = aggregate(make(), table)
        found.to_labels()
        return found

    return run


def crowdkit(make):
    def run(size, table):
        model = make()
        model.fit_predict_proba(table)
        return model

    return run


def crowdkit_table(size, model):
    names = range(size.labels) if model.probas_.columns.dtype.kind == "i" else [f"{k:04d}" for k in range(size.labels)]
    probabilities = model.probas_.sort_index().reindex(columns=names, fill_value=0.0)
    return Outcome(table=probabilities.to_numpy(), steps=len(getattr(model, "loss_history_", [])))


def dawid_skene(candidates="auto"):
    from graticule.annotation.aggregation.dawid_skene import DawidSkene

    return DawidSkene(tolerance=1e-5, candidates=candidates)


def one_coin():
    from graticule.annotation.aggregation.one_coin import OneCoin

    return OneCoin(tolerance=0.0, smoothing=0.0, max_iterations=20)


def glad():
    from graticule.annotation.aggregation.glad import Glad

    return Glad()


def glad_to_the_end():
    from graticule.annotation.aggregation.glad import Glad

    return Glad(max_steps=2000, step_tolerance=1e-9, tolerance=1e-12)


def mace():
    from graticule.annotation.aggregation.mace import Mace

    return Mace(tolerance=0.0, max_iterations=MACE_STEPS)


def majority():
    from graticule.annotation.aggregation.majority import Majority

    return Majority()


def hbcc():
    from graticule.annotation.aggregation.hbcc import Hbcc

    return Hbcc()


def peer_dawid_skene():
    from crowdkit.aggregation import DawidSkene

    return DawidSkene(n_iter=100, tol=1e-5)


def peer_one_coin():
    from crowdkit.aggregation import OneCoinDawidSkene

    return OneCoinDawidSkene(n_iter=20, tol=-np.inf)


def peer_glad():
    from crowdkit.aggregation import GLAD

    return GLAD()


def peer_glad_to_the_end():
    from crowdkit.aggregation import GLAD

    return GLAD(m_step_max_iter=2000, m_step_tol=1e-9, tol=1e-12)


def peer_mace():
    from crowdkit.aggregation import MACE

    class FromTheSameStart(MACE):
        def _initialize(self, n_workers, n_labels):
            super()._initialize(n_workers, n_labels)
            self.spamming_ = np.full((n_workers, 2), 0.5)
            self.thetas_ = np.full((n_workers, n_labels), 1 / n_labels)

    return FromTheSameStart(n_restarts=1, n_iter=MACE_STEPS)


def cleanlab_majority(size, table):
    """Consensus labels; cleanlab wants a matrix of images × workers."""
    from cleanlab.multiannotator import get_majority_vote_label

    matrix = np.full((size.images, size.workers), np.nan)
    matrix[table["task"], table["worker"]] = table["label"]
    return get_majority_vote_label(matrix, verbose=False)


def our_alpha(size, table):
    from graticule.annotation.agreement.measure import measure_agreement

    return measure_agreement(as_answers(table), n_draws=0)


def our_alpha_with_intervals(size, table):
    from graticule.annotation.agreement.measure import measure_agreement

    return measure_agreement(as_answers(table))


def peer_alpha(size, table):
    import krippendorff

    matrix = np.full((size.workers, size.images), np.nan)
    matrix[table["worker"], table["task"]] = table["label"]
    return krippendorff.alpha(reliability_data=matrix, level_of_measurement="nominal")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    size: Size
    full: Size | None
    ours: Callable
    peer: Callable | None = None
    peer_name: str = "crowd-kit"
    our_result: Callable = as_table
    peer_result: Callable = crowdkit_table
    note: str = ""
    agree: float = AGREE
    from_codes: bool = False


MILLION = Size(images=200_000, per_image=5, workers=1009, labels=10)
TENTH = Size(images=10_000, per_image=10, workers=509, labels=2)
PILOT = Size(images=1000, per_image=10, workers=101, labels=2)
CLASSIFY = Size(images=10_000, per_image=9, workers=307, labels=1000)
CASES = {
    "dawid_skene": Case(size=MILLION, full=None, ours=ours(dawid_skene), peer=crowdkit(peer_dawid_skene)),
    "dawid_skene_from_codes": Case(
        size=MILLION, full=None, ours=ours(dawid_skene), peer=crowdkit(peer_dawid_skene), from_codes=True
    ),
    "one_coin": Case(
        size=Size(images=20_000, per_image=10, workers=1009, labels=4),
        full=None,
        ours=ours(one_coin),
        peer=crowdkit(peer_one_coin),
    ),
    "glad": Case(size=PILOT, full=TENTH, ours=ours(glad), peer=crowdkit(peer_glad), agree=AGREE_ROUGHLY),
    "glad_to_the_end": Case(
        size=Size(images=200, per_image=8, workers=31, labels=2),
        full=None,
        ours=ours(glad_to_the_end),
        peer=crowdkit(peer_glad_to_the_end),
        note="every M-step run to its end",
    ),
    "mace": Case(
        size=PILOT, full=TENTH, ours=ours(mace), peer=crowdkit(peer_mace), note=f"{MACE_STEPS} steps, one start"
    ),
    "majority": Case(
        size=TENTH,
        full=None,
        ours=ours(majority),
        peer=cleanlab_majority,
        from_codes=True,
        peer_name="cleanlab",
        peer_result=lambda size, labels: Outcome(table=np.eye(size.labels)[labels.astype(int)]),
        note="labels; cleanlab breaks ties by the workers' agreement",
        agree=1.0,
    ),
    "krippendorff_alpha": Case(
        size=Size(images=10_000, per_image=9, workers=307, labels=20),
        full=None,
        ours=our_alpha,
        peer=peer_alpha,
        from_codes=True,
        peer_name="krippendorff",
        our_result=lambda _, table: Outcome(table=np.array([table["value"][0]])),
        peer_result=lambda _, value: Outcome(table=np.array([value])),
        note="ours: also Fleiss' kappa, by label and by worker",
    ),
    "alpha_with_intervals_1000_labels": Case(
        size=CLASSIFY,
        full=None,
        ours=our_alpha_with_intervals,
        our_result=lambda _, table: Outcome(table=np.array([table["value"][0]])),
        note="500 resamplings",
    ),
    "dawid_skene_1000_labels": Case(size=CLASSIFY, full=None, ours=ours(dawid_skene)),
    "one_coin_1000_labels": Case(size=CLASSIFY, full=None, ours=ours(one_coin)),
    "hbcc": Case(size=TENTH, full=MILLION, ours=ours(hbcc)),
    "dawid_skene_ten_million": Case(
        size=Size(images=50_000, per_image=10, workers=2003, labels=2),
        full=Size(images=1_000_000, per_image=10, workers=2003, labels=2),
        ours=ours(dawid_skene),
    ),
}


def start_peak():
    """Forget the peak of memory so far (drawing the crowd), where the system can."""
    gc.collect()
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return peak_mb()


def peak_mb():
    with contextlib.suppress(OSError):
        status = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1000
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def run_side(name, side, output, *, full):
    """One program on one case, in this process."""
    case = CASES[name]
    size = case.full if full and case.full else case.size
    table = (our_table if side == "ours" else peer_table)(size, case)
    import_before(name, side)
    before, cpu, wall = start_peak(), time.process_time(), time.perf_counter()
    found = (case.ours if side == "ours" else case.peer)(size, table)
    cpu, wall, peak = time.process_time() - cpu, time.perf_counter() - wall, peak_mb()
    outcome = (case.our_result if side == "ours" else case.peer_result)(size, found)
    np.save(output, outcome.table)
    report = {"cpu_s": cpu, "wall_s": wall, "peak_mb": peak, "before_mb": before, "steps": outcome.steps}
    print(json.dumps(report))


def import_before(name, side):
    """Import what the case uses, so that it is not timed."""
    peers = {"cleanlab": "cleanlab.multiannotator", "crowd-kit": "crowdkit.aggregation", "krippendorff": "krippendorff"}
    modules = [peers[CASES[name].peer_name]]
    if side == "ours":
        modules = ["graticule.annotation.aggregation", "graticule.annotation.agreement.measure"]
        modules += ["scipy.optimize"] * ("glad" in name)
    for module in modules:
        importlib.import_module(module)


def run_apart(name, side, folder, *, full):
    output = Path(folder) / f"{name}.{side}.npy"
    command = [sys.executable, "-W", "ignore", __file__, "--case", name, "--side", side, "--output", str(output)]
    done = subprocess.run(command + ["--full"] * full, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name}, {side}: {done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1]), np.load(output)


def compare(mine, theirs, *, agree):
    """How far the results agree, in words; stops the program where they must and do not."""
    if mine.ndim == 1:
        off = float(np.abs(mine - theirs).max())
        if off > agree:
            raise SystemExit(f"results differ by {off:.2g}")
        return f"differ by {off:.0e}"
    best = np.sort(mine, axis=1)[:, -2:]
    clear = best[:, 1] - best[:, 0] > 1e-6
    same = (mine.argmax(axis=1) == theirs.argmax(axis=1))[clear].mean()
    off = float(np.abs(mine - theirs).max())
    if same < (0.999 if agree == AGREE_ROUGHLY else 1) or off > agree:
        raise SystemExit(f"labels agree on {same:.6f} of the images, probabilities to {off:.2g}")
    words = "labels agree" if same == 1 else f"{same:.2%} of the labels agree"
    words += "" if agree == 1 else f", probabilities to {off:.0e}"
    return words + (f" ({(~clear).sum():,} ties left out)" if not clear.all() else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="the sizes of the claims")
    parser.add_argument("--only", nargs="+", choices=CASES, help="only these cases")
    parser.add_argument("--docs", type=Path, metavar="PAGE", help="page whose table to replace")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("--side", help=argparse.SUPPRESS)
    parser.add_argument("--output", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        run_side(options.case, options.side, options.output, full=options.full)
        return
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.only or CASES:
            case = CASES[name]
            size = case.full if options.full and case.full else case.size
            print(f"\n{name}: {size}{f' ({case.note})' if case.note else ''}", flush=True)
            mine, table = run_apart(name, "ours", folder, full=options.full)
            describe("ours", mine)
            row = f"| {name.replace('_', ' ')} | {size} | {mine['cpu_s']:.2f} | {mine['peak_mb']:,.0f} "
            if case.peer is None:
                rows.append(row + "| | | | | |")
                continue
            theirs, peer_table = run_apart(name, "peer", folder, full=options.full)
            describe(case.peer_name, theirs)
            agreement = compare(table, peer_table, agree=case.agree)
            times = theirs["cpu_s"] / mine["cpu_s"]
            rows.append(
                f"{row}| {case.peer_name} | {theirs['cpu_s']:.2f} | {theirs['peak_mb']:,.0f} | {times:,.0f} × "
                f"| {agreement} |"
            )
            ratios = f"{theirs['cpu_s'] / mine['cpu_s']:.1f} × the speed (CPU), "
            ratios += f"{mine['peak_mb'] / theirs['peak_mb']:.2f} × the peak memory"
            print(f"  ours has {ratios}; {agreement}", flush=True)
    if options.docs:
        write_docs(options.docs, rows)


def write_docs(page, rows):
    """Put the table between the marks of a page."""
    before, _, rest = page.read_text().partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    head = ["| case | size | CPU s | peak MB | peer | its CPU s | its peak MB | speed | the same result |"]
    head += ["|---|---|---:|---:|---|---:|---:|---:|---|"]
    page.write_text("\n".join([before + MARKS[0], "", *head, *rows, "", MARKS[1] + after]))


def describe(who, report):
    steps = f", {report['steps']} steps" if report["steps"] else ""
    print(
        f"  {who:12s} {report['cpu_s']:8.2f} CPU s {report['wall_s']:8.2f} s wall, peak {report['peak_mb']:6.0f} MB "
        f"({report['peak_mb'] - report['before_mb']:.0f} above the table and imports){steps}",
        flush=True,
    )


if __name__ == "__main__":
    main()

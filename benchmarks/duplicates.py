"""Near-duplicates: Graticule, imagededup, cleanvision and fastdup over the same photos, in one run.

    python benchmarks/duplicates.py ../shared/images/imagenet1k_samples_short256 --peers /tmp/peers/bin/python
    python benchmarks/duplicates.py PHOTOS --photos 2000 --docs docs/duplicates.md
    python benchmarks/duplicates.py PHOTOS --signatures 100000 1000000

PHOTOS is a folder of real photos; `--peers` a Python that has imagededup, cleanvision and fastdup (those it lacks are
left out, and named). From the photos the program makes a folder of JPEGs of 640 × 480: four fifths are distinct, whole
photos or windows of half their sides, which share at most half their area; one fifth are copies, each of another one
and changed in one way. Two more kinds, a crop at one corner and a tilt, are planted as well and reported apart.

Each tool runs in a process of its own with its usual settings. Wall and CPU seconds are from before the first file is
read to after the last pair is known; memory is the process's peak, children's included. Recall is the share of copies
that stand in one group with what they were made from; precision the share of right pairs among all pairs of all groups
(of pairs, where a tool gives pairs). `--docs` writes the table between the marks ``<!-- duplicates -->`` and
``<!-- /duplicates -->``, and that of `--signatures` between ``<!-- signatures -->`` and ``<!-- /signatures -->``.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from pathlib import Path

KINDS = ("recompressed", "resized", "cropped", "brighter", "rotated")
"""Kinds that the share of copies is made of, in equal parts."""
HARDER = ("corner", "tilted")
COPIES = 0.2
SIZE = (640, 480)
WINDOWS = tuple((left / 4, top / 4) for left in range(3) for top in range(3))
TOOLS = ("bare decoding", "graticule", "imagededup", "cleanvision", "fastdup")


def make_photos(source: Path, folder: Path, *, n_photos: int, seed: int) -> None:
    """Write the photos; a copy's name is that of its original with the kind of change."""
    from PIL import Image

    rng = random.Random(seed)
    n_kinds = round(n_photos * COPIES / len(KINDS))
    n_distinct = n_photos - n_kinds * len(KINDS)
    files = sorted(path for path in source.rglob("*") if path.suffix.lower() in (".jpg", ".jpeg", ".png"))
    n_most = len(files) * (1 + len(WINDOWS))
    if n_most < n_distinct:
        sys.exit(
            f"{source}: {len(files)} photos give {n_most} distinct pictures, {n_distinct} are wanted: see --photos."
        )
    places = [(None, file) for file in files] + [(window, file) for window in WINDOWS for file in files]
    distinct = places[:n_distinct]
    chosen = rng.sample(range(n_distinct), min(n_distinct, n_kinds * (len(KINDS) + len(HARDER))))
    kinds = dict(zip(chosen, [kind for kind in (*KINDS, *HARDER) for _ in range(n_kinds)], strict=False))
    folder.mkdir(parents=True)
    for number, (window, file) in enumerate(distinct):
        with Image.open(file) as opened:
            picture = opened.convert("RGB")
        if window is not None:
            width, height = picture.width // 2, picture.height // 2
            left, top = int(window[0] * picture.width), int(window[1] * picture.height)
            picture = picture.crop((left, top, left + width, top + height))
        size = SIZE if picture.width >= picture.height else SIZE[::-1]
        picture = picture.resize(size, Image.Resampling.LANCZOS)
        picture.save(folder / f"{number:06d}.jpg", quality=90)
        if number in kinds:
            copy, quality = change(picture, kinds[number], rng)
            target = folder if kinds[number] in KINDS else folder.with_name(f"{folder.name}-harder")
            target.mkdir(exist_ok=True)
            copy.save(target / f"{number:06d}.{kinds[number]}.jpg", quality=quality)


def change(picture, kind: str, rng: random.Random):
    """Return a changed copy and the quality to save it at."""
    from PIL import Image, ImageEnhance

    width, height = picture.size
    if kind == "recompressed":
        return picture, 45
    if kind == "resized":
        scale = rng.uniform(0.4, 0.8)
        return picture.resize((round(width * scale), round(height * scale)), Image.Resampling.LANCZOS), 90
    if kind == "cropped":  # five per cent of each side, where the rest stands is chance
        left, top = rng.uniform(0, 0.05) * width, rng.uniform(0, 0.05) * height
        return picture.crop((round(left), round(top), round(left + 0.95 * width), round(top + 0.95 * height))), 90
    if kind == "corner":
        return picture.crop((round(0.08 * width), round(0.08 * height), width, height)), 90
    if kind == "brighter":
        return ImageEnhance.Brightness(picture).enhance(1.3), 90
    if kind == "rotated":
        turns = (Image.Transpose.ROTATE_90, Image.Transpose.ROTATE_180, Image.Transpose.ROTATE_270)
        return picture.transpose(rng.choice(turns)), 90
    return picture.rotate(rng.choice((-2, 2)), Image.Resampling.BICUBIC), 90


def decode_bare(folder: Path) -> list[list[str]]:
    """Decode every file, grey and at the reduced scale, in as many threads as there are processors; find nothing."""
    from concurrent.futures import ThreadPoolExecutor

    from PIL import Image

    def decode(path: Path) -> None:
        with Image.open(path) as picture:
            picture.draft("L", (32, 32))
            picture.load()

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        list(pool.map(decode, sorted(folder.iterdir())))
    return []


def find_graticule(folder: Path) -> list[list[str]]:
    return [rows["image_id"].to_list() for _, rows in search(folder).clusters.group_by("cluster")]


def search(folder: Path):
    """Return what Graticule finds with its usual settings."""
    import polars as pl

    from graticule.curation.duplicates.find import find_duplicates
    from graticule.curation.duplicates.signatures import Reading

    names = sorted(path.name for path in folder.iterdir())
    images = pl.DataFrame({"image_id": names, "path": names})
    return find_duplicates(images, reading=Reading(base=folder, progress=False))


def find_imagededup(folder: Path) -> list[list[str]]:
    from imagededup.methods import PHash

    found = PHash(verbose=False).find_duplicates(image_dir=str(folder), max_distance_threshold=10)
    return [[name, other] for name, others in found.items() for other in others if name < other]


def find_cleanvision(folder: Path) -> list[list[str]]:
    from cleanvision import Imagelab

    lab = Imagelab(data_path=str(folder))
    lab.find_issues({"exact_duplicates": {}, "near_duplicates": {}}, verbose=False)
    groups = [*lab.info["exact_duplicates"]["sets"], *lab.info["near_duplicates"]["sets"]]
    return [[Path(name).name for name in group] for group in groups]


def find_fastdup(folder: Path) -> list[list[str]]:
    import fastdup

    with tempfile.TemporaryDirectory() as work:
        search = fastdup.create(input_dir=str(folder), work_dir=work)
        search.run(threshold=0.9, print_summary=False)
        pairs = search.similarity()
    return [
        sorted((Path(one).name, Path(other).name))
        for one, other in zip(pairs["filename_from"], pairs["filename_to"], strict=True)
    ]


FINDERS: dict[str, Callable[[Path], list[list[str]]]] = {
    "bare decoding": decode_bare,
    "graticule": find_graticule,
    "imagededup": find_imagededup,
    "cleanvision": find_cleanvision,
    "fastdup": find_fastdup,
}


def work(tool: str, folder: Path, result: Path) -> None:
    """Run one tool in this process, and write what it found and what it cost."""
    started, used = time.perf_counter(), _cpu_s()
    groups = FINDERS[tool](folder)
    wall, cpu = time.perf_counter() - started, _cpu_s() - used
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    result.write_text(json.dumps({"groups": groups, "wall_s": wall, "cpu_s": cpu, "peak_mb": peak / 1024}))


def _cpu_s() -> float:
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def judge(groups: Iterable[list[str]], names: list[str]) -> dict[str, float]:
    """Return precision, and recall by kind of change."""
    right, wrong, found = 0, 0, set[str]()
    seen: set[tuple[str, str]] = set()
    for group in groups:
        for pair in combinations(sorted(set(group)), 2):
            if pair in seen:
                continue
            seen.add(pair)
            if pair[0][:6] == pair[1][:6]:
                right += 1
                found |= {name for name in pair if name.count(".") == 2}
            else:
                wrong += 1
    scores = {"precision": right / (right + wrong) if right + wrong else float("nan"), "wrong": wrong}
    for kind in (*KINDS, *HARDER):
        copies = [name for name in names if f".{kind}." in name]
        if copies:
            scores[kind] = sum(name in found for name in copies) / len(copies)
    copies = [name for name in names if any(f".{kind}." in name for kind in KINDS)]
    if copies:
        scores["all kinds"] = sum(name in found for name in copies) / len(copies)
    return scores


def run_tool(tool: str, folder: Path, *, python: str, timeout_s: int) -> dict[str, object] | None:
    """Return what a tool found and cost in a process of its own; None where it is not installed or fails."""
    with tempfile.TemporaryDirectory() as place:
        result = Path(place, "result.json")
        command = [python, __file__, str(folder), "--worker", tool, "--result", str(result)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=timeout_s, cwd=place)
        except subprocess.TimeoutExpired:
            print(f"{tool}: not done after {timeout_s} s, left out")
            return None
        except OSError as error:
            print(f"{tool}: left out ({error})")
            return None
        if not result.exists():
            print(f"{tool}: left out ({(done.stderr.strip().splitlines() or ['no message'])[-1]})")
            return None
        return json.loads(result.read_text())


def compare(folder: Path, *, tools: Sequence[str], peers: str | None, timeout_s: int) -> list[str]:
    """Return the table of tools, in Markdown."""
    names = sorted(path.name for path in folder.iterdir())
    harder = folder.with_name(f"{folder.name}-harder")
    columns = ("precision", "all kinds", *KINDS)
    lines = [
        "| tool | wall s | CPU s | peak MB | " + " | ".join(columns) + " |",
        "|---" * (4 + len(columns)) + "|",
    ]
    for tool in tools:
        python = sys.executable if tool in TOOLS[:2] else peers
        found = None if python is None else run_tool(tool, folder, python=python, timeout_s=timeout_s)
        if found is None:
            continue
        scores = {} if tool == TOOLS[0] else judge(found["groups"], names)  # pyright: ignore
        cells = [f"{scores[name]:.3f}" if name in scores else "" for name in columns]
        head = f"| {tool} | {found['wall_s']:.1f} | {found['cpu_s']:.1f} | {found['peak_mb']:.0f} | "
        lines.append(head + " | ".join(cells) + " |")
        print(lines[-1], f"wrong pairs: {scores.get('wrong', '')}", flush=True)
    lines += ["", *judge_decisions(folder)]
    if harder.is_dir():
        lines += ["", *compare_harder(folder, harder)]
    return lines


def judge_decisions(folder: Path) -> list[str]:
    """Return how many of the images that Graticule leaves out are copies of the one for whose sake they go."""
    clusters = search(folder).clusters
    gone = clusters.filter(~clusters["is_kept"])
    right = sum(one[:6] == other[:6] for one, other in gone.select("image_id", "nearest").iter_rows())
    said = (
        f"Of {gone.height:,} images that Graticule leaves out, {right:,} ({right / gone.height:.3f}) are copies of the "
    )
    said += "one for whose sake they go."
    print(said)
    return [said]


def compare_harder(folder: Path, harder: Path) -> list[str]:
    """Return Graticule's recall of kinds that its rule is not made for."""
    import shutil

    with tempfile.TemporaryDirectory() as place:
        both = Path(place, "both")
        both.mkdir()
        for file in harder.iterdir():
            original = f"{file.name[:6]}.jpg"
            shutil.copy(folder / original, both / original)
            shutil.copy(file, both / file.name)
        scores = judge(find_graticule(both), sorted(path.name for path in both.iterdir()))
    said = f"a corner crop of 8 % of each side {scores['corner']:.3f}, a tilt by 2° {scores['tilted']:.3f}"
    print(said)
    return [f"Graticule's recall of what its rule is not made for: {said}."]


def measure_signatures(folder: Path, sizes: list[int], *, seed: int) -> list[str]:
    """Return a table of what the search alone costs on many signatures, in Markdown."""
    lines = ["| signatures | wall s | CPU s | peak MB | pairs |", "|---|---|---|---|---|"]
    for size in sizes:
        command = [sys.executable, __file__, str(folder), "--worker-signatures", str(size), "--seed", str(seed)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        lines.append(done.stdout.strip())
        print(lines[-1], flush=True)
    return lines


def work_signatures(folder: Path, size: int, *, seed: int) -> None:
    """Search among signatures made of real ones, each the mean of two that were turned and shifted, and print a row."""
    import numpy as np
    import polars as pl

    from graticule.curation.duplicates.perceptual import link_alike
    from graticule.curation.duplicates.rule import DuplicateConfig, Evidence
    from graticule.curation.duplicates.signatures import SIGNATURE, Reading, read_signatures

    names = sorted(path.name for path in folder.iterdir())
    real = read_signatures(names, reading=Reading(base=folder, progress=False))["greys"]
    greys = np.frombuffer(b"".join(real), dtype=np.uint8).reshape(-1, 32, 32)
    rng = np.random.default_rng(seed)
    held: list[bytes] = []
    for start in range(0, size, 10_000):
        n_made = min(10_000, size - start)
        parts = []
        for _ in range(2):
            part = np.roll(greys[rng.integers(0, len(greys), n_made)], int(rng.integers(0, 32)), axis=2)
            part = np.where(rng.random(n_made)[:, None, None] < 0.5, part[:, ::-1], part)
            parts.append(np.roll(part, int(rng.integers(0, 32)), axis=1))
        mixed = ((parts[0].astype(np.uint16) + parts[1]) // 2).astype(np.uint8)
        held += [picture.tobytes() for picture in mixed]
    signatures = pl.DataFrame({"greys": held}, schema={"greys": pl.Binary})
    signatures = signatures.select(
        *(pl.lit(None, dtype).alias(name) for name, dtype in SIGNATURE.items() if name != "greys"), "greys"
    ).select(list(SIGNATURE))
    del held
    images = pl.DataFrame({"image_id": [str(number) for number in range(size)]})
    evidence = Evidence(images=images, rank=np.arange(size), signatures=signatures)
    started, used = time.perf_counter(), _cpu_s()
    links = link_alike(evidence, DuplicateConfig())
    wall, cpu = time.perf_counter() - started, _cpu_s() - used
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"| {size:,} | {wall:.1f} | {cpu:.1f} | {peak:.0f} | {len(links.first):,} |")


def write_docs(page: Path, mark: str, lines: list[str]) -> None:
    """Write lines between the two marks of a page."""
    text = page.read_text(encoding="utf-8")
    begin, end = f"<!-- {mark} -->", f"<!-- /{mark} -->"
    head, _, rest = text.partition(begin)
    _, _, tail = rest.partition(end)
    page.write_text(f"{head}{begin}\n" + "\n".join(lines) + f"\n{end}{tail}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("--photos", type=int, default=10_000)
    parser.add_argument("--peers", help="a Python that has the peers installed")
    parser.add_argument("--keep", type=Path, help="folder for the photos, used again if it is there")
    parser.add_argument("--signatures", type=int, nargs="*", default=[], help="sizes of the search alone")
    parser.add_argument("--tools", nargs="*", choices=TOOLS, default=TOOLS, help="none: the search alone")
    parser.add_argument("--docs", type=Path)
    parser.add_argument("--mark", default="duplicates", help="name of the marks in that page")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--timeout", type=int, default=900)
    parser.add_argument("--worker", choices=TOOLS, help=argparse.SUPPRESS)
    parser.add_argument("--worker-signatures", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--result", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        work(given.worker, given.source, given.result)
        return
    if given.worker_signatures:
        work_signatures(given.source, given.worker_signatures, seed=given.seed)
        return
    with tempfile.TemporaryDirectory() as place:
        folder = given.keep or Path(place, "photos")
        if not folder.is_dir():
            make_photos(given.source, folder, n_photos=given.photos, seed=given.seed)
        print(f"{sum(1 for _ in folder.iterdir())} photos, {len(os.sched_getaffinity(0))} processors")
        if given.tools:
            table = compare(folder, tools=given.tools, peers=given.peers, timeout_s=given.timeout)
            if given.docs:
                write_docs(given.docs, given.mark, table)
        if given.signatures:
            table = measure_signatures(folder, given.signatures, seed=given.seed)
            if given.docs:
                write_docs(given.docs, "signatures", table)


if __name__ == "__main__":
    main()

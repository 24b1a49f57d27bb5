"""How fast images are embedded, beside the bare network and beside what else people use, in one run.

    python benchmarks/embed.py PHOTOS --images 300 --threads 2 --repeats 3

Every contender computes the same network on the same photos with the same number of threads, in turns, several times;
medians are printed. On a machine that others use too, read the column of CPU seconds: the time that the work took from
the processor, child processes included. "Of bare" is the speed beside the bare network in the same engine, which gets
its tensors ready-made.

Contenders: our pipeline with each engine; a plain loop over a torch DataLoader with timm's transform; timm's own
loader (`timm.data.create_loader`), as its inference script uses it; and FiftyOne's `compute_embeddings`, where
--fiftyone names the Python of an environment that has it.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

BATCH = 32
SUFFIXES = {".jpg", ".jpeg", ".png", ".webp"}
FIFTYONE_PROGRAM = Path(__file__).with_name("embed_fiftyone.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    wall_s: float
    cpu_s: float


def measure(work: Callable[[], object]) -> Timing:
    before, started = os.times(), time.perf_counter()
    work()
    wall, after = time.perf_counter() - started, os.times()
    return Timing(wall_s=wall, cpu_s=sum(after[:4]) - sum(before[:4]))


def bare(model, tensors) -> Callable[[], object]:
    """Return the work of the network alone on tensors that are ready, in as many threads as its engine has streams."""

    def work() -> None:
        with ThreadPoolExecutor(model.engine.n_streams) as pool:
            list(pool.map(lambda batch: model.compute(batch, outputs=["features"]), tensors))

    return work


def plain_openvino(model, tensors, threads: int) -> Callable[[], object]:
    """Return the work of OpenVINO called plainly: whole batches, one stream a thread."""
    engine = model.engine
    compiled = engine.core.compile_model(engine.graph, "CPU", engine.config)

    def work() -> None:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda batch: compiled.create_infer_request().infer([batch], share_inputs=True), tensors))

    return work


def ours(model, images, base: Path, folder: Path) -> Callable[[], object]:
    from graticule.models.extract import embed_images
    from graticule.models.pipeline import StreamConfig

    config = StreamConfig(batch_size=BATCH, progress=False, restart=True)
    return lambda: embed_images(images, base=base, model=model, output=folder / "features.parquet", config=config)


def plain_loader(network, paths: list[Path], threads: int) -> Callable[[], object]:
    """Return the loop that most people write: Dataset, DataLoader, model, features."""
    import torch
    from PIL import Image
    from timm.data import create_transform, resolve_model_data_config
    from torch.utils.data import DataLoader, Dataset

    transform = create_transform(**resolve_model_data_config(network))

    class Photos(Dataset):
        def __len__(self) -> int:
            return len(paths)

        def __getitem__(self, index: int) -> torch.Tensor:
            with Image.open(paths[index]) as image:
                return transform(image.convert("RGB"))

    def work() -> None:
        loader = DataLoader(Photos(), batch_size=BATCH, num_workers=threads)
        with torch.inference_mode():
            for batch in loader:
                network.forward_head(network.forward_features(batch), pre_logits=True).numpy()

    return work


def timm_loader(network, paths: list[Path], threads: int, folder: Path) -> Callable[[], object]:
    """Return timm's way: its dataset, its loader, its loop."""
    import torch
    from timm.data import ImageDataset, create_loader, resolve_model_data_config

    root = folder / "linked" / "all"
    root.mkdir(parents=True)
    for index, path in enumerate(paths):
        (root / f"{index:06d}{path.suffix}").symlink_to(path.resolve())
    config = resolve_model_data_config(network)

    def work() -> None:
        loader = create_loader(
            ImageDataset(str(root.parent)),
            batch_size=BATCH,
            use_prefetcher=False,
            num_workers=threads,
            device=torch.device("cpu"),
            pin_memory=False,
            **{key: config[key] for key in ("input_size", "interpolation", "mean", "std", "crop_pct")},
        )
        with torch.inference_mode():
            for batch, _ in loader:
                network.forward_head(network.forward_features(batch), pre_logits=True).numpy()

    return work


def fiftyone(python: str, name: str, paths: list[Path], threads: int, folder: Path) -> tuple[Timing | None, str]:
    """Return the time of FiftyOne's compute_embeddings in an environment of its own, or why there is none."""
    listing = folder / "photos.json"
    listing.write_text(json.dumps([str(path.resolve()) for path in paths]))
    command = [python, str(FIFTYONE_PROGRAM), str(listing), name.removeprefix("timm/"), str(threads), str(BATCH)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1800)
    if run.returncode != 0:
        return None, f"could not run ({(run.stderr.strip() or 'failed').splitlines()[-1]})"
    found = json.loads(run.stdout.strip().splitlines()[-1])
    return Timing(wall_s=found["wall_s"], cpu_s=found["cpu_s"]), found["note"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photos", type=Path)
    parser.add_argument("--images", type=int, default=300)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--model", default="timm/tf_efficientnet_lite0")
    parser.add_argument("--weights", help="as of graticule embed; 'random' is enough to measure speed")
    parser.add_argument("--engines", nargs="+", default=["openvino", "onnxruntime", "eager"])
    parser.add_argument("--peers", action=argparse.BooleanOptionalAction, default=True, help="time the loops of others")
    parser.add_argument("--fiftyone", metavar="PYTHON", help="Python of an environment with fiftyone and timm")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(options.threads)

    import numpy as np
    import polars as pl
    import timm
    import torch

    from graticule.models.pixels import read_batches
    from graticule.models.registry import load_model

    torch.set_num_threads(options.threads)
    paths = sorted(path for path in options.photos.rglob("*") if path.suffix.lower() in SUFFIXES)[: options.images]
    names = [str(path.relative_to(options.photos)) for path in paths]
    images = pl.DataFrame({"image_id": names, "path": names})
    works: dict[str, tuple[str, Callable[[], object]]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for engine in options.engines:
            model = load_model(options.model, weights=options.weights, device="cpu", engine=engine)
            read = read_batches(names, base=options.photos, transform=model.transform, batch_size=BATCH, n_workers=1)
            tensors = [model.transform.normalise(batch.pixels) for batch in read]
            assert all(np.isfinite(batch).all() for batch in tensors)
            (folder / engine).mkdir()
            works[f"bare network, {engine}"] = (engine, bare(model, tensors))
            if engine == "openvino":
                works["OpenVINO, whole batches"] = (engine, plain_openvino(model, tensors, options.threads))
            works[f"graticule, {engine}"] = (engine, ours(model, images, options.photos, folder / engine))
        if options.peers and options.model.startswith("timm/"):
            plain = timm.create_model(options.model.removeprefix("timm/"), pretrained=False).eval()
            works["torch DataLoader loop"] = ("eager", plain_loader(plain, paths, options.threads))
            works["timm create_loader loop"] = ("eager", timm_loader(plain, paths, options.threads, folder))
        timings: dict[str, list[Timing]] = {name: [] for name in works}
        for _, work in works.values():
            work()  # once, not counted: compilation and the file cache
        for _ in range(options.repeats):
            for name, (_, work) in works.items():
                timings[name].append(measure(work))
        notes: list[str] = []
        if options.fiftyone:
            timing, note = fiftyone(options.fiftyone, options.model, paths, options.threads, folder)
            if timing is not None:
                works["FiftyOne"] = ("eager", print)
                timings["FiftyOne"] = [timing]
            notes.append(f"FiftyOne: {note}")
        else:
            notes.append("FiftyOne: not run (give --fiftyone PYTHON of an environment that has it)")
    print_table(options, works, timings, notes, n_images=len(paths))


def print_table(options, works, timings, notes: list[str], *, n_images: int) -> None:
    print(
        f"{options.model}, {n_images} photos of {options.photos.name}, {options.threads} threads, batches of {BATCH},"
    )
    print(f"median of {options.repeats} rounds; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors\n")
    header = ("", "wall s", "CPU s", "images/s", "ms CPU/image", "of bare, wall", "of bare, CPU")
    print("{:30} {:>8} {:>8} {:>9} {:>13} {:>14} {:>13}".format(*header))
    middle = {
        name: Timing(
            wall_s=statistics.median(timing.wall_s for timing in found),
            cpu_s=statistics.median(timing.cpu_s for timing in found),
        )
        for name, found in timings.items()
    }
    for name, timing in middle.items():
        reference = f"bare network, {works[name][0]}"
        pairs = list(zip(timings.get(reference, []), timings[name], strict=False))
        walls = statistics.median([one.wall_s / other.wall_s for one, other in pairs] or [float("nan")])
        cpus = statistics.median([one.cpu_s / other.cpu_s for one, other in pairs] or [float("nan")])
        print(
            f"{name:30} {timing.wall_s:8.2f} {timing.cpu_s:8.2f} {n_images / timing.wall_s:9.1f} "
            f"{timing.cpu_s / n_images * 1000:13.2f} {walls:14.1%} {cpus:13.1%}"
        )
    for note in notes:
        print(note)


if __name__ == "__main__":
    main()

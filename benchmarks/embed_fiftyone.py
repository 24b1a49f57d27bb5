"""FiftyOne's ``compute_embeddings``, timed; run by ``embed.py`` in an environment that has fiftyone and timm.

    python benchmarks/embed_fiftyone.py photos.json ARCHITECTURE THREADS BATCH

FiftyOne keeps its data in MongoDB. Where that cannot be started, its own data set class, loader and ``embed_all`` are
run without it, which spares it the writing and can only make it faster; the note says so.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path


def main() -> None:
    listing, architecture, threads, batch = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    os.environ.update(FIFTYONE_DO_NOT_TRACK="true", OMP_NUM_THREADS=str(threads))
    paths = json.loads(Path(listing).read_text(encoding="utf-8"))

    import fiftyone.utils.torch as fiftyone_torch
    import timm
    import torch

    torch.set_num_threads(threads)
    network = timm.create_model(architecture, pretrained=False, num_classes=0).eval()
    transform = timm.data.create_transform(**timm.data.resolve_model_data_config(network))
    settings = {
        "model": network,
        "transforms": transform,
        "ragged_batches": False,
        "as_feature_extractor": True,
    }
    model = fiftyone_torch.TorchImageModel(fiftyone_torch.TorchImageModelConfig(settings))
    work, note = with_database(model, paths, threads, batch)
    if work is None:
        work = without_database(model, paths, threads, batch)
    work()
    before, started = os.times(), time.perf_counter()
    work()
    wall, after = time.perf_counter() - started, os.times()
    print(json.dumps({"wall_s": wall, "cpu_s": sum(after[:4]) - sum(before[:4]), "note": note}))


def with_database(model, paths: list[str], threads: int, batch: int) -> tuple[Callable[[], object] | None, str]:
    """Return the work as users do it, or None and why there is no database."""
    import fiftyone

    try:
        dataset = fiftyone.Dataset()
        dataset.add_samples([fiftyone.Sample(filepath=path) for path in paths])
    except Exception as error:  # noqa: BLE001  # whatever it is, the reason is printed
        return None, f"its loader and model without its database ({str(error).strip().splitlines()[0][:60]})"
    return lambda: dataset.compute_embeddings(model, batch_size=batch, num_workers=threads), "compute_embeddings"


def without_database(model, paths: list[str], threads: int, batch: int) -> Callable[[], object]:
    """Return what compute_embeddings does between the database's cursor and its writes."""
    from fiftyone.utils.torch import TorchImageDataset
    from torch.utils.data import DataLoader

    def work() -> None:
        dataset = TorchImageDataset(image_paths=paths, transform=model.transforms, force_rgb=True)
        with model:
            for images in DataLoader(dataset, batch_size=batch, num_workers=threads):
                list(model.embed_all(images))

    return work


if __name__ == "__main__":
    main()

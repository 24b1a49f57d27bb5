"""The options that commands with a model share, and what they print in the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import polars as pl

    from graticule.models.model import Model
    from graticule.models.pipeline import StreamConfig, Streamed

REASONS_SHOWN = 3

OPTIONS = (
    click.option(
        "--model",
        "name",
        required=True,
        metavar="NAME",
        help="timm/…, open_clip/…/…, torchvision/…, hf/…, onnx/FILE.onnx or module:function.",
    ),
    click.option(
        "--weights",
        metavar="FILE|hub|package|random",
        help="Where its weights come from.  [default: an installed package that holds them, else the hub]",
    ),
    click.option(
        "--engine",
        default="auto",
        show_default=True,
        metavar="NAME",
        help="What computes it: eager, compiled, onnxruntime or openvino; auto is the fastest that agrees with torch.",
    ),
    click.option("--device", default="auto", show_default=True, metavar="NAME", help="cpu, cuda, cuda:1 or mps."),
    click.option(
        "--precision",
        default="auto",
        show_default=True,
        metavar="NAME",
        help="float32, bfloat16 or float16; auto is float32, for fewer bits change results.",
    ),
    click.option(
        "--batch-size", type=click.IntRange(1), default=32, show_default=True, help="Images computed at once."
    ),
    click.option("--workers", type=click.IntRange(1), help="Threads that decode.  [default: one a core]"),
    click.option(
        "--reduced-decoding/--full-decoding",
        "reduced",
        default=True,
        show_default=True,
        help="Decode JPEGs at a half, a quarter or an eighth where the model needs no more.",
    ),
    click.option("--restart", is_flag=True, help="Drop what an interrupted run left, instead of going on with it."),
    click.option("--progress/--no-progress", default=True, show_default=True, help="Draw a progress bar."),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """What the shared options said."""

    name: str
    weights: str | None
    engine: str
    device: str
    precision: str
    batch_size: int
    workers: int | None
    reduced: bool
    restart: bool
    progress: bool

    @classmethod
    def parse(cls, options: Mapping[str, Any]) -> ModelOptions:
        """Return the options that click gave."""
        return cls(**options)

    def load(self) -> Model:
        """Return the model."""
        from graticule.models.registry import load_model

        return load_model(
            self.name, weights=self.weights, device=self.device, engine=self.engine, precision=self.precision
        )

    def make_config(self) -> StreamConfig:
        """Return how images are streamed."""
        from graticule.models.pipeline import StreamConfig

        return StreamConfig(
            batch_size=self.batch_size,
            n_workers=self.workers or 0,
            reduced=self.reduced,
            restart=self.restart,
            progress=self.progress,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ListedImages:
    """A table of images, the folder that its paths start from, and the files that it came from."""

    images: pl.DataFrame
    base: Path
    inputs: Mapping[str, Path]


def add_model_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return the command with the shared options."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def open_images(source: Path) -> ListedImages:
    """Return the images that a table or a folder lists."""
    from graticule.data.readers.images import read_images

    images = read_images(source)
    return ListedImages(images=images, base=source.parent if source.is_file() else source, inputs={source.name: source})


def describe_result(result: Streamed, model: Model, *, what: str) -> list[str]:
    """Return the lines that a command prints in the end."""
    info = model.info
    n_new = result.n_written + result.rejects.height - result.n_resumed
    lines = [
        f"{result.n_written} images, {what} → {result.path}",
        f"  {model.name}, weights: {info['weights']['source']}",
        f"  {info['transform']}",
        f"  computed by {info['engine']} in {info['precision']} on {info['device']}: {n_new} images in "
        f"{result.elapsed_s:.1f} s ({n_new / max(result.elapsed_s, 1e-9):.1f} a second)",
    ]
    if result.n_resumed:
        lines.append(f"  {result.n_resumed} images were done by an earlier run that was interrupted")
    lines.append(f"{result.rejects.height} rejects → {result.rejects_path}")
    lines += [f"  {path}: {reason}" for path, reason in result.rejects.head(REASONS_SHOWN).iter_rows()]
    more = result.rejects.height - REASONS_SHOWN
    return [*lines, f"  and {more} more"] if more > 0 else lines

"""``graticule demo``: the main job from photos to the page, typed step by step, on real photos that can be had here."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import click

from graticule.errors import FileError

SHARED_VARIABLE = "GRATICULE_SHARED"
MODEL = "timm/tf_efficientnet_lite0"
SHORT_NAME = "Lite0"
N_TRAINED_ON = 2
DEFAULT_LAYOUT = "{region}/{label}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoPhotos:
    """A folder of photos and what the page says of it."""

    folder: Path
    layout: str
    note: str
    group: str = ""
    is_rendered: bool = False


@click.command()
@click.option("--photos", type=click.Path(path_type=Path), help="Your photos, laid out as region/label/*.jpg.")
@click.option("--layout", default=DEFAULT_LAYOUT, show_default=True, help="What the folders of --photos mean.")
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("demo"), show_default=True)
@click.option("--offline", is_flag=True, help="Do not try to fetch photos from Wikimedia Commons.")
def demo(*, photos: Path | None, layout: str, output: Path, offline: bool) -> None:
    """Run the main job from photos to the page, and show each command as you would type it.

    A linear probe on an ImageNet model's features is trained in one region and tested everywhere; then the same with
    another region. The photos are those you name; else a set of traffic signs of Germany and Italy where it is at hand;
    else a small set of Wikimedia Commons; else rendered scenes, and the page says so.

    \b
      graticule demo
      graticule demo --photos my/photos -o my-demo/
    """
    output.mkdir(parents=True, exist_ok=True)
    found = find_photos(photos, layout=layout, output=output, offline=offline)
    click.echo(f"Photos: {found.note}\n")
    link_photos(found.folder, output / "photos")
    with _working_in(output):
        _run_steps(found)
    click.echo(f"\nOpen {output / 'report' / 'index.html'} in a browser.")


def find_photos(photos: Path | None, *, layout: str, output: Path, offline: bool) -> DemoPhotos:
    """Return the photos to use: the user's, a real two-country set at hand, Commons, or rendered scenes, in this order.

    Raises
    ------
    FileError
        The user's folder does not exist.
    """
    if photos is not None:
        if not photos.is_dir():
            raise FileError(f"{photos}: no such folder; expected photos laid out as {layout}/*.jpg. Check --photos.")
        return DemoPhotos(folder=photos, layout=layout, note=f"your folder {photos}")
    signs = Path(os.environ.get(SHARED_VARIABLE, "../shared")) / "images" / "signs_de_it"
    if signs.is_dir():
        note = "real traffic signs of Germany and Italy, 25 labels (GTSRB and the Roma Tre Traffic Sign Dataset)"
        return DemoPhotos(folder=signs, layout="{region}/{label}/{track}_*", note=note, group="track")
    if not offline:
        from graticule.data.commons import fetch_commons

        with contextlib.suppress(FileError):
            fetch_commons(output / "commons")
            note = "real photos from Wikimedia Commons, Japan and Germany (authors and licences in commons/photos.csv)"
            return DemoPhotos(folder=output / "commons", layout=DEFAULT_LAYOUT, note=note)
    from graticule.data.synthetic import render_scenes

    render_scenes(output / "rendered", seed=0)
    note = "RENDERED SCENES, not photos: no real photos were at hand and none could be fetched"
    return DemoPhotos(folder=output / "rendered", layout=DEFAULT_LAYOUT, note=note, is_rendered=True)


def link_photos(folder: Path, place: Path) -> None:
    """Make ``place`` show ``folder``: a link where the file system has links, else a copy."""
    if place.is_symlink():
        place.unlink()
    if place.exists():
        return
    try:
        place.symlink_to(folder.resolve(), target_is_directory=True)
    except OSError:
        shutil.copytree(folder, place)


def _run_steps(found: DemoPhotos) -> None:
    _type("scan", "photos", "--layout", found.layout, "-o", "images.parquet")
    _type("locate", "images.parquet")
    _type("embed", "images.parquet", "--model", MODEL, "-o", "features.parquet")
    predictions: list[str] = []
    for region in _largest_regions(Path("images.parquet")):
        file = f"trained_in_{''.join(c if c.isalnum() else '_' for c in region).lower()}.parquet"
        group = ["--group", found.group] if found.group else []
        train = ["--train", f'region == "{region}"', *group, "--name", f"{SHORT_NAME} trained in {region}"]
        _type("probe", "features.parquet", "--images", "images.parquet", *train, "-o", file)
        predictions.append(file)
    rendered = ["--rendered"] if found.is_rendered else []
    note = ["--photos-note", found.note]
    _type("audit", "images.parquet", "--predictions", *predictions, "--by", "region", *note, *rendered, "-o", "report")
    _write_plain_tables(Path("images.parquet"), Path(predictions[0]))


def _type(*words: str) -> None:
    from graticule.cli.main import cli

    click.secho(f"$ graticule {shlex.join(words)}", bold=True)
    cli.main(args=list(words), standalone_mode=False)
    click.echo()


def _largest_regions(images: Path) -> list[str]:
    from graticule.data.store import read_table
    from graticule.data.tables import IMAGES

    frame = read_table(images, IMAGES)
    counts = (
        frame.drop_nulls("region")["region"].value_counts(sort=True) if "region" in frame.columns else frame.clear()
    )
    if counts.is_empty():
        raise FileError(
            f"{images}: no image has a region; expected folders laid out as {DEFAULT_LAYOUT}. Use --layout."
        )
    return sorted(counts["region"].head(N_TRAINED_ON).to_list())


def _write_plain_tables(images: Path, predictions: Path) -> None:
    """Write the same as plain CSV, and the labels, as the README's examples take them."""
    import polars as pl

    from graticule.data.readers.predictions import read_predictions
    from graticule.data.store import read_table, replace_atomically, write_text
    from graticule.data.tables import IMAGES

    frame = read_table(images, IMAGES)
    with replace_atomically("images.csv") as temporary:
        frame.select("image_id", "label", "region").write_csv(temporary)
    names = "".join(f"- {json.dumps(label, ensure_ascii=False)}\n" for label in sorted(frame["label"].unique()))
    write_text(f"# The labels of these photos, as prompts for a CLIP-like model.\n{names}", "labels.yaml")
    found = read_predictions(predictions)
    top = [found.labels[index] for index in found.top[:, 0]]
    with replace_atomically("top1.csv") as temporary:
        pl.DataFrame({"image_id": list(found.image_ids), "prediction": top}).write_csv(temporary)


@contextlib.contextmanager
def _working_in(folder: Path) -> Generator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)

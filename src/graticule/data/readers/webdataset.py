"""WebDataset shards: tars in which files of one name before the first dot belong to one image.

``0001.jpg`` is the image, ``0001.cls`` or ``0001.label.txt`` its label, ``0001.json`` an object whose keys become
columns. A source is one tar, or a folder of them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from graticule.data.archives import TAR_SUFFIXES
from graticule.data.readers.columns import clean_images, rename_columns
from graticule.data.readers.json_rows import Json, frame_from_rows
from graticule.data.readers.listing import Listing
from graticule.data.walk import Place, Reject, is_image_name, open_place
from graticule.errors import FileError

LABEL_ENDINGS = ("cls", "cls.txt", "label", "label.txt", "class")
CAPTION_ENDINGS = ("txt", "caption", "caption.txt")
OWN_COLUMNS = ("image_id", "path")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sample:
    """The files of one key in a shard."""

    key: str
    image: str
    companions: tuple[tuple[str, str], ...]
    """Ending and member of the files beside the image."""


def read_webdataset(source: Path, *, exclude: frozenset[Path] = frozenset()) -> Listing:
    """Return the images of one shard or of a folder of shards.

    Raises
    ------
    FileError
        There is no such file, no shard in the folder, or a shard is damaged.
    """
    base = source if source.is_dir() else source.parent
    rejects: list[Reject] = []
    rows: list[dict[str, Json]] = []
    seen: set[str] = set()
    for shard in _find_shards(source, exclude):
        place = open_place(shard)
        name = shard.relative_to(base).as_posix()
        samples, wrong = _group(place, name)
        rejects += [*place.rejects, *wrong]
        for sample in samples:
            row: dict[str, Json] = {
                "image_id": f"{name}/{sample.key}" if sample.key in seen else sample.key,
                "path": f"tar://{sample.image}::{name}",
            }
            seen.add(sample.key)
            try:
                for ending, member in sample.companions:
                    row |= _read_companion(place.read(member), ending)
            except ValueError as error:
                rejects.append(Reject(path=str(row["path"]), reason=f"a file beside it cannot be read ({error})"))
                continue
            rows.append(row)
    renamed = rename_columns(frame_from_rows(rows) if rows else _empty_frame())
    notes = tuple(f"column '{given}' taken as {target}" for target, given in renamed.taken.items())
    return Listing(frame=clean_images(renamed.frame), rejects=tuple(rejects), base=base, notes=notes)


def _find_shards(source: Path, exclude: frozenset[Path]) -> list[Path]:
    if not source.is_dir():
        return [source]
    shards = sorted(
        path for path in source.rglob("*") if path.name.lower().endswith(TAR_SUFFIXES) and path.resolve() not in exclude
    )
    if not shards:
        raise FileError(f"{source}: no tar in the folder, expected WebDataset shards such as 000000.tar.")
    return shards


def _group(place: Place, shard: str) -> tuple[list[_Sample], list[Reject]]:
    """Return the samples of a shard, and the keys that hold no image or several."""
    groups: dict[str, dict[str, str]] = {}
    for name in place.files:
        folder, slash, file = name.rpartition("/")
        stem, _, ending = file.partition(".")
        groups.setdefault(folder + slash + stem, {})[ending.lower()] = name
    samples: list[_Sample] = []
    rejects: list[Reject] = []
    for key, members in groups.items():
        images = [ending for ending in members if is_image_name(f"a.{ending}")]
        if len(images) == 1:
            image = members.pop(images[0])
            samples.append(_Sample(key=key, image=image, companions=tuple(members.items())))
        else:
            found = f"{len(images)} images" if images else "no image"
            rejects.append(Reject(path=f"tar://{key}::{shard}", reason=f"{found} under this key, expected one"))
    return samples, rejects


def _read_companion(data: bytes, ending: str) -> dict[str, Json]:
    """Return the columns that a file beside the image fills; those of unknown kinds fill none."""
    if ending == "json":
        found = json.loads(data)
        if not isinstance(found, dict):
            raise ValueError("its JSON is no object")
        return {name: value for name, value in found.items() if name not in OWN_COLUMNS}
    if ending in LABEL_ENDINGS:
        return {"label": data.decode("utf-8").strip()}
    return {"caption": data.decode("utf-8").strip()} if ending in CAPTION_ENDINGS else {}


def _empty_frame() -> pl.DataFrame:
    return pl.DataFrame(schema=dict.fromkeys(OWN_COLUMNS, pl.String()))

"""Croissant: a JSON file that says what a data set's files are and which columns they make; read by ``mlcroissant``.

A record set's field of images is asked for the images' paths in place of their pixels. As ``mlcroissant`` opens every
file all the same, it is shown empty ones of the same names; the images stay where they lie, in the folder of the JSON
file or in archives there. Nothing is downloaded.
"""

from __future__ import annotations

import json
import logging
import math
import warnings
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, cast

from graticule.data.archives import is_archive, open_index
from graticule.data.readers.columns import clean_images, rename_columns
from graticule.data.readers.json_rows import Json, frame_from_rows
from graticule.data.readers.listing import Listing
from graticule.data.walk import Reject, is_image_name
from graticule.errors import FileError, MissingExtraError, TableError, shown

FILE_NAME = "croissant.json"
IMAGE_TYPE = "ImageObject"
PATH_COLUMN = "path"
MOST_SAID = 300
"""Letters of mlcroissant's own message that are passed on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _ImageField:
    """The field of a record set that holds the images, and where they lie."""

    record_set: str
    name: str
    archives: tuple[Path, ...]
    """The archives that hold them; none if they lie in the folder."""


def read_croissant(source: Path) -> Listing:
    """Return the images of the first record set that has any, with its other fields as columns.

    Parameters
    ----------
    source
        The JSON file, or the folder in which it is called ``croissant.json``.

    Raises
    ------
    FileError
        There is no such file, a file that it names is not there, or an archive is not safe to unpack.
    TableError
        It is not Croissant, or none of its record sets holds images as files.
    MissingExtraError
        The extra ``croissant`` is not installed.
    """
    place = source / FILE_NAME if source.is_dir() else source
    content = _read_json(place)
    distribution = _by_id(content.get("distribution"))
    field = _ask_for_paths(content, distribution, place)
    mapping = {name: _find_file(name, entry, place.parent) for name, entry in _list_objects(distribution)}
    for archive in {*mapping.values(), *field.archives}:
        _check_archive(archive)
    rows: list[dict[str, Json]] = []
    rejects: list[Reject] = []
    seen: set[str] = set()
    for number, record in enumerate(_read_records(content, field, mapping, place), start=1):
        path = record.pop(field.name, None)
        found = _locate(path, field.archives, place.parent) if isinstance(path, str) else None
        if found is None or found in seen:
            reason = "named before" if found else "no such file in the data set's archives"
            rejects.append(Reject(path=str(path), reason=f"record {number}: {reason}"))
            continue
        seen.add(found)
        rows.append({"image_id": found, PATH_COLUMN: found} | {k: v for k, v in record.items() if k != PATH_COLUMN})
    if not rows:
        raise TableError(f"{place}: record set '{field.record_set}' has no image. Are the images where it says?")
    renamed = rename_columns(frame_from_rows(rows))
    notes = tuple(f"{place.name}: field '{given}' taken as {target}" for target, given in renamed.taken.items())
    return Listing(frame=clean_images(renamed.frame), rejects=tuple(rejects), base=place.parent, notes=notes)


def _read_json(place: Path) -> dict[str, Any]:
    if not place.is_file():
        raise FileError(f"{place}: no such file. Is the path relative to another folder than {Path.cwd()}?")
    try:
        content = json.loads(place.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise TableError(f"{place}: not readable JSON ({error}). Was it copied whole?") from error
    if not isinstance(content, dict) or "distribution" not in content or "recordSet" not in content:
        raise TableError(
            f"{place}: not Croissant; expected an object with 'distribution' and 'recordSet'. Is it another JSON file?"
        )
    return cast("dict[str, Any]", content)


def _as_list(value: object) -> list[dict[str, Any]]:
    listed = value if isinstance(value, list) else [value]
    return [cast("dict[str, Any]", entry) for entry in listed if isinstance(entry, dict)]


def _by_id(value: object) -> dict[str, dict[str, Any]]:
    return {str(entry.get("@id", entry.get("name"))): entry for entry in _as_list(value)}


def _list_objects(distribution: Mapping[str, dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Return the single files of a distribution; those inside archives and patterns of files are none."""
    return [
        (name, entry)
        for name, entry in distribution.items()
        if str(entry.get("@type", "")).endswith("FileObject") and not entry.get("containedIn")
    ]


def _ask_for_paths(content: dict[str, Any], distribution: Mapping[str, dict[str, Any]], place: Path) -> _ImageField:
    """Change, in the content, the first field of images into one of their paths, and return it."""
    inside: list[str] = []
    for record_set in _as_list(content["recordSet"]):
        record_name = str(record_set.get("@id", record_set.get("name")))
        for field in _as_list(record_set.get("field")):
            types = field.get("dataType")
            if not any(str(kind).endswith(IMAGE_TYPE) for kind in (types if isinstance(types, list) else [types])):
                continue
            source = field.get("source")
            files = cast("dict[str, Any]", source).get("fileSet") if isinstance(source, dict) else None
            name = str(field.get("@id", field.get("name")))
            if not isinstance(files, dict):
                inside.append(name)
                continue
            files_name = str(cast("dict[str, Any]", files).get("@id"))
            field["dataType"] = "sc:Text"
            field["source"] = {"fileSet": files, "extract": {"fileProperty": "fullpath"}}
            held = _as_list(distribution.get(files_name, {}).get("containedIn"))
            archives = tuple(
                _find_file(str(entry.get("@id")), distribution.get(str(entry.get("@id")), {}), place.parent)
                for entry in held
            )
            if files_name in distribution:
                distribution[files_name].pop("containedIn", None)
                distribution[files_name]["encodingFormat"] = "text/plain"
            return _ImageField(record_set=record_name, name=_short(name, record_name), archives=archives)
    held = f" The images of {shown(inside)} stand inside a table's column; save them as files." if inside else ""
    raise TableError(
        f"{place}: no record set with images as files; expected a field of the type sc:ImageObject whose source is a "
        f"fileSet.{held}"
    )


def _find_file(name: str, entry: Mapping[str, Any], folder: Path) -> Path:
    """Return the file beside the JSON that an entry names, by its path or by the end of its address."""
    address = str(entry.get("contentUrl", ""))
    local = folder / (PurePosixPath(address.split("?", maxsplit=1)[0]).name if "://" in address else address)
    if ".." in PurePosixPath(address).parts or (address.startswith("/") or "\\" in address):
        raise FileError(
            f"{folder}: file object '{name}' lies at {address!r}, outside the folder of the JSON file; expected a path "
            "in it. Move the file there."
        )
    if not address or not local.exists():
        remote = f"Download {address} to there." if "://" in address else "Was the data set copied whole?"
        raise FileError(f"{local}: no such file, which the data set's file object '{name}' names. {remote}")
    return local


def _check_archive(path: Path) -> None:
    """Raise for an archive that would write outside its folder when it is unpacked."""
    if not is_archive(path):
        return
    names = open_index(path).members
    bad = [name for name in names if name.startswith(("/", "\\")) or ".." in PurePosixPath(name).parts]
    bad += [name for name, member in names.items() if "link" in member.fault]
    if bad:
        raise FileError(
            f"{path}: members {shown(bad)} would be written outside the archive's folder, or are links; expected plain "
            "files. Do not trust this archive; pack the images again."
        )


def _locate(path: str, archives: Iterable[Path], folder: Path) -> str | None:
    """Return a path as tables write it: in the folder, or as a member of the archive that holds it."""
    holders = list(archives)
    if not holders:
        return path if (folder / path).is_file() else None
    for archive in holders:
        index = open_index(archive)
        if path in index.members:
            return f"{index.protocol}://{path}::{archive.relative_to(folder).as_posix()}"
    return None


def _read_records(
    content: dict[str, Any], field: _ImageField, mapping: Mapping[str, Path], place: Path
) -> list[dict[str, Json]]:
    with _quietly(), TemporaryDirectory(prefix="croissant") as shadow:
        try:
            croissant = cast("Any", import_module("mlcroissant"))
            epath = cast("Any", import_module("etils.epath"))
        except ImportError as error:
            raise MissingExtraError("mlcroissant", extra="croissant", needed_for="reading Croissant") from error
        _mirror(place.parent, field.archives, Path(shadow))
        try:
            paths = {name: epath.Path(str(path.resolve())) for name, path in mapping.items()}
            metadata = croissant.Metadata.from_json(
                ctx=croissant.Context(folder=epath.Path(shadow), mapping=paths), json_=content
            )
            records = croissant.Dataset.from_metadata(metadata).records(field.record_set)
            return [
                {_short(str(name), field.record_set): _plain(value) for name, value in row.items()} for row in records
            ]
        except Exception as error:  # mlcroissant raises many kinds, of its own and of what it is built on
            said = " ".join(str(error.__cause__ or error).split())[:MOST_SAID] or type(error).__name__
            raise TableError(
                f"{place}: mlcroissant cannot read record set '{field.record_set}' ({said}). Check the file with: "
                "mlcroissant validate --jsonld FILE"
            ) from error


def _mirror(folder: Path, archives: Iterable[Path], shadow: Path) -> None:
    """Make, in an empty folder, an empty file for every image and a link to every other file."""
    names = [name for archive in archives for name in open_index(archive).members]
    for name in names or [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]:
        place = shadow / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if is_image_name(name):
            place.touch()
        elif not names:
            place.symlink_to((folder / name).resolve())


@contextmanager
def _quietly() -> Generator[None]:
    """Keep what mlcroissant says of a file's style, and of the packages it uses, off the terminal."""
    logger = logging.getLogger("absl")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def _short(name: str, record_set: str) -> str:
    """Return a field's name without that of its record set."""
    return name.removeprefix(f"{record_set}/")


def _plain(value: object) -> Json:
    """Return a value as JSON has it: text for bytes and times, nothing for what is missing or no text at all."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in cast("dict[object, object]", value).items()}
    if hasattr(value, "isoformat"):
        text = str(cast("Any", value).isoformat())
        return None if text == "NaT" else text
    if hasattr(value, "item") and not isinstance(value, str):
        value = cast("Any", value).item()
    if isinstance(value, float) and math.isnan(value):
        return None
    return value if isinstance(value, bool | int | float | str) else None

"""YAML files of geography: those that ship with Graticule, and the user's own, read strictly and as plain text.

Every value stays a text, so that ``NO`` is Norway and not a false; a key that stands twice is an error.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from graticule.errors import FileError, GeoError, shown, unknown_choice

Mapped: TypeAlias = dict[str, Any]


class _TextLoader(yaml.BaseLoader):
    """Reads scalars as text and refuses a key that stands twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(None, None, "a key is not a plain text", key.start_mark)
            if key.value in seen:
                raise yaml.constructor.ConstructorError(None, None, f"'{key.value}' stands twice", key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


def list_packaged(folder: str) -> list[str]:
    """Return the names of the YAML files in a folder of this package."""
    place = files("graticule.geo").joinpath(folder)
    return sorted(entry.name.removesuffix(".yaml") for entry in place.iterdir() if entry.name.endswith(".yaml"))


def read_packaged(folder: str, name: str) -> Mapped:
    """Return a YAML file of this package."""
    return yaml.load(files("graticule.geo").joinpath(folder, f"{name}.yaml").read_bytes(), Loader=_TextLoader)


def read_yaml(path: Path, *, keys: Iterable[str]) -> Mapped:
    """Return a user's YAML file, whose keys must be among ``keys``.

    Raises
    ------
    FileError
        It is missing or cannot be read.
    GeoError
        It is not YAML, is no mapping, or has an unknown key.
    """
    allowed = tuple(keys)
    text = read_text(path)
    try:
        raw = yaml.load(text, Loader=_TextLoader)
    except (yaml.YAMLError, RecursionError) as error:
        line = " ".join(str(error).split())
        raise GeoError(f"{path}: not valid YAML ({line}). Check the indentation, colons and quotes there.") from error
    if not isinstance(raw, dict):
        found = "nothing" if raw in (None, "") else f"a {'list' if isinstance(raw, list) else 'text'}"
        raise GeoError(f"{path}: holds {found}, expected the keys {', '.join(allowed)} with a colon after each.")
    for key in raw:
        if key not in allowed:
            raise GeoError(str(unknown_choice("key", key, allowed, where=str(path))))
    return raw


def read_text(path: Path) -> str:
    """Return a user's text file."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: cannot be read as text in UTF-8 ({error}). Is the path right?") from error


def take_text(raw: Mapped, key: str, *, where: str) -> str:
    """Return a text of the file; empty where the key is absent."""
    value = raw.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise GeoError(f"{where}: '{key}' is {shown([value])}, expected a text.")
    return " ".join(value.split())

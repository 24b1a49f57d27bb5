"""Settings as TOML text: the standard library reads the format and does not write it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def write_toml(values: Mapping[str, Any]) -> str:
    """Return settings as TOML; what is None is left out, mappings become tables behind the plain values.

    Examples
    --------
    >>> print(write_toml({"seed": 0, "name": "a", "trainer": {"clip_norm": None, "n_steps": 10}}).strip())
    seed = 0
    name = "a"
    <BLANKLINE>
    [trainer]
    n_steps = 10
    """
    return "\n".join(_lines(values, prefix="")) + "\n"


def _lines(values: Mapping[str, Any], *, prefix: str) -> list[str]:
    lines = [
        f"{_key(name)} = {_value(value)}"
        for name, value in values.items()
        if value is not None and not isinstance(value, Mapping)
    ]
    for name, value in values.items():
        if isinstance(value, Mapping):
            inner = _lines(value, prefix=f"{prefix}{_key(name)}.")
            if inner:
                lines += ["", f"[{prefix}{_key(name)}]", *inner]
    return lines


def _key(name: str) -> str:
    is_bare = bool(name) and all(letter.isascii() and (letter.isalnum() or letter in "_-") for letter in name)
    return name if is_bare else json.dumps(name, ensure_ascii=False)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(item) for item in value)}]"
    return repr(value)

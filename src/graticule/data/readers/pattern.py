"""A pattern of folder names, such as ``{region}/{label}`` → what each file's path says.

``{name}`` is a part of the path that becomes the column of that name, ``*`` any part that is of no interest, ``**`` any
number of folders. A pattern names folders. It describes the file's name too if its last part holds a dot or a star
(``{label}/{source_id}_*.jpg``, ``{region}/{label}/*``) or is more than one column (``{label}/{track}_{frame}``, where
the ending is left out).
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

from graticule.data.readers.columns import SPLITS
from graticule.data.tables import IMAGES
from graticule.errors import ConfigError

TEXT_COLUMNS = ("label", "dataset", "split", "region", "country", "source_id")
"""Declared columns that a path can fill."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A compiled pattern."""

    text: str
    columns: tuple[str, ...]
    expression: re.Pattern[str]

    def match(self, name: str) -> dict[str, str] | None:
        """Return column → value for a file's path, or None if it does not fit."""
        found = self.expression.fullmatch(name.replace("\\", "/"))
        if found is None:
            return None
        values = found.groupdict()
        if "split" in values:
            split = values["split"].lower()
            values["split"] = SPLITS.get(split, split)
        return values


def compile_pattern(text: str) -> Pattern:
    """Return the pattern that ``text`` describes.

    Raises
    ------
    ConfigError
        A brace is not closed, a column stands twice, is no name, or is measured from the file itself.

    Examples
    --------
    >>> compile_pattern("{region}/{label}").match("Africa/house/1.jpg")
    {'region': 'Africa', 'label': 'house'}
    >>> compile_pattern("{source_id}_{label}.*").match("n01440764_tench.jpg")
    {'source_id': 'n01440764', 'label': 'tench'}
    >>> compile_pattern("{label}/{track}_{frame}").match("limit_30/00001_29.jpg")
    {'label': 'limit_30', 'track': '00001', 'frame': '29'}
    """
    columns = re.findall(r"\{([^{}]*)\}", text)
    _check(text, columns)
    parts = text.strip("/").split("/")
    expression = "".join(_compile_part(part, is_last=index == len(parts) - 1) for index, part in enumerate(parts))
    if parts[-1] == "**":
        expression += r"[^/]+"
    elif re.fullmatch(r"\{[^{}]*\}|[^{}*.]*", parts[-1]):
        expression += r"/[^/]+"
    elif "*" not in parts[-1] and "." not in parts[-1]:
        expression += r"(?:\.[^/.]+)?"
    return Pattern(text=text, columns=tuple(columns), expression=re.compile(expression, re.DOTALL))


def _compile_part(part: str, *, is_last: bool) -> str:
    if part == "**":
        return r"(?:[^/]+/)*"
    pieces = re.split(r"(\{[^{}]*\}|\*)", part)
    text = ""
    for piece in pieces:
        if piece.startswith("{"):
            text += f"(?P<{piece[1:-1]}>[^/]+?)"
        else:
            text += r"[^/]*" if piece == "*" else re.escape(piece)
    return text if is_last else text + "/"


def _check(text: str, columns: list[str]) -> None:
    expected = "expected folder names such as '{region}/{label}', with * for folders of no interest"
    if re.sub(r"\{[^{}]*\}", "", text).count("{") or re.sub(r"\{[^{}]*\}", "", text).count("}"):
        raise ConfigError(f"--layout '{text}': a brace without its partner; {expected}.")
    if len(set(columns)) < len(columns):
        raise ConfigError(f"--layout '{text}': a column stands there twice; {expected}.")
    for column in columns:
        if not column.isidentifier():
            raise ConfigError(f"--layout '{text}': '{{{column}}}' is no column name; {expected}.")
        if column in IMAGES.columns and column not in TEXT_COLUMNS:
            raise ConfigError(
                f"--layout '{text}': '{column}' is found out from the file itself; expected one of "
                f"{', '.join(TEXT_COLUMNS)}, or a name of your own."
            )
        near = difflib.get_close_matches(column.lower(), TEXT_COLUMNS, n=1, cutoff=0.75)
        if near and column != near[0]:
            raise ConfigError(f"--layout '{text}': unknown column '{column}'. Did you mean '{near[0]}'?")

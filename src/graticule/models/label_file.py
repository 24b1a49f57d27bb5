"""Labels files: which labels a model is asked about, and what each of them means to it.

====================  =================================================================================================
form                  looks like
====================  =================================================================================================
YAML, a list          ``[cup, lamp]``: the names alone
YAML, a mapping       ``lamp: {synsets: [n03637318], classes: [torch, 845], prompts: [a photo of a lamp.],
                      description: a lamp}``, each of the four optional
CSV                   a label, then its synsets; or a header with columns ``label``, ``synset…``, ``class…``,
                      ``prompt…``, ``description``
text (``.txt``)       a label a line
====================  =================================================================================================

``synsets`` and ``classes`` name classes of a model with a fixed head (`graticule.models.label_space`); ``prompts`` and
``description`` are for CLIP-like models (`graticule.models.zero_shot`).
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from graticule.errors import EXAMPLES_SHOWN, ConfigError, FileError, unknown_choice

KEYS = ("synsets", "classes", "prompts", "description")
CSV_COLUMNS = {"synset": "synsets", "class": "classes", "prompt": "prompts", "description": "description"}
"""How a column's name starts → what it holds."""
EXPECTED = (
    "expected a list of labels, or each label with synsets, classes, prompts or a description; see docs/label_spaces.md"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRule:
    """A label, and what it means to a model."""

    label: str
    synsets: tuple[str, ...] = ()
    """WordNet ids or senses, such as ``n02084071`` or ``dog.n.01``."""
    classes: tuple[str, ...] = ()
    """Names of classes of a model's head, or their indices."""
    prompts: tuple[str, ...] = ()
    """Whole sentences, used as they are."""
    description: str = ""
    """What stands in prompt templates instead of the label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelFile:
    """The labels of a file, in its order."""

    rules: tuple[LabelRule, ...]
    where: str
    sha256: str
    """Of the file's bytes."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels' names."""
        return tuple(rule.label for rule in self.rules)


class _TextLoader(yaml.BaseLoader):
    """Reads every value as text, so that ``no`` stays a label, and refuses a label that stands twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        names = Counter(key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode))
        twice = [name for name, count in names.items() if count > 1]
        if twice:
            raise yaml.constructor.ConstructorError(None, None, f"'{twice[0]}' stands twice", node.start_mark)
        return super().construct_mapping(node, deep=deep)


def read_label_file(source: str | Path) -> LabelFile:
    """Return the labels of a file.

    Raises
    ------
    FileError
        The file is missing, or is no text.
    ConfigError
        It is empty or malformed, or a label stands twice; every fault is named.
    """
    place = Path(source)
    try:
        raw = place.read_bytes()
        text = raw.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise FileError(f"{place}: the labels file cannot be read as text in UTF-8 ({error}). Is it right?") from error
    suffix = place.suffix.lower()
    if suffix in (".csv", ".tsv"):
        entries = _read_csv(text, place, delimiter="\t" if suffix == ".tsv" else ",")
    elif suffix == ".txt":
        entries = [(line.strip(), None) for line in text.splitlines() if line.strip()]
    else:
        entries = _read_yaml(text, place)
    return LabelFile(rules=_check(entries, place), where=str(place), sha256=hashlib.sha256(raw).hexdigest())


def _read_yaml(text: str, place: Path) -> list[tuple[Any, Any]]:
    try:
        found = yaml.load(text, Loader=_TextLoader)
    except (yaml.YAMLError, RecursionError) as error:
        line = " ".join(str(error).split())
        raise ConfigError(f"{place}: not a valid YAML file of labels ({line}); {EXPECTED}.") from error
    if isinstance(found, Mapping):
        return list(found.items())
    if isinstance(found, list):
        return [(label, None) for label in found]
    if not found:
        return []
    raise ConfigError(f"{place}: holds the text {str(found)[:40]!r}, {EXPECTED}.")


def _read_csv(text: str, place: Path, *, delimiter: str) -> list[tuple[Any, Any]]:
    rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if any(cell.strip() for cell in row)]
    if not rows:
        return []
    if rows[0][0].strip().lower() != "label":
        return [(row[0].strip(), {"synsets": _filled(row[1:])}) for row in rows]
    kinds = [_kind_of_column(name, place) for name in rows[0][1:]]
    entries: list[tuple[Any, Any]] = []
    for row in rows[1:]:
        rule: dict[str, Any] = {}
        for kind, cell in zip(kinds, row[1:], strict=False):
            if not cell.strip():
                continue
            if kind == "description":
                rule[kind] = cell.strip()
            else:
                rule[kind] = [*rule.get(kind, []), cell.strip()]
        entries.append((row[0].strip(), rule))
    return entries


def _kind_of_column(name: str, place: Path) -> str:
    for start, kind in CSV_COLUMNS.items():
        if name.strip().lower().startswith(start):
            return kind
    raise unknown_choice("column", name, ["label", *CSV_COLUMNS], where=str(place))


def _filled(cells: Sequence[str]) -> list[str]:
    return [cell.strip() for cell in cells if cell.strip()]


def _check(entries: Sequence[tuple[Any, Any]], place: Path) -> tuple[LabelRule, ...]:
    """Return the rules, or raise with every fault."""
    if not entries:
        raise ConfigError(f"{place}: no labels in it; {EXPECTED}.")
    faults: list[str] = []
    rules: list[LabelRule] = []
    for label, given in entries:
        if not isinstance(label, str) or not label.strip():
            faults.append(f"the label {str(label)[:40]!r} is not a text")
            continue
        rule = _make_rule(label.strip(), given, faults)
        if rule is not None:
            rules.append(rule)
    counts = Counter(rule.label for rule in rules)
    faults += [f"the label {label!r} stands {count} times" for label, count in counts.items() if count > 1]
    if faults:
        more = f"; and {len(faults) - EXAMPLES_SHOWN} more faults" if len(faults) > EXAMPLES_SHOWN else ""
        raise ConfigError(f"{place}: {'; '.join(faults[:EXAMPLES_SHOWN])}{more}. Give each label once, {EXPECTED[9:]}.")
    return tuple(rules)


def _make_rule(label: str, given: Any, faults: list[str]) -> LabelRule | None:
    if given is None or given == "":
        return LabelRule(label=label)
    if not isinstance(given, Mapping):
        faults.append(f"{label!r} holds {str(given)[:40]!r}, not any of {', '.join(KEYS)} with a colon after it")
        return None
    lists: dict[str, tuple[str, ...]] = {}
    for key, value in given.items():
        if key not in KEYS:
            faults.append(f"{label!r}: {unknown_choice('key', str(key), KEYS)}")
            continue
        values = value if isinstance(value, list) else [value] if value not in (None, "") else []
        if not all(isinstance(item, str) for item in values):
            faults.append(f"{label!r}: '{key}' holds something that is not a text")
            continue
        lists[key] = tuple(dict.fromkeys(item.strip() for item in values if item.strip()))
    return LabelRule(
        label=label,
        synsets=lists.get("synsets", ()),
        classes=lists.get("classes", ()),
        prompts=lists.get("prompts", ()),
        description=" ".join(lists.get("description", ())),
    )

"""What labels mean: a readable name, a description for workers, and the WordNet id, where they are known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import polars as pl

from graticule.data.tables import TEXT, Column, Table
from graticule.data.validate import validate_table

WORDNET_ID = re.compile(r"[nvars]\d{8}")

GLOSSARY = Table(
    name="glossary",
    row="a label",
    key=("label",),
    columns={
        "label": Column(dtype=TEXT, required=True, nullable=False, meaning="the label, as the other tables write it"),
        "name": Column(dtype=TEXT, meaning="the label in words"),
        "description": Column(dtype=TEXT, meaning="what it means, for a person who has to recognise it"),
        "wordnet_id": Column(dtype=TEXT, meaning="its WordNet 3.0 synset, as in n01440764"),
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Glossary:
    """Names, descriptions and WordNet ids of labels, each where it is known.

    A label that is itself a WordNet id (``n01440764``) needs no entry.
    """

    names: Mapping[str, str] = field(default_factory=dict[str, str])
    descriptions: Mapping[str, str] = field(default_factory=dict[str, str])
    wordnet_ids: Mapping[str, str] = field(default_factory=dict[str, str])

    def find_wordnet_id(self, label: str) -> str | None:
        """Return the WordNet id of a label; None where it is not known."""
        known = self.wordnet_ids.get(label)
        return known or (label if WORDNET_ID.fullmatch(label) else None)

    def describe(self, labels: Iterable[str]) -> dict[str, str]:
        """Return what workers read for each label that has a name or a description: ``name: description``."""
        texts: dict[str, str] = {}
        for label in labels:
            parts = [self.names.get(label, ""), self.descriptions.get(label, "")]
            text = ": ".join(part for part in parts if part)
            if text:
                texts[label] = text
        return texts


def make_glossary(table: pl.DataFrame, *, where: str) -> Glossary:
    """Return the glossary that a table holds.

    Parameters
    ----------
    table
        A row a label: ``label``, and any of ``name``, ``description`` and ``wordnet_id``.
    where
        The file it came from, for the message.

    Raises
    ------
    TableError
        There is no column ``label``, or a label stands in two rows.

    Examples
    --------
    >>> make_glossary(pl.DataFrame({"label": ["0"], "name": ["tench"]}), where="labels.csv").describe(["0", "1"])
    {'0': 'tench'}
    """
    checked = validate_table(table, GLOSSARY, where=where)
    columns = {
        name: {
            str(label): str(value)
            for label, value in checked.select("label", name).drop_nulls().iter_rows()
            if str(value).strip()
        }
        for name in ("name", "description", "wordnet_id")
        if name in checked.columns
    }
    return Glossary(
        names=columns.get("name", {}),
        descriptions=columns.get("description", {}),
        wordnet_ids=columns.get("wordnet_id", {}),
    )


def add_glosses(glossary: Glossary, labels: Iterable[str]) -> Glossary:
    """Return the glossary with WordNet's words and glosses for those of ``labels`` whose id it knows.

    Raises
    ------
    MissingExtraError, FileError
        There is an id to look up, and WordNet is not installed.
    """
    wanted = {label: glossary.find_wordnet_id(label) for label in labels if label not in glossary.descriptions}
    found = {label: wordnet_id for label, wordnet_id in wanted.items() if wordnet_id}
    if not found:
        return glossary
    from graticule.annotation.wordnet import open_wordnet

    wordnet = open_wordnet()
    described = {label: wordnet.describe(wordnet_id) for label, wordnet_id in found.items()}
    return Glossary(
        names={label: words for label, (words, _) in described.items()} | dict(glossary.names),
        descriptions={label: gloss for label, (_, gloss) in described.items()} | dict(glossary.descriptions),
        wordnet_ids=glossary.wordnet_ids,
    )

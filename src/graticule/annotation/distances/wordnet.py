"""Nodes between two labels on the shortest way through WordNet's hypernyms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from graticule.annotation.glossary import Glossary
from graticule.annotation.wordnet import open_wordnet
from graticule.errors import TableError, shown


class WordnetDistance:
    """Steps up from one synset to a common ancestor, and down to the other, the fewest there are.

    Parameters
    ----------
    argument
        WordNet's folder; empty for where it is usually installed.
    glossary
        Where the labels' WordNet ids are; labels that are ids need no entry.
    """

    def __init__(self, argument: str = "", glossary: Glossary | None = None) -> None:
        self._folder = argument
        self._glossary = glossary or Glossary()
        self._ancestors: dict[str, dict[str, int]] = {}

    def measure(self, first: Sequence[str], second: Sequence[str]) -> Float[np.ndarray, " n"]:
        """Return the distance of each pair, shape ``(n,)``; infinity where no synset stands above both.

        Raises
        ------
        TableError
            A label has no WordNet id.
        """
        self._climb({*first, *second})
        return np.array([self._between(one, other) for one, other in zip(first, second, strict=True)], dtype=float)

    def _climb(self, labels: set[str]) -> None:
        ids = {label: self._glossary.find_wordnet_id(label) for label in sorted(labels - set(self._ancestors))}
        unknown = [label for label, wordnet_id in ids.items() if wordnet_id is None]
        if unknown:
            raise TableError(
                f"{len(unknown)} labels have no WordNet id: {shown(unknown)}; expected ids such as n01440764, or "
                "a column wordnet_id in --glossary. For labels that are not in WordNet use --distance none or "
                "file:pairs.csv."
            )
        if ids:
            wordnet = open_wordnet(self._folder)
            self._ancestors |= {label: wordnet.find_ancestors(name) for label, name in ids.items() if name}

    def _between(self, one: str, other: str) -> float:
        up, down = self._ancestors[one], self._ancestors[other]
        return float(min((steps + down[name] for name, steps in up.items() if name in down), default=np.inf))

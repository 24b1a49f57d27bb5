"""How far apart two labels are in meaning: the interface, and the one place that picks a distance by name.

Pruning keeps a rarely selected label when it is far from the given one, because it may name another object in the
image; grids borrow images of far labels as negative controls.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from graticule.annotation.distances import DISTANCES
from graticule.annotation.glossary import Glossary
from graticule.errors import unknown_choice

FAR_NODES = 5.0
"""Labels more than this many WordNet nodes apart may name different objects (Tsipras et al. 2020, appendix B.1.2)."""


@runtime_checkable
class Distance(Protocol):
    """A distance between labels."""

    def measure(self, first: Sequence[str], second: Sequence[str]) -> Float[np.ndarray, " n"]:
        """Return the distance of each pair, shape ``(n,)``, in nodes; infinity where nothing joins the two.

        Raises
        ------
        TableError
            A label, or a pair, that this distance does not know.
        """
        ...


def load_distance(name: str, *, glossary: Glossary | None = None) -> Distance:
    """Return the distance called ``name``, with what follows a colon as its argument.

    Parameters
    ----------
    name
        ``wordnet``, ``none`` or ``file:PATH``.
    glossary
        What is known of the labels; WordNet ids are taken from there.

    Raises
    ------
    ConfigError
        There is no such distance.

    Examples
    --------
    >>> load_distance("none").measure(["cat"], ["dog"]).tolist()
    [0.0]
    """
    key, _, argument = name.partition(":")
    if key not in DISTANCES:
        raise unknown_choice("distance", key, DISTANCES)
    module, _, attribute = DISTANCES[key].partition(":")
    distance: Distance = getattr(import_module(module), attribute)(argument, glossary or Glossary())
    return distance

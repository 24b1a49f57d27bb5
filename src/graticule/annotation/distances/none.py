"""No distance: every label counts as near every other, so that no rule about far labels applies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from graticule.annotation.glossary import Glossary


class NoDistance:
    """A distance of zero between all labels, for label spaces of which nothing is known."""

    def __init__(self, argument: str = "", glossary: Glossary | None = None) -> None:
        del argument, glossary

    def measure(self, first: Sequence[str], second: Sequence[str]) -> Float[np.ndarray, " n"]:
        """Return zeros, shape ``(n,)``."""
        del second
        return np.zeros(len(first))

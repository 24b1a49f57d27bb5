"""What every coefficient of agreement is: a function of sums over images."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from jaxtyping import Float

from graticule.annotation.agreement.sums import Sums


class Coefficient(Protocol):
    """A coefficient of agreement."""

    def __call__(self, sums: Sums) -> Float[np.ndarray, " s"]:
        """Return the coefficient of each set of sums, shape ``(s,)``; NaN where all answers are the same."""
        ...

"""Sums from a table of counts: units × values, as textbooks print it."""

from __future__ import annotations

import numpy as np
from jaxtyping import Num

from graticule.annotation.agreement.sums import Sums


def sum_counts(counts: Num[np.ndarray, "u v"]) -> Sums:
    """Return the sums, of shape ``(1,)``, of how often each value was answered on each unit.

    Units with fewer than two answers are left out.
    """
    compared = counts[counts.sum(axis=1) > 1].astype(float)
    m = compared.sum(axis=1, keepdims=True)
    differing = compared * (m - compared) / (m - 1)
    return Sums(
        answers=np.array([compared.sum()]),
        squares=np.array([(compared.sum(axis=0) ** 2).sum()]),
        differing=np.array([differing.sum()]),
        differing_pairs=np.array([(differing / m).sum()]),
        units=np.array([float(len(compared))]),
    )

"""How far the features of two sets of images lie apart, one distance a file."""

from __future__ import annotations

from graticule.evaluation.shift.distances.domain_classifier import measure_domain_classifier
from graticule.evaluation.shift.distances.energy import measure_energy
from graticule.evaluation.shift.distances.frechet import measure_frechet
from graticule.evaluation.shift.distances.mmd import measure_mmd
from graticule.evaluation.shift.distances.sides import Distance

DISTANCES: dict[str, Distance] = {
    "domain_classifier": measure_domain_classifier,
    "energy": measure_energy,
    "frechet": measure_frechet,
    "mmd": measure_mmd,
}
"""Name → function."""

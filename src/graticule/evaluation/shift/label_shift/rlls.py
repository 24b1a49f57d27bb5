"""Regularised learning under label shift: as BBSE, with the departure from the source's shares drawn towards none."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from graticule.evaluation.shift.label_shift.evidence import Evidence, weigh_shares

DELTA = 0.05
"""Chance that the bound on the confusions' error fails."""
SCALE = 0.01
"""What the bound is multiplied with: as it stands it is far too wide to be of use (the authors' programs do alike)."""
ROUNDS = 20


def estimate_rlls(evidence: Evidence) -> Float[np.ndarray, " k"]:
    """Return the labels' shares in the target.

    Notes
    -----
    Minimises |C θ - b| + Δ |θ|, with neither norm squared, over departures θ of at least -1, by a ridge regression
    whose penalty is set anew from its own solution until it stays.

    References
    ----------
    Azizzadenesheli, Liu, Yang and Anandkumar (2019), Regularized learning for domain adaptation under label shifts,
    equation 4 and lemma 1.
    """
    from scipy.optimize import lsq_linear

    confusions = evidence.confuse()
    rest = evidence.predict_target() - confusions.sum(axis=1)
    n_images = evidence.source_weight.sum()
    n_labels = evidence.n_labels
    reach = np.log(2 * n_labels / DELTA) / n_images
    penalty = SCALE * (2 * reach + np.sqrt(2 * reach))
    ridge = penalty
    departure = np.zeros(n_labels)
    for _ in range(ROUNDS):
        design = np.concatenate([confusions, np.sqrt(ridge) * np.eye(n_labels)])
        found = lsq_linear(design, np.r_[rest, np.zeros(n_labels)], bounds=(-1.0, np.inf)).x
        moved = float(np.abs(found - departure).max())
        departure = found
        length = float(np.linalg.norm(departure))
        if moved < 1e-6 or length < 1e-12:
            break
        ridge = max(penalty * float(np.linalg.norm(confusions @ departure - rest)) / length, 1e-10)
    return weigh_shares(1 + departure, evidence.share_source())

"""Black-box shift estimation: which shares of labels turn the source's confusions into the target's predictions."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from graticule.evaluation.shift.label_shift.evidence import Evidence, weigh_shares


def estimate_bbse(evidence: Evidence) -> Float[np.ndarray, " k"]:
    """Return the labels' shares in the target; labels that the source lacks have none.

    Notes
    -----
    The linear system is solved by least squares, so that labels that are never predicted do no harm.

    References
    ----------
    Lipton, Wang and Smola (2018), Detecting and correcting for label shift with black box predictors, equation 3.
    """
    weights = np.linalg.lstsq(evidence.confuse(), evidence.predict_target(), rcond=1e-6)[0]
    return weigh_shares(weights, evidence.share_source())

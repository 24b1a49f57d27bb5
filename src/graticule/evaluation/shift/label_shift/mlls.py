"""Maximum likelihood label shift: the shares under which the target's calibrated probabilities are likeliest, by EM."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from graticule.evaluation.shift.label_shift.evidence import Evidence

ROUNDS = 200
TOLERANCE = 1e-6
SMALLEST = 1e-9
BIAS_PENALTY = 1e-3


def estimate_mlls(evidence: Evidence) -> Float[np.ndarray, " k"]:
    """Return the labels' shares in the target; NaN where the model gives no probabilities, but its best label alone.

    Notes
    -----
    Probabilities are calibrated on the source first, by a temperature and a bias a label, without which the estimate
    is known to be off.

    References
    ----------
    Saerens, Latinne and Decaestecker (2002), Adjusting the outputs of a classifier to new a priori probabilities;
    Alexandari, Kundaje and Shrikumar (2020), Maximum likelihood with bias-corrected calibration is hard-to-beat at
    label shift adaptation.
    """
    if ((evidence.target_scores == 0) | (evidence.target_scores == 1)).all():
        return np.full(evidence.n_labels, np.nan)
    calibrated = _calibrate(evidence)
    source = evidence.share_source()
    known = source > 0
    shares = source.copy()
    for _ in range(ROUNDS):
        factors = np.divide(shares, source, out=np.zeros(len(source)), where=known)
        posterior = calibrated * factors
        posterior /= np.maximum(posterior.sum(axis=1, keepdims=True), 1e-300)
        renewed = evidence.target_weight @ posterior / evidence.target_weight.sum()
        moved = float(np.abs(renewed - shares).max())
        shares = renewed
        if moved < TOLERANCE:
            break
    return shares / shares.sum()


def _calibrate(evidence: Evidence) -> Float[np.ndarray, "m k"]:
    """Return the target's probabilities after the temperature and biases that fit the source's labels best."""
    from scipy.optimize import minimize
    from scipy.special import log_softmax, softmax

    logits = np.log(np.maximum(evidence.source_scores, SMALLEST)).astype(np.float64)
    onehot = np.zeros(logits.shape)
    onehot[np.arange(len(logits)), evidence.source_label] = 1.0
    weight = evidence.source_weight / evidence.source_weight.sum()

    def measure(point: np.ndarray) -> tuple[float, np.ndarray]:
        scores = logits * point[0] + point[1:]
        loss = -(weight * log_softmax(scores, axis=1)[onehot == 1]).sum() + BIAS_PENALTY * (point[1:] ** 2).sum()
        residual = weight[:, None] * (softmax(scores, axis=1) - onehot)
        slope = np.r_[(residual * logits).sum(), residual.sum(axis=0) + 2 * BIAS_PENALTY * point[1:]]
        return float(loss), slope

    start = np.r_[1.0, np.zeros(evidence.n_labels)]
    bounds = [(1e-2, 10.0), *[(None, None)] * evidence.n_labels]
    found = minimize(measure, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 100}).x
    return softmax(
        np.log(np.maximum(evidence.target_scores, SMALLEST)).astype(np.float64) * found[0] + found[1:], axis=1
    )

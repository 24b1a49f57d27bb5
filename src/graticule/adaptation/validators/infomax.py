"""How sure predictions of the target are, and how evenly they spread over the labels."""

from __future__ import annotations

from graticule.adaptation.validators.seen import Seen, find_entropies, find_probabilities


def score_infomax(seen: Seen) -> float:
    """Return the mutual information of images and predictions: entropy of the mean minus mean of the entropies.

    References
    ----------
    Shi and Sha 2012, "Information-theoretical learning of discriminative clusters for unsupervised domain adaptation".
    """
    probabilities = find_probabilities(seen.target_logits)
    spread = find_entropies(probabilities.mean(axis=0, keepdims=True))[0]
    return float(spread - find_entropies(probabilities).mean())

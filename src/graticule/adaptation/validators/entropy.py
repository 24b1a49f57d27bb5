"""How sure predictions of the target are."""

from __future__ import annotations

from graticule.adaptation.validators.seen import Seen, find_entropies, find_probabilities


def score_entropy(seen: Seen) -> float:
    """Return minus the mean entropy of the target's predictions.

    Notes
    -----
    It cannot tell a model that is sure and right from one that is sure and wrong.

    References
    ----------
    Morerio, Cavazza and Murino 2018, "Minimal-entropy correlation alignment for unsupervised deep domain adaptation".
    """
    return -float(find_entropies(find_probabilities(seen.target_logits)).mean())

"""Accuracy on the source: honest where source images are held out, flattering where they were trained on."""

from __future__ import annotations

from graticule.adaptation.validators.seen import Seen


def score_source_accuracy(seen: Seen) -> float:
    """Return the share of source images that get their label."""
    return float((seen.source_logits.argmax(axis=1) == seen.source_labels).mean())

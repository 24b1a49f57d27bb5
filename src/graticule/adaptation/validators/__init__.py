"""One file per validator: scores that pick a checkpoint or a method without the target's labels."""

from __future__ import annotations

from graticule.adaptation.validators.bnm import score_bnm
from graticule.adaptation.validators.corr_c import score_corr_c
from graticule.adaptation.validators.dev import score_dev
from graticule.adaptation.validators.entropy import score_entropy
from graticule.adaptation.validators.infomax import score_infomax
from graticule.adaptation.validators.seen import Validator
from graticule.adaptation.validators.snd import score_snd
from graticule.adaptation.validators.source_accuracy import score_source_accuracy

VALIDATORS: dict[str, Validator] = {
    "source_accuracy": score_source_accuracy,
    "entropy": score_entropy,
    "infomax": score_infomax,
    "dev": score_dev,
    "snd": score_snd,
    "bnm": score_bnm,
    "corr_c": score_corr_c,
}
"""Validators by name; for all of them higher is better."""

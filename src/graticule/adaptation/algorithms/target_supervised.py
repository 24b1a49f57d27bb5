"""The upper reference: source only's layers, trained on labelled images of the target."""

from __future__ import annotations

from dataclasses import dataclass

from graticule.adaptation.algorithms.source_only import SourceOnly, SourceOnlyConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSupervisedConfig(SourceOnlyConfig):
    """Options of the target-supervised reference."""


class TargetSupervised(SourceOnly):
    """Cross-entropy on target images with their labels.

    Notes
    -----
    This is no adaptation: it is what labels in the target would give. `graticule.adaptation.adapt` hands it the
    target's labelled images as its *source*, and has each image predicted by a run that was not trained on it.
    """

    config_type = TargetSupervisedConfig

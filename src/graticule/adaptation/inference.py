"""What a trained algorithm says of many images, in blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from graticule.adaptation.algorithm import Algorithm, Outputs

BLOCK_ROWS = 4096


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Inferred:
    """Features, logits, unknown scores and single heads' logits, as arrays."""

    features: Float[np.ndarray, "n d"]
    logits: Float[np.ndarray, "n k"]
    unknown_scores: Float[np.ndarray, " n"]
    members: Mapping[str, Float[np.ndarray, "n k"]]


def infer(algorithm: Algorithm, vectors: Float[np.ndarray, "n ..."]) -> Inferred:
    """Return what an algorithm in evaluation mode says of features or pixels, a row an image."""
    device = next(algorithm.parameters()).device
    blocks: list[Outputs] = []
    with torch.inference_mode():
        for start in range(0, len(vectors), BLOCK_ROWS):
            inputs = torch.from_numpy(np.ascontiguousarray(vectors[start : start + BLOCK_ROWS])).to(device)
            if inputs.ndim == 4:
                inputs = inputs.contiguous(memory_format=torch.channels_last)
            blocks.append(algorithm.predict(inputs))
    return Inferred(
        features=np.concatenate([block.features.cpu().numpy() for block in blocks]),
        logits=np.concatenate([block.logits.cpu().numpy() for block in blocks]),
        unknown_scores=np.concatenate([block.unknown_scores.cpu().numpy() for block in blocks]),
        members={
            name: np.concatenate([block.members[name].cpu().numpy() for block in blocks]) for name in blocks[0].members
        },
    )


def pick_inferred(found: Inferred, rows: Sequence[int]) -> Inferred:
    """Return what was found of some rows."""
    return Inferred(
        features=found.features[rows],
        logits=found.logits[rows],
        unknown_scores=found.unknown_scores[rows],
        members={name: logits[rows] for name, logits in found.members.items()},
    )


def join_inferred(blocks: Sequence[Inferred]) -> Inferred:
    """Return several blocks' findings as one."""
    if len(blocks) == 1:
        return blocks[0]
    return Inferred(
        features=np.concatenate([block.features for block in blocks]),
        logits=np.concatenate([block.logits for block in blocks]),
        unknown_scores=np.concatenate([block.unknown_scores for block in blocks]),
        members={name: np.concatenate([block.members[name] for block in blocks]) for name in blocks[0].members},
    )

"""What engines compute of a model of transformers that is no classifier: an image embedding, or an encoder's output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float32

if TYPE_CHECKING:
    import torch

TEXT_BATCH = 256
"""Texts encoded at once."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HfText:
    """The text half of a CLIP-like model of transformers; it computes wherever the model lies."""

    module: Any
    tokenizer: Any
    logit_scale: float
    logit_bias: float

    def encode(self, texts: Sequence[str]) -> Float32[np.ndarray, "k d"]:
        """Return one embedding a text, not normalised."""
        import torch

        device = next(self.module.parameters()).device
        longest = self.module.config.text_config.max_position_embeddings
        encoded: list[np.ndarray] = []
        with torch.inference_mode():
            for start in range(0, len(texts), TEXT_BATCH):
                tokens = self.tokenizer(
                    list(texts[start : start + TEXT_BATCH]),
                    padding="max_length",  # as SigLIP was trained; CLIP's mask makes it the same as no padding
                    max_length=longest,
                    truncation=True,
                    return_tensors="pt",
                ).to(device)
                encoded.append(_pooled(self.module.get_text_features(**tokens)).float().cpu().numpy())
        return np.concatenate(encoded)


def embed_images_with(module: Any) -> torch.nn.Module:
    """Return a network that gives a CLIP-like model's image embedding."""
    import torch

    class HfImage(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = module

        def forward(self, pixels: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return (_pooled(self.network.get_image_features(pixel_values=pixels)),)

    return HfImage().eval()


def encode_with(module: Any, *, has_pooler: bool) -> torch.nn.Module:
    """Return a network that gives an encoder's pooled output, or its first token where nothing trained pools it."""
    import torch

    class HfEncoder(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = module

        def forward(self, pixels: torch.Tensor) -> tuple[torch.Tensor, ...]:
            output = self.network(pixel_values=pixels)
            pooled = getattr(output, "pooler_output", None)
            if has_pooler and pooled is not None:
                return (pooled.flatten(1),)
            hidden = output.last_hidden_state
            return (hidden[:, 0] if hidden.ndim == 3 else hidden.mean(dim=(2, 3)),)

    return HfEncoder().eval()


def _pooled(output: Any) -> torch.Tensor:
    """Return the embedding: transformers before version 5 gave it bare."""
    return getattr(output, "pooler_output", output)

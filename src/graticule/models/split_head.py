"""A classifier split before its last linear layer, so that one pass gives its features and its scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graticule.models.model import FEATURES, SCORES

if TYPE_CHECKING:
    import torch


def split_head(module: torch.nn.Module, *, height: int, width: int) -> tuple[torch.nn.Module, tuple[str, ...]]:
    """Return a module that gives features and scores, and the names of what it gives.

    Parameters
    ----------
    module
        A classifier: ``(b, 3, h, w)`` → scores ``(b, k)``, or an object whose ``logits`` are the scores.
    height, width
        Size of the input, for the trial run.

    Notes
    -----
    The last linear layer is taken out and applied outside; what went into it is the feature vector. A trial run checks
    that this gives the scores of the whole classifier. Where it does not (the last layer is a convolution, or something
    follows it), the module gives scores only.
    """
    import torch

    class Scores(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = module

        def forward(self, pixels: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return (_tensor(self.network(pixels)),)

    class FeaturesAndScores(torch.nn.Module):
        def __init__(self, head: torch.nn.Linear) -> None:
            super().__init__()
            self.network = module
            self.head = head

        def forward(self, pixels: torch.Tensor) -> tuple[torch.Tensor, ...]:
            features = _tensor(self.network(pixels))
            return features, self.head(features)

    module.eval()
    linear = [name for name, layer in module.named_modules() if isinstance(layer, torch.nn.Linear)]
    if not linear:
        return Scores().eval(), (SCORES,)
    head = module.get_submodule(linear[-1])
    assert isinstance(head, torch.nn.Linear)
    trial = torch.rand(2, 3, height, width, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        whole = _tensor(module(trial))
        _set_submodule(module, linear[-1], torch.nn.Identity())
        split = FeaturesAndScores(head).eval()
        try:
            features, scores = split(trial)
            is_same = features.ndim == 2 and scores.shape == whole.shape and torch.allclose(scores, whole, atol=1e-5)
        except RuntimeError:
            is_same = False
    if is_same:
        return split, (FEATURES, SCORES)
    _set_submodule(module, linear[-1], head)
    return Scores().eval(), (SCORES,)


def _tensor(output: object) -> torch.Tensor:
    """Return the scores of whatever a classifier returns: a tensor, or an object with logits."""
    logits = getattr(output, "logits", output)
    if isinstance(logits, tuple | list):
        logits = logits[0]
    return logits  # pyright: ignore[reportReturnType]


def _set_submodule(module: torch.nn.Module, name: str, layer: torch.nn.Module) -> None:
    parent, _, attribute = name.rpartition(".")
    setattr(module.get_submodule(parent), attribute, layer)

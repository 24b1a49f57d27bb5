"""A network's last feature map: which layer gives it, and its values as a grid of vectors over the image.

Convolutional networks give one as it is; of a transformer's tokens those that stand for patches make the grid.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graticule.errors import ModelError
from graticule.models.network import Network

if TYPE_CHECKING:
    import torch

FIRST, LAST, TOKENS = "channels first", "channels last", "tokens"
FEWEST_PLACES = 4
"""Places that a feature map has at least."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FeatureMap:
    """Where a network's last feature map is.

    Parameters
    ----------
    module
        The network.
    layer
        Name of the layer whose output it is.
    layout
        ``channels first``, ``channels last`` or ``tokens``.
    n_channels, height, width
        Its shape.
    """

    module: torch.nn.Module
    layer: str
    layout: str
    n_channels: int
    height: int
    width: int

    def as_grid(self, values: torch.Tensor) -> torch.Tensor:
        """Return a layer's output, or its gradient, as ``(b, channels, height, width)``."""
        if self.layout == FIRST:
            return values
        if self.layout == LAST:
            return values.permute(0, 3, 1, 2)
        patches = values[:, values.shape[1] - self.height * self.width :]
        return patches.transpose(1, 2).reshape(len(values), self.n_channels, self.height, self.width)

    @contextmanager
    def watching(self) -> Generator[list[torch.Tensor]]:
        """Give a list that holds, after each pass, the feature map as a grid."""
        seen: list[torch.Tensor] = []

        def note(_module: Any, _inputs: Any, output: Any) -> None:
            seen[:] = [self.as_grid(output)]

        handle = self.module.get_submodule(self.layer).register_forward_hook(note)
        try:
            yield seen
        finally:
            handle.remove()


def find_feature_map(network: Network) -> FeatureMap:
    """Return the last feature map that a network computes, found by a trial run.

    Raises
    ------
    ModelError
        The network is no torch module, or has no feature map.
    """
    import torch

    module = network.module
    if module is None:
        raise ModelError(
            f"{network.name}: is no torch network, so its layers cannot be looked at; expected one of timm, "
            "torchvision, "
            "open_clip or hf. Name such a model."
        )
    found: list[tuple[str, tuple[int, ...]]] = []
    handles = [layer.register_forward_hook(_make_note(name, found)) for name, layer in module.named_modules() if name]
    transform = network.transform
    trial = torch.rand(1, 3, transform.height, transform.width, generator=torch.Generator().manual_seed(0))
    try:
        with torch.inference_mode():
            outputs = module(trial)
    finally:
        for handle in handles:
            handle.remove()
    width = int(outputs[0].shape[-1])
    for exact in (True, False):
        for name, shape in reversed(found):
            described = _describe(shape, width if exact else None)
            if described is not None:
                layout, channels, height, across = described
                return FeatureMap(
                    module=module, layer=name, layout=layout, n_channels=channels, height=height, width=across
                )
    raise ModelError(f"{network.name}: none of its layers gives a feature map; expected a convolution or patches.")


def _make_note(name: str, found: list[tuple[str, tuple[int, ...]]]) -> Any:
    def note(_module: Any, _inputs: Any, output: Any) -> None:
        shape = getattr(output, "shape", None)
        if shape is not None:
            found.append((name, tuple(int(side) for side in shape)))

    return note


def _describe(shape: tuple[int, ...], n_channels: int | None) -> tuple[str, int, int, int] | None:
    """Return layout, channels, height and width of an output; None if it is no feature map (of so many channels)."""
    if len(shape) == 4:
        for layout, channels, height, width in ((FIRST, *shape[1:]), (LAST, shape[3], *shape[1:3])):
            if (n_channels is None or channels == n_channels) and min(height, width) > 1:
                return layout, channels, height, width
    if len(shape) == 3 and (n_channels is None or shape[2] == n_channels):
        side = int(shape[1] ** 0.5)
        # A transformer puts a class token, and a few registers at most, before its patches.
        if side * side >= FEWEST_PLACES and shape[1] - side * side <= 2 * side:
            return TOKENS, shape[2], side, side
    return None

"""What a network looks at in an image, one method a file."""

from __future__ import annotations

from graticule.models.saliency.attention_rollout import roll_out_attention
from graticule.models.saliency.grad_cam import compute_grad_cam
from graticule.models.saliency.map import Saliency

SALIENCIES: dict[str, Saliency] = {"attention_rollout": roll_out_attention, "grad_cam": compute_grad_cam}
"""Name → function."""

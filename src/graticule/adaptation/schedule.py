"""Learning rates and strengths as functions of the step: nothing counts in secret, so a resumed run sees the same."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """Where a run stands: step ``step`` (from 0) of ``n_steps``."""

    step: int
    n_steps: int

    @property
    def progress(self) -> float:
        """How much of the run lies behind, from 0 to 1."""
        return self.step / max(self.n_steps, 1)


def decay_inversely(step: int, *, gamma: float, power: float = 0.75) -> float:
    """Return the factor of the learning rate, ``(1 + gamma·step)^-power``.

    References
    ----------
    Ganin et al. 2016, "Domain-adversarial training of neural networks", section 5.2.2.

    Examples
    --------
    >>> decay_inversely(0, gamma=0.001), round(decay_inversely(1000, gamma=0.001), 3)
    (1.0, 0.595)
    """
    return (1 + gamma * step) ** -power


def ramp_up(moment: Moment, *, alpha: float, ramp_steps: int) -> float:
    """Return a strength that rises from 0 towards 1, ``2 / (1 + exp(-alpha·i/N)) - 1``.

    Parameters
    ----------
    moment
        Where the run stands.
    alpha
        Steepness.
    ramp_steps
        N; 0 takes the run's own number of steps.

    References
    ----------
    Ganin et al. 2016, section 5.2.2.

    Examples
    --------
    >>> ramp_up(Moment(step=0, n_steps=10), alpha=10, ramp_steps=0)
    0.0
    >>> round(ramp_up(Moment(step=500, n_steps=1000), alpha=10, ramp_steps=0), 3)
    0.987
    """
    share = moment.step / ramp_steps if ramp_steps else moment.progress
    return 2 / (1 + math.exp(-alpha * share)) - 1

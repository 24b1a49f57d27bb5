"""What every aggregator is: options, and a way from answers to labels."""

from __future__ import annotations

from typing import Protocol

from graticule.annotation.aggregation.aggregate import Aggregate
from graticule.annotation.aggregation.gold import Gold
from graticule.annotation.answers import Answers


class Aggregator(Protocol):
    """A frozen dataclass of options that turns answers into labels; made without arguments it has the defaults."""

    def __init__(self) -> None: ...

    def aggregate(self, answers: Answers, *, gold: Gold | None = None) -> Aggregate:
        """Return the labels that the answers come to; images in ``gold`` keep their known label."""
        ...

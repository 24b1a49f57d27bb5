"""The options that say how a labels file is used with a model, shared by ``predict`` and ``audit``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from graticule.models.label_space import LabelSpaceConfig
    from graticule.models.zero_shot import ZeroShotConfig

OPTIONS = (
    click.option(
        "--templates",
        metavar="NAME|FILE",
        help="With --labels and a CLIP-like model: its sentences, single, name, clip80 or a file.  [default: single]",
    ),
    click.option(
        "--aggregation",
        metavar="max|sum",
        help="With --labels and a classifier: a label's score is its classes' largest or their sum.  [default: max]",
    ),
    click.option(
        "--others",
        metavar="compete|restrict",
        help="With --labels and a classifier: whether classes of no label may win.  [default: compete]",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelOptions:
    """What the shared options said; None where nothing was said."""

    templates: str | None = None
    aggregation: str | None = None
    others: str | None = None

    def make_zero_shot(self) -> ZeroShotConfig | None:
        """Return how labels become sentences; None if it was not said."""
        if self.templates is None:
            return None
        from graticule.models.zero_shot import ZeroShotConfig

        return ZeroShotConfig(templates=self.templates)

    def make_label_space(self) -> LabelSpaceConfig | None:
        """Return how classes become labels; None if it was not said.

        Raises
        ------
        ConfigError
            The aggregation or the way with other classes is not known.
        """
        if self.aggregation is None and self.others is None:
            return None
        from graticule.models.label_space import LabelSpaceConfig

        default = LabelSpaceConfig()
        return LabelSpaceConfig(
            aggregation=self.aggregation or default.aggregation, others=self.others or default.others
        )


def add_label_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return the command with the shared options."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command

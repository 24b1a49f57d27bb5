"""What a run of adaptation is told: algorithm and options, training, scaling, selection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from graticule.adaptation.algorithms import ALGORITHMS
from graticule.adaptation.run_logs import check_run_logs
from graticule.adaptation.selection import LAST, check_selection
from graticule.adaptation.trainer_config import TrainerConfig
from graticule.adaptation.unknown_threshold import THRESHOLDS
from graticule.errors import ConfigError, unknown_choice

TARGET_SUPERVISED = "target_supervised"
Option = str | int | float | bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptConfig:
    """Settings of an adaptation."""

    algorithm: str = "cdan"
    """One of `graticule.adaptation.algorithms.ALGORITHMS`."""
    options: Mapping[str, Option] = field(default_factory=dict[str, Option])
    """Options of the algorithm that differ from its defaults."""
    trainer: TrainerConfig = field(default_factory=TrainerConfig)
    """How it is trained."""
    scale: str = "overall"
    """What is done to features first."""
    allow_unknown: bool = False
    """Whether labels that the source has not count as unknown; universal algorithms always have it so."""
    threshold: str = "published"
    """From which unknown score on an image is unknown, one of `THRESHOLDS`."""
    select: str = LAST
    """Which checkpoint is reported, one of `graticule.adaptation.selection.SELECTIONS`."""
    n_folds: int = 5
    """Of the target-supervised reference, where it is measured on the images it learns from."""
    logs: tuple[str, ...] = ()
    """Where losses go besides the history, of `graticule.adaptation.run_logs.RUN_LOGS`."""

    def __post_init__(self) -> None:
        """Refuse settings that have no meaning.

        Raises
        ------
        ConfigError
            A name is unknown or a number out of its range.
        """
        if self.algorithm not in ALGORITHMS:
            raise unknown_choice("algorithm", self.algorithm, ALGORITHMS)
        if self.threshold not in THRESHOLDS:
            raise unknown_choice("threshold", self.threshold, THRESHOLDS)
        if self.n_folds < 2:
            raise ConfigError(f"n_folds is {self.n_folds}, expected at least 2. Try 5.")
        check_selection(self.select)
        check_run_logs(self.logs)
        make_options(self.algorithm, self.options)

    @property
    def is_universal(self) -> bool:
        """Whether the target may hold labels that the source has not."""
        return self.allow_unknown or ALGORITHMS[self.algorithm].is_universal


def make_options(algorithm: str, options: Mapping[str, Option]) -> Any:
    """Return an algorithm's config from names and values; texts are read as what the field holds.

    Raises
    ------
    ConfigError
        There is no such option, or its value cannot be read.

    Examples
    --------
    >>> make_options("mcc", {"temperature": "3"}).temperature
    3.0
    """
    config_type = ALGORITHMS[algorithm].config_type
    kinds = {field.name: type(field.default) for field in fields(config_type)}
    values: dict[str, Option] = {}
    for name, given in options.items():
        if name not in kinds:
            raise unknown_choice(f"option of {algorithm}", name, kinds, where="--set")
        values[name] = _read(name, given, kinds[name])
    return config_type(**values)


def _read(name: str, given: Option, kind: type[Any]) -> Option:
    text = str(given).strip()
    try:
        if kind is bool:
            return {"true": True, "false": False}[text.lower()]
        if kind is int and isinstance(given, float) and not given.is_integer():
            raise ValueError
        return kind(given if kind is int and isinstance(given, float) else text)
    except (ValueError, KeyError) as error:
        words = {bool: "true or false", int: "a whole number", float: "a number"}
        raise ConfigError(
            f"--set {name}={given}: expected {words.get(kind, 'a word')}. Leave it out for the default."
        ) from error

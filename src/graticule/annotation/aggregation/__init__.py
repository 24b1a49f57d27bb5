"""One file per aggregator, behind one interface; an aggregator is its file and its line here."""

from __future__ import annotations

from graticule.annotation.aggregation.aggregator import Aggregator
from graticule.annotation.aggregation.classify import Classify
from graticule.annotation.aggregation.dawid_skene import DawidSkene
from graticule.annotation.aggregation.glad import Glad
from graticule.annotation.aggregation.hbcc import Hbcc
from graticule.annotation.aggregation.mace import Mace
from graticule.annotation.aggregation.majority import Majority
from graticule.annotation.aggregation.one_coin import OneCoin
from graticule.annotation.aggregation.selection_frequency import SelectionFrequency

AGGREGATORS: dict[str, type[Aggregator]] = {
    "selection_frequency": SelectionFrequency,
    "majority": Majority,
    "dawid_skene": DawidSkene,
    "one_coin": OneCoin,
    "glad": Glad,
    "mace": Mace,
    "hbcc": Hbcc,
    "classify": Classify,
}
"""Aggregators by name; each is made without options or with those of its fields."""

"""Reading a gate's rule: ``worst_gap > 0.05 or accuracy[region=Africa] < 0.8`` as a tree, without evaluating code.

The grammar::

    rule        = all-of ("or" all-of)*
    all-of      = part ("and" part)*
    part        = comparison | "(" rule ")"
    comparison  = metric ["[" key "=" name ("," key "=" name)* "]"] ["." bound] (">" | ">=" | "<" | "<=") number
    key         = "region" | "label" | "model" | "group"
    bound       = "value" | "low" | "high" | "n"

A name may hold spaces; one that holds a comma, a bracket or a quote stands in single or double quotes. ``*`` means any.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from graticule.errors import ConfigError, unknown_choice

KEYS = ("region", "label", "model", "group")
BOUNDS = ("value", "low", "high", "n")
OPERATORS = (">", ">=", "<", "<=")
EXAMPLE = "worst_gap > 0.05"
TOKEN = re.compile(
    r"\s*(?:(?P<open>\()|(?P<close>\))|(?P<operator>>=|<=|==|!=|=|>|<)"
    r"|(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*%?)"
    r"|(?P<word>[A-Za-z_][A-Za-z_0-9]*)(?P<places>\[(?:'[^']*'|\"[^\"]*\"|[^\]'\"])*\])?(?:\.(?P<bound>[A-Za-z_]+))?)"
)
PLACE = re.compile(
    r"\s*(?P<key>\w+)\s*=\s*(?:'(?P<single>[^']*)'|\"(?P<double>[^\"]*)\"|(?P<plain>[^,'\"]*?))\s*(?:,|$)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A number of the metrics table against a limit."""

    metric: str
    places: Mapping[str, str] = field(default_factory=dict[str, str])
    bound: str = "value"
    operator: str
    limit: float

    def __str__(self) -> str:
        """Return the comparison as it could be typed."""
        places = ", ".join(f"{key}={name}" for key, name in self.places.items())
        bound = "" if self.bound == "value" else f".{self.bound}"
        return f"{self.metric}{f'[{places}]' if places else ''}{bound} {self.operator} {self.limit:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AllOf:
    """Holds when every part holds."""

    parts: tuple[Rule, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyOf:
    """Holds when any part holds."""

    parts: tuple[Rule, ...]


Rule = Comparison | AllOf | AnyOf


def parse_rule(text: str) -> Rule:
    """Return the rule that ``text`` says.

    Raises
    ------
    ConfigError
        It is not such a rule; the message shows where, and an example.
    """
    parser = _Parser(text)
    rule = parser.read_rule()
    if not parser.is_at("end"):
        raise parser.fail("expected 'and', 'or' or the end")
    return rule


class _Parser:
    """The tokens of a rule and where reading stands."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.kind: str = ""
        self.found: re.Match[str] | None = None
        self.step()

    def step(self) -> None:
        if self.found is not None:
            self.at = self.found.end()
        if not self.text[self.at :].strip():
            self.kind, self.found = "end", None
            return
        self.found = TOKEN.match(self.text, self.at)
        if self.found is None:
            raise self.fail("not understood")
        self.kind = next(
            name for name in ("open", "close", "operator", "number", "word") if self.found.group(name) is not None
        )
        if self.kind == "word" and self.found.group("word") in ("and", "or") and not self.found.group("places"):
            self.kind = self.found.group("word")

    def is_at(self, kind: str) -> bool:
        return self.kind == kind

    def fail(self, why: str) -> ConfigError:
        rest = self.text[self.at :].strip()
        place = f"at '{rest}'" if rest else "at its end"
        return ConfigError(f"rule '{self.text}': {why} {place}. Write a rule like '{EXAMPLE}'.")

    def read(self, group: str) -> str:
        return (self.found.group(group) or "").strip() if self.found is not None else ""

    def read_rule(self) -> Rule:
        parts = [self.read_all_of()]
        while self.is_at("or"):
            self.step()
            parts.append(self.read_all_of())
        return parts[0] if len(parts) == 1 else AnyOf(parts=tuple(parts))

    def read_all_of(self) -> Rule:
        parts = [self.read_part()]
        while self.is_at("and"):
            self.step()
            parts.append(self.read_part())
        return parts[0] if len(parts) == 1 else AllOf(parts=tuple(parts))

    def read_part(self) -> Rule:
        if self.is_at("open"):
            self.step()
            rule = self.read_rule()
            if not self.is_at("close"):
                raise self.fail("expected ')'")
            self.step()
            return rule
        return self.read_comparison()

    def read_comparison(self) -> Comparison:
        if not self.is_at("word"):
            raise self.fail("expected the name of a metric")
        metric, places = self.read("word"), self.read_places()
        bound = self.read("bound") or "value"
        if bound not in BOUNDS:
            raise unknown_choice("bound", bound, BOUNDS, where=f"rule '{self.text}'")
        self.step()
        operator = self.read("operator")
        if not self.is_at("operator") or operator not in OPERATORS:
            raise self.fail("expected one of > >= < <=")
        self.step()
        if not self.is_at("number"):
            raise self.fail("expected a number")
        typed = self.read("number")
        limit = float(typed.rstrip("% ")) / (100 if typed.endswith("%") else 1)
        self.step()
        return Comparison(metric=metric, places=places, bound=bound, operator=operator, limit=limit)

    def read_places(self) -> dict[str, str]:
        inside = self.read("places")[1:-1]
        places: dict[str, str] = {}
        at = 0
        while at < len(inside):
            found = PLACE.match(inside, at)
            if found is None:
                raise self.fail("expected key=name between the brackets,")
            key = found.group("key")
            if key not in KEYS:
                raise unknown_choice("key", key, KEYS, where=f"rule '{self.text}'")
            quoted = found.group("single") if found.group("single") is not None else found.group("double")
            places[key] = quoted if quoted is not None else found.group("plain").strip()
            at = found.end()
        return places

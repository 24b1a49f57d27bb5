"""The audit's own sentences, sorted to the model that each speaks of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

SPACED_PERCENT = re.compile(r"(?<=\d) %")
"""The page writes percentages without a space, in sentences as in figures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """Sentences on one model, or on all together."""

    model: str
    """Empty for all together."""
    sentences: tuple[str, ...]


def sort_findings(headline: Sequence[str], *, models: Sequence[str]) -> tuple[Findings, ...]:
    """Return the sentences on all models together first, then those of each model in turn.

    Examples
    --------
    >>> sentences = sort_findings(["a: The gap is 3.", "a beats b."], models=["a", "b"])
    >>> [(found.model, found.sentences) for found in sentences]
    [('', ('a beats b.',)), ('a', ('The gap is 3.',)), ('b', ())]
    """
    found: dict[str, list[str]] = {"": [], **{model: [] for model in models}}
    for sentence in headline:
        text = SPACED_PERCENT.sub("%", sentence)
        model = next((name for name in models if _speaks_of(text, name)), "") if len(models) > 1 else ""
        found[model].append(_begin(text.removeprefix(f"{model}: ")) if text.startswith(f"{model}: ") else text)
    return tuple(Findings(model=model, sentences=tuple(texts)) for model, texts in found.items())


def _begin(text: str) -> str:
    return text[:1].upper() + text[1:]


def _speaks_of(sentence: str, model: str) -> bool:
    return sentence.startswith((f"{model}: ", f"{model} is right on "))

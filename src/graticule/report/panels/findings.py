"""The audit's own sentences, sorted to the model that each speaks of."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

SPACED_PERCENT = re.compile(r"(?<=\d) %")
"""The page writes percentages without a space, in sentences as in figures."""
COUNTRY_CODE = re.compile(r"\b[A-Z]{3}\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """Sentences on one model, or on all together."""

    model: str
    """Empty for all together."""
    sentences: tuple[str, ...]


def sort_findings(
    headline: Sequence[str], *, models: Sequence[str], names: Mapping[str, str] | None = None
) -> tuple[Findings, ...]:
    """Return the sentences on all models together first, then those of each model in turn.

    Parameters
    ----------
    headline
        The sentences.
    models
        The models that have panels of their own.
    names
        Codes of countries that stand in the sentences, and what people call them.

    Examples
    --------
    >>> sentences = sort_findings(["a: The gap is 3.", "a beats b."], models=["a", "b"])
    >>> [(found.model, found.sentences) for found in sentences]
    [('', ('a beats b.',)), ('a', ('The gap is 3.',)), ('b', ())]
    """
    found: dict[str, list[str]] = {"": [], **{model: [] for model in models}}
    for sentence in headline:
        text = _name_countries(SPACED_PERCENT.sub("%", sentence), names or {})
        model = next((name for name in models if _speaks_of(text, name)), "") if len(models) > 1 else ""
        found[model].append(_begin(text.removeprefix(f"{model}: ")) if text.startswith(f"{model}: ") else text)
    return tuple(Findings(model=model, sentences=tuple(texts)) for model, texts in found.items())


def _name_countries(text: str, names: Mapping[str, str]) -> str:
    return COUNTRY_CODE.sub(lambda found: names.get(found[0], found[0]), text)


def _begin(text: str) -> str:
    return text[:1].upper() + text[1:]


def _speaks_of(sentence: str, model: str) -> bool:
    return sentence.startswith((f"{model}: ", f"{model} is right on "))

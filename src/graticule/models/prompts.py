"""Sentences that tell a CLIP-like model what a label looks like: templates, filled in with a label.

=============  =======================================================================================================
templates      what they are
=============  =======================================================================================================
``single``     "a photo of a lamp.", one sentence
``name``       the label alone
``clip80``     the 80 sentences that CLIP's authors used for ImageNet; open_clip brings them, and they are taken as they
               are there
a file         your own: a text file with a template a line, or YAML with a list of them
=============  =======================================================================================================

In a template ``{label}`` (or ``{}``) stands for the label, with its underscores as spaces, or for its description where
the labels file gives one, and ``{a}`` for the article that fits the word that follows, as it is spoken: *a house, an
hour, a unicycle, an X-ray*. An article that a template writes out stays as it is written; so ``clip80`` says "a photo
of a apple", as CLIP's authors did. Labels that take no article (*stairs, cooking oil*) and acronyms (*SUV*) are best
given prompts of their own.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from graticule.errors import ConfigError, FileError, MissingExtraError, shown, unknown_choice
from graticule.models.label_file import LabelRule

FOLDER = "prompts"
CLIP80 = "clip80"
PLACE = re.compile(r"\{(\w*)\}")
NAMES = ("", "label", "a")
FILE_SUFFIXES = (".txt", ".yaml", ".yml")

SPOKEN_WITH_CONSONANT = re.compile(
    r"(?:eu|ew|u[bcfhkqrst][aeiou]|uni(?!n|m)|one\b|once\b|u\b|ufo|usb\b|uk\b)", re.IGNORECASE
)
"""Words that start with a vowel's letter and a consonant's sound: a European, a unit, a user, a one-way sign."""
SPOKEN_WITH_VOWEL = re.compile(r"(?:hour|honest|honou?r|heir|[fhlmnrsx](?:\b|[-.]))", re.IGNORECASE)
"""Words that start with a consonant's letter and a vowel's sound: an hour, an X-ray."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Templates:
    """A set of templates, by name."""

    name: str
    templates: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """The sentences of one label."""

    label: str
    sentences: tuple[str, ...]


def list_templates() -> list[str]:
    """Return the names of the sets that exist."""
    folder = files("graticule.models").joinpath(FOLDER)
    packaged = [entry.name.removesuffix(".yaml") for entry in folder.iterdir() if entry.name.endswith(".yaml")]
    return sorted([*packaged, CLIP80])


def load_templates(name: str | Path) -> Templates:
    """Return a set of templates.

    Parameters
    ----------
    name
        One of `list_templates`, or a file of the user's.

    Raises
    ------
    ConfigError
        There is no such set, or a template has no place for the label.
    FileError
        The file cannot be read.
    MissingExtraError
        ``clip80`` is asked for and open_clip is not installed.
    """
    text = str(name)
    if text == CLIP80:
        return Templates(name=CLIP80, templates=_clip80())
    packaged = files("graticule.models").joinpath(FOLDER, f"{text}.yaml")
    if text in list_templates():
        found = yaml.safe_load(packaged.read_text(encoding="utf-8"))
        return Templates(name=text, templates=tuple(found["templates"]))
    if Path(text).suffix.lower() not in FILE_SUFFIXES:
        raise ConfigError(f"{unknown_choice('set of templates', text, list_templates())} A file ends in .txt or .yaml.")
    return Templates(name=Path(text).name, templates=_read_file(Path(text)))


def write_prompts(rules: Sequence[LabelRule], templates: Templates) -> tuple[Prompts, ...]:
    """Return the sentences of every label: its own prompts where it has any, or else the templates filled in.

    Raises
    ------
    ConfigError
        Two labels have the same sentences, so that no image could tell them apart.

    Examples
    --------
    >>> templates = Templates(name="mine", templates=("a photo of {a} {label}.",))
    >>> write_prompts([LabelRule(label="umbrella"), LabelRule(label="Road_sign")], templates)[1].sentences
    ('a photo of a Road sign.',)
    """
    prompts = tuple(
        Prompts(label=rule.label, sentences=rule.prompts or _fill_all(templates, rule.description or rule.label))
        for rule in rules
    )
    first: dict[frozenset[str], str] = {}
    for found in prompts:
        other = first.setdefault(frozenset(found.sentences), found.label)
        if other != found.label:
            raise ConfigError(
                f"the labels {other!r} and {found.label!r} have the same prompts ({shown(found.sentences, limit=1)}), "
                "so no image can tell them apart. Give one of them a description or prompts of its own in the file."
            )
    return prompts


def hash_prompts(prompts: Sequence[Prompts]) -> str:
    """Return the SHA-256 of labels and sentences, in their order: the same hash, the same text half of a result."""
    content = json.dumps([[found.label, *found.sentences] for found in prompts], ensure_ascii=False)
    return hashlib.sha256(content.encode()).hexdigest()


def fill(template: str, label: str) -> str:
    """Return a template with a label in its place.

    Examples
    --------
    >>> fill("a photo of {a} {label}.", "hour_glass"), fill("{a} {label}", "unicycle"), fill("my {}", "ice cream")
    ('a photo of an hour glass.', 'a unicycle', 'my ice cream')
    """
    words = " ".join(label.replace("_", " ").split())

    def write_article(found: re.Match[str]) -> str:
        following = words if found[2].startswith(("{}", "{label}")) else found[2]
        return f"{_article(following)}{found[1]}{found[2]}"

    with_articles = re.sub(r"\{a\}(\s*)(\S*)", write_article, template)
    return re.sub(r"\{(?:label)?\}", lambda _: words, with_articles)


def _article(word: str) -> str:
    if word[:1].lower() in "aeiou" and word:
        return "a" if SPOKEN_WITH_CONSONANT.match(word) else "an"
    return "an" if SPOKEN_WITH_VOWEL.match(word) else "a"


def _fill_all(templates: Templates, label: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(fill(template, label) for template in templates.templates))


def _clip80() -> tuple[str, ...]:
    try:
        from open_clip.zero_shot_metadata import OPENAI_IMAGENET_TEMPLATES
    except ImportError as error:
        raise MissingExtraError("open_clip_torch", extra="open-clip", needed_for=f"the templates {CLIP80}") from error
    marker = "\N{OBJECT REPLACEMENT CHARACTER}"
    return tuple(template(marker).replace(marker, "{label}") for template in OPENAI_IMAGENET_TEMPLATES)


def _read_file(path: Path) -> tuple[str, ...]:
    try:
        text = path.read_text(encoding="utf-8-sig")
        found: Any = text.splitlines() if path.suffix.lower() == ".txt" else yaml.safe_load(text)
    except (OSError, ValueError, yaml.YAMLError, RecursionError) as error:
        raise FileError(f"{path}: the file of templates cannot be read ({error}). Is the path right?") from error
    given = found.get("templates") if isinstance(found, dict) else found
    if not isinstance(given, list) or not all(isinstance(template, str) for template in given):
        raise ConfigError(f"{path}: expected a list of templates such as 'a photo of {{a}} {{label}}.'; found none.")
    templates = tuple(dict.fromkeys(template.strip() for template in given if template.strip()))
    bad = [t for t in templates if not {"", "label"} & set(PLACE.findall(t)) or not set(PLACE.findall(t)) <= set(NAMES)]
    if bad or not templates:
        what = f"{len(bad)} templates have no {{label}} or another name in braces: {shown(bad)}" if bad else "is empty"
        raise ConfigError(f"{path}: {what}; expected templates such as 'a photo of {{a}} {{label}}.'")
    return templates

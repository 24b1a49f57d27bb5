"""The classes of ImageNet heads: their names, each once, and their WordNet ids.

The lists come with timm; a head of another library is recognised by its names, which stand in the same order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

N_CLASSES = 1000
MIN_AGREEMENT = 0.9
"""Share of names that must stand where ImageNet has them. torchvision agrees in 998 of 1,000."""

SUBSETS = {
    1000: "imagenet_synsets.txt",
    11221: "imagenet21k_miil_synsets.txt",
    11821: "imagenet12k_synsets.txt",
    21841: "imagenet22k_synsets.txt",
    21843: "imagenet21k_goog_synsets.txt",
}
"""Number of classes → timm's file of their WordNet ids, in order."""


def wordnet_ids(n_classes: int) -> tuple[str, ...] | None:
    """Return the WordNet ids of an ImageNet head, in order; None if there is no such head or timm is not installed."""
    folder = _folder()
    if folder is None or n_classes not in SUBSETS:
        return None
    return tuple((folder / SUBSETS[n_classes]).read_text(encoding="utf-8").split())


def class_names(ids: Sequence[str]) -> tuple[str, ...]:
    """Return a short name for each WordNet id, each name once.

    Notes
    -----
    The name is the synset's first lemma. Where two classes share it, it is all their lemmas, and where they share those
    too (``crane``, the bird and the machine), the id follows in brackets.
    """
    lemmas = _lemmas()
    return unique_names([lemmas.get(name, name) for name in ids], ids)


def recognise_ids(names: Sequence[str]) -> tuple[str, ...] | None:
    """Return the WordNet ids of a head whose names are ImageNet's thousand in ImageNet's order, else None."""
    ids = wordnet_ids(N_CLASSES) if len(names) == N_CLASSES else None
    if ids is None:
        return None
    lemmas = _lemmas()
    n_agreeing = sum(_first(name) == _first(lemmas[id_]) for name, id_ in zip(names, ids, strict=True))
    return ids if n_agreeing >= MIN_AGREEMENT * N_CLASSES else None


def unique_names(names: Sequence[str], ids: Sequence[str]) -> tuple[str, ...]:
    """Return names cut at their first comma, longer or with their id where that would name two classes.

    Examples
    --------
    >>> unique_names(["crane", "crane", "tench, Tinca tinca"], ["n1", "n2", "n3"])
    ('crane (n1)', 'crane (n2)', 'tench')
    """
    short = Counter(name.split(",")[0].strip() for name in names)
    whole = Counter(names)
    taken: list[str] = []
    for name, id_ in zip(names, ids, strict=True):
        first = name.split(",")[0].strip()
        if first and short[first] == 1:
            taken.append(first)
        else:
            taken.append(name if name and whole[name] == 1 else f"{name or 'class'} ({id_})")
    return tuple(taken)


def _first(name: str) -> str:
    return name.split(",", maxsplit=1)[0].strip().lower()


@cache
def _folder() -> Path | None:
    spec = find_spec("timm")
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(spec.submodule_search_locations[0], "data", "_info")
    return folder if folder.is_dir() else None


@cache
def _lemmas() -> dict[str, str]:
    folder = _folder()
    if folder is None:
        return {}
    lines = (folder / "imagenet_synset_to_lemma.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split("\t", 1) for line in lines if "\t" in line)
    return {name: lemma.strip('"') for name, lemma in pairs}

"""Which classes of a head belong to which label: the rules of `graticule.models.label_space`, applied."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from graticule.errors import EXAMPLES_SHOWN, ConfigError, ModelError, shown
from graticule.models.label_file import LabelFile, LabelRule
from graticule.models.wordnet import ID, WordNet, open_wordnet

N_LEAVES = 1000
"""The thousand classes of ImageNet-1k are leaves: none descends from another."""
BY_NAME = -1
"""Distance of a class that a rule names itself: nearer than any synset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """A class that several labels claimed, and the label that is nearest to it."""

    index: int
    winner: str
    losers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Claims:
    """Which classes each label gets.

    Parameters
    ----------
    classes
        Label → indices of its classes, for labels that have any.
    unmapped
        Label → why it has none.
    contests
        Classes that several labels claimed.
    wordnet_used
        Whether descendants were looked up; False where every synset is itself a class of a head without descendants.
    """

    classes: Mapping[str, frozenset[int]]
    unmapped: Mapping[str, str]
    contests: tuple[Contest, ...]
    wordnet_used: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _HeadClasses:
    """A head's classes, by name and by id."""

    names: tuple[str, ...]
    ids: tuple[str, ...] | None
    by_name: Mapping[str, int]
    by_id: Mapping[str, int]


def claim_classes(
    file: LabelFile, *, names: tuple[str, ...], ids: tuple[str, ...] | None, wordnet: str | None, model: str
) -> Claims:
    """Return which classes each label gets; parameters and errors as of `graticule.models.label_space.map_labels`.

    Notes
    -----
    A label without synsets and classes gets the class that has its name, if there is one; case and underscores do not
    matter. A class that is named goes to the label that names it; among synsets, the fewest steps up WordNet win.
    """
    head = _HeadClasses(
        names=names,
        ids=ids,
        by_name={_plain(name): index for index, name in reversed(list(enumerate(names)))},
        by_id={id_: index for index, id_ in enumerate(ids or ())},
    )
    if ids is None and any(rule.synsets for rule in file.rules):
        raise ModelError(
            f"{model}: the labels file {file.where} gives synsets, and the model's classes have no WordNet ids. Name "
            f"its classes instead, as in 'classes: [{names[0]}]', or take a model trained on ImageNet."
        )
    needed = _needs_wordnet(file, head)
    nouns = open_wordnet(wordnet) if needed else None
    synsets = _find_synsets(file, head, nouns)
    claims: dict[int, dict[str, int]] = {}
    faults: list[str] = []
    for rule in file.rules:
        for index in _named_classes(rule, head, faults):
            claims.setdefault(index, {})[rule.label] = BY_NAME
    if faults:
        raise ConfigError(f"{file.where}: {'; '.join(faults[:EXAMPLES_SHOWN])}{_more(faults)}.")
    _claim_descendants(claims, synsets, head, nouns)
    classes, contests = _settle(claims, file, head)
    unmapped = {rule.label: _why_unmapped(rule, head) for rule in file.rules if rule.label not in classes}
    if not classes:
        label, reason = next(iter(unmapped.items()))
        raise ModelError(
            f"{model}: none of the {len(file.rules)} labels of {file.where} has a class in its head of {len(names)} "
            f"({label!r}: {reason}). Give synsets or classes for the labels."
        )
    return Claims(classes=classes, unmapped=unmapped, contests=contests, wordnet_used=needed)


def _needs_wordnet(file: LabelFile, head: _HeadClasses) -> bool:
    wanted = {synset for rule in file.rules for synset in rule.synsets}
    return bool(wanted) and (len(head.names) > N_LEAVES or not wanted <= set(head.by_id))


def _find_synsets(file: LabelFile, head: _HeadClasses, nouns: WordNet | None) -> dict[str, list[str]]:
    """Return synset → the labels that stand for it, or raise with every synset that is not known."""
    found: dict[str, list[str]] = {}
    faults: list[str] = []
    for rule in file.rules:
        for synset in rule.synsets:
            known = synset if synset in head.by_id else nouns.find(synset) if nouns else None
            if known is None:
                faults.append(f"{rule.label!r} has the synset {synset!r}{_nearest_synset(synset, head)}")
            else:
                found.setdefault(known, []).append(rule.label)
    if faults:
        raise ConfigError(
            f"{file.where}: {'; '.join(faults[:EXAMPLES_SHOWN])}{_more(faults)}; expected nouns of WordNet 3.0, as ids "
            "(n02084071) or senses (dog.n.01)."
        )
    return found


def _nearest_synset(synset: str, head: _HeadClasses) -> str:
    if not ID.fullmatch(synset):
        return ", which is neither an id nor a known sense"
    near = difflib.get_close_matches(synset, list(head.by_id), n=1)
    if not near:
        return ", which is not known"
    return f", which is not known (did you mean {near[0]}, {head.names[head.by_id[near[0]]]}?)"


def _named_classes(rule: LabelRule, head: _HeadClasses, faults: list[str]) -> list[int]:
    """Return the classes that a rule names, by name or by index; note those that do not exist."""
    if not rule.classes and not rule.synsets:
        index = head.by_name.get(_plain(rule.label))
        return [] if index is None else [index]
    found: list[int] = []
    for name in rule.classes:
        index = head.by_name.get(_plain(name))
        if index is None and name.isdecimal() and int(name) < len(head.names):
            index = int(name)
        if index is None:
            near = difflib.get_close_matches(_plain(name), list(head.by_name), n=1)
            hint = f" (did you mean {head.names[head.by_name[near[0]]]!r}?)" if near else ""
            faults.append(f"{rule.label!r} has the class {name!r}, which is none of the {len(head.names)}{hint}")
        else:
            found.append(index)
    return found


def _claim_descendants(
    claims: dict[int, dict[str, int]], synsets: Mapping[str, list[str]], head: _HeadClasses, nouns: WordNet | None
) -> None:
    """Add, for every class, the labels whose synsets it is a kind of, with the steps between them."""
    if not synsets:
        return
    for id_, index in head.by_id.items():
        lineage = nouns.ancestors(id_) if nouns is not None and id_ in nouns else {id_: 0}
        for synset, distance in lineage.items():
            for label in synsets.get(synset, ()):
                claimed = claims.setdefault(index, {})
                claimed[label] = min(claimed.get(label, distance), distance)


def _settle(
    claims: Mapping[int, Mapping[str, int]], file: LabelFile, head: _HeadClasses
) -> tuple[dict[str, frozenset[int]], tuple[Contest, ...]]:
    """Give each class to the nearest label, or raise where two are equally near."""
    classes: dict[str, set[int]] = {}
    contests: list[Contest] = []
    faults: list[str] = []
    for index in sorted(claims):
        distances = claims[index]
        nearest = [label for label in distances if distances[label] == min(distances.values())]
        if len(nearest) > 1:
            faults.append(f"{head.names[index]!r} by {shown(sorted(nearest))}")
            continue
        classes.setdefault(nearest[0], set()).add(index)
        losers = tuple(sorted(label for label in distances if label != nearest[0]))
        if losers:
            contests.append(Contest(index=index, winner=nearest[0], losers=losers))
    if faults:
        raise ConfigError(
            f"{file.where}: {len(faults)} of the model's classes are claimed by two labels that are equally near: "
            f"{'; '.join(faults[:EXAMPLES_SHOWN])}{_more(faults)}. Name each such class under one label with 'classes'."
        )
    return {label: frozenset(indices) for label, indices in classes.items()}, tuple(contests)


def _why_unmapped(rule: LabelRule, head: _HeadClasses) -> str:
    if rule.synsets:
        return f"no class is or descends from {', '.join(rule.synsets)}, or a nearer label has them all"
    if rule.classes:
        return "a nearer label has all its classes"
    near = difflib.get_close_matches(_plain(rule.label), list(head.by_name), n=1)
    hint = f"; the nearest is {head.names[head.by_name[near[0]]]!r}" if near else ""
    return f"no synset is given and no class has this name{hint}"


def _plain(name: str) -> str:
    return " ".join(name.replace("_", " ").split()).lower()


def _more(faults: list[str]) -> str:
    return f"; and {len(faults) - EXAMPLES_SHOWN} more" if len(faults) > EXAMPLES_SHOWN else ""

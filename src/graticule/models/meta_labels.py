"""Labels put into a few kinds of things (animal, vehicle, food) by their ancestors in WordNet."""

from __future__ import annotations

from collections.abc import Sequence

from graticule.errors import ConfigError, shown
from graticule.models.wordnet import WordNet, open_wordnet

KINDS = (
    "animal.n.01",
    "plant.n.02",
    "food.n.01",
    "food.n.02",
    "person.n.01",
    "clothing.n.01",
    "vehicle.n.01",
    "furniture.n.01",
    "structure.n.01",
    "musical_instrument.n.01",
    "container.n.01",
    "device.n.01",
    "geological_formation.n.01",
    "natural_object.n.01",
    "artifact.n.01",
)
"""Synsets that stand for kinds; a label belongs to the one that is the fewest steps above it, of several the first."""
FAR = 10_000


def group_by_wordnet(
    labels: Sequence[str], *, kinds: Sequence[str] = KINDS, wordnet: WordNet | None = None
) -> dict[str, str]:
    """Return label → name of its kind; labels that WordNet does not know, or that are of no kind, are left out.

    Parameters
    ----------
    labels
        WordNet ids (``n01440764``), senses (``dog.n.01``) or words, whose first noun sense is taken.
    kinds
        Synsets, as senses or ids.
    wordnet
        By default the one that is installed.

    Raises
    ------
    FileError
        WordNet is not installed.
    ConfigError
        No label is known, or a kind is not.
    """
    known = wordnet or open_wordnet()
    named: dict[str, str] = {}
    for kind in kinds:
        synset = known.find(kind)
        if synset is None:
            raise ConfigError(f"'{kind}' is no noun of WordNet 3.0; expected a sense such as animal.n.01, or an id.")
        named[synset] = known.name(synset)
    groups: dict[str, str] = {}
    for label in labels:
        synset = known.find(label) or known.find(f"{label.strip().lower().replace(' ', '_')}.n.01")
        if synset is None:
            continue
        steps = {above: n for above, n in known.ancestors(synset).items() if above in named}
        if steps:
            groups[label] = named[min(named, key=lambda kind: steps.get(kind, FAR))]
    if not groups:
        raise ConfigError(
            f"--superclasses wordnet: none of {len(labels)} labels is a noun that WordNet knows, as in "
            f"{shown(labels, limit=3)}; expected ids such as n01440764, or words. Give a file of label and superclass."
        )
    return groups

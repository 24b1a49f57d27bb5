"""WordNet 3.0's nouns: what a synset is a kind of. ImageNet's classes are such synsets.

A class ``n02084071`` of ImageNet is the noun at byte 2,084,071 of WordNet 3.0's file ``data.noun``, so nothing is
needed but that file: Debian's package wordnet-base has it, and so has nltk's data set ``wordnet``, zipped or not.
"""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from graticule.errors import FileError, ModelError

VARIABLE = "GRATICULE_WORDNET"
"""Environment variable that names the folder with ``data.noun``."""
PLACES = (
    "/usr/share/wordnet",
    "/usr/local/share/wordnet/dict",
    "/usr/local/WordNet-3.0/dict",
    "/opt/homebrew/opt/wordnet/dict",
    "/usr/share/nltk_data/corpora/wordnet",
    "/usr/local/share/nltk_data/corpora/wordnet",
    "/usr/lib/nltk_data/corpora/wordnet",
    "~/nltk_data/corpora/wordnet",
)
"""Where the file is looked for; beside each of the last ones a zip of the same name is looked for too."""
DATA, INDEX = "data.noun", "index.noun"
ID = re.compile(r"n\d{8}")
SENSE = re.compile(r"(?P<lemma>.+)\.n\.(?P<number>\d{1,3})")
LANDMARK = ("n02084071", "dog")
"""A synset by which WordNet 3.0 is told from other versions, whose bytes lie elsewhere."""
HYPERNYMS = ("@", "@i")
INSTALL = (
    "Install it (Debian and Ubuntu: apt install wordnet-base; elsewhere: pip install nltk, then "
    f"python -m nltk.downloader wordnet), or set {VARIABLE} to the folder that holds {DATA}."
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WordNet:
    """The nouns of WordNet 3.0.

    Parameters
    ----------
    data
        The bytes of ``data.noun``.
    index
        The bytes of ``index.noun``; empty where the file is missing, and then senses by name are not known.
    """

    data: bytes
    index: bytes = b""
    known: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]], repr=False)
    """Parents of synsets that have been read."""

    def __contains__(self, synset: str) -> bool:
        if not ID.fullmatch(synset):
            return False
        start = int(synset[1:])
        is_line = start > 0 and self.data[start - 1 : start] == b"\n"
        return is_line and self.data[start : start + 9] == f"{synset[1:]} ".encode()

    def name(self, synset: str) -> str:
        """Return the first word of a synset."""
        return self._fields(synset)[4].replace("_", " ")

    def parents(self, synset: str) -> tuple[str, ...]:
        """Return what a synset is a kind of, or an instance of, one step up."""
        if synset in self.known:
            return self.known[synset]
        fields = self._fields(synset)
        first = 4 + 2 * int(fields[3], 16)
        pointers = [fields[place : place + 4] for place in range(first + 1, first + 1 + 4 * int(fields[first]), 4)]
        found = tuple(f"n{offset}" for symbol, offset, part, _ in pointers if symbol in HYPERNYMS and part == "n")
        self.known[synset] = found
        return found

    def ancestors(self, synset: str) -> dict[str, int]:
        """Return everything that a synset is a kind of, itself included, and how many steps up it stands at least."""
        steps = {synset: 0}
        layer = [synset]
        while layer:
            above = [parent for child in layer for parent in self.parents(child) if parent not in steps]
            steps |= dict.fromkeys(above, steps[layer[0]] + 1)
            layer = list(dict.fromkeys(above))
        return steps

    def find(self, name: str) -> str | None:
        """Return the id of a synset that is given as an id or as a sense, such as ``dog.n.01``; None if unknown."""
        if name in self:
            return name
        sense = SENSE.fullmatch(name.strip())
        if sense is None:
            return None
        lemma = sense["lemma"].lower().replace(" ", "_")
        start = self.index.find(f"\n{lemma} ".encode())
        if start < 0:
            return None
        fields = self.index[start + 1 : self.index.find(b"\n", start + 1)].split()
        synsets = fields[6 + int(fields[3]) :]
        number = int(sense["number"])
        return f"n{synsets[number - 1].decode()}" if 1 <= number <= len(synsets) else None

    def _fields(self, synset: str) -> list[str]:
        if synset not in self:
            raise ModelError(f"'{synset}' is no noun of WordNet 3.0. Take the id from ImageNet's list of classes.")
        start = int(synset[1:])
        line = self.data[start : self.data.index(b"\n", start)]
        return line.partition(b" | ")[0].decode("ascii").split(" ")


def open_wordnet(place: str | Path | None = None) -> WordNet:
    """Return WordNet's nouns.

    Parameters
    ----------
    place
        Folder or zip that holds ``data.noun``; by default the environment's `VARIABLE`, then `PLACES`.

    Raises
    ------
    FileError
        It is not there, or it is not version 3.0.
    """
    named = place or os.environ.get(VARIABLE)
    sources = [Path(named)] if named else list(_places())
    for source in sources:
        files = _read(source)
        if files is None:
            continue
        wordnet = WordNet(data=files[0], index=files[1])
        synset, word = LANDMARK
        if synset not in wordnet or wordnet.name(synset) != word:
            raise FileError(
                f"{source}: holds another version of WordNet than 3.0, whose ids ImageNet uses ({synset} is not "
                f"'{word}' there). {INSTALL}"
            )
        return wordnet
    where = str(named) if named else ", ".join(PLACES[:2]) + " and other usual places"
    raise FileError(f"WordNet's file {DATA} is not in {where}; it tells which classes descend from a synset. {INSTALL}")


def _places() -> Iterator[Path]:
    for place in PLACES:
        folder = Path(place).expanduser()
        yield folder
        if folder.parent.name == "corpora":
            yield folder.with_suffix(".zip")
    for root in os.environ.get("NLTK_DATA", "").split(os.pathsep):
        if root:
            yield from (Path(root, "corpora", name) for name in ("wordnet", "wordnet.zip"))


def _read(source: Path) -> tuple[bytes, bytes] | None:
    """Return both files of a folder or a zip; None if the first is not there."""
    try:
        if source.is_file():
            with zipfile.ZipFile(source) as archive:
                names = {Path(name).name: name for name in archive.namelist()}
                if DATA not in names:
                    return None
                return archive.read(names[DATA]), archive.read(names[INDEX]) if INDEX in names else b""
        if not (source / DATA).is_file():
            return None
        index = source / INDEX
        return (source / DATA).read_bytes(), index.read_bytes() if index.is_file() else b""
    except (OSError, zipfile.BadZipFile) as error:
        raise FileError(f"{source}: cannot be read ({error}). {INSTALL}") from error

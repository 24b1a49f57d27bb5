"""WordNet, read with nltk from a copy that is installed on this machine: what a synset means and what stands above it.

Ids are those of ImageNet: a letter for the part of speech and the offset in WordNet 3.0, as in ``n01440764``.
"""

from __future__ import annotations

import contextlib
import io
import os
import warnings
from functools import cache
from pathlib import Path
from typing import Any

from graticule.errors import ConfigError, FileError, MissingExtraError

DEBIAN_FOLDER = Path("/usr/share/wordnet")
"""Where Debian's package ``wordnet-base`` puts it."""
VERSION = "3.0"
N_LEXICOGRAPHER_FILES = 45
"""nltk wants their names, which Debian leaves out and nothing here needs; it gets numbers instead."""


class WordNet:
    """Synsets by their ids."""

    def __init__(self, folder: Path | None = None) -> None:
        self._reader = _open_reader(folder or _find_folder())

    def describe(self, wordnet_id: str) -> tuple[str, str]:
        """Return a synset's words, comma-separated, and its gloss.

        Raises
        ------
        ConfigError
            There is no such synset.
        """
        synset = self._find(wordnet_id)
        return ", ".join(name.replace("_", " ") for name in synset.lemma_names()), str(synset.definition())

    def find_ancestors(self, wordnet_id: str) -> dict[str, int]:
        """Return the ids of a synset and of all above it, with the fewest steps up to each.

        Raises
        ------
        ConfigError
            There is no such synset.
        """
        level = [self._find(wordnet_id)]
        steps: dict[str, int] = {}
        height = 0
        while level:
            new = [synset for synset in level if steps.setdefault(_name(synset), height) == height]
            level = [parent for synset in new for parent in (*synset.hypernyms(), *synset.instance_hypernyms())]
            height += 1
        return steps

    def _find(self, wordnet_id: str) -> Any:
        synset = None
        with contextlib.suppress(ValueError, KeyError, IndexError, self._reader.errors), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # nltk warns and goes on; here it is an error
            synset = self._reader.synset_from_pos_and_offset(wordnet_id[0], int(wordnet_id[1:]))
        if synset is None:
            raise ConfigError(
                f"'{wordnet_id}' is no synset of WordNet {VERSION}; expected an id such as n01440764. "
                "Ids of other versions differ."
            )
        return synset


@cache
def open_wordnet(folder: str = "") -> WordNet:
    """Return WordNet from a folder, or from where it is usually installed; opened once.

    Raises
    ------
    MissingExtraError
        nltk is not installed.
    FileError
        There is no WordNet, or it is of another version than ImageNet's ids.
    """
    return WordNet(Path(folder) if folder else None)


def _find_folder() -> Path:
    """Return the folder that WordNet's own environment variables name, or Debian's."""
    search = os.environ.get("WNSEARCHDIR")
    home = os.environ.get("WNHOME")
    if search:
        return Path(search)
    return Path(home) / "dict" if home else DEBIAN_FOLDER


def _open_reader(folder: Path) -> Any:
    try:
        import nltk.data
        from nltk.corpus.reader.wordnet import WordNetCorpusReader, WordNetError
    except ImportError as error:
        raise MissingExtraError("nltk", extra="wordnet", needed_for="WordNet") from error

    if not (folder / "data.noun").is_file():
        raise FileError(
            f"{folder}: no WordNet there (no file data.noun). Install it (on Debian: apt install wordnet-base), or "
            "name its folder in the environment variable WNSEARCHDIR."
        )

    class Reader(WordNetCorpusReader):  # pyright: ignore[reportUntypedBaseClass]
        errors = WordNetError

        def open(self, file: str) -> Any:
            if file == "lexnames" and not (folder / file).is_file():
                return io.StringIO(
                    "".join(f"{number:02d} file-{number:02d} 0\n" for number in range(N_LEXICOGRAPHER_FILES))
                )
            return super().open(file)

        def map_wn(self, version: str = "wordnet") -> None:
            """Map no other version's ids to this one's: that would need nltk's own copy."""
            del version

    if str(folder) not in nltk.data.path:
        nltk.data.path.append(str(folder))  # nltk opens files below these folders only
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that other languages than English are missing
        reader = Reader(str(folder), None)
    if reader.get_version() != VERSION:
        raise FileError(
            f"{folder}: WordNet {reader.get_version()}, expected {VERSION}, whose ids ImageNet uses. Install it."
        )
    return reader


def _name(synset: Any) -> str:
    return f"{synset.pos()}{synset.offset():08d}"

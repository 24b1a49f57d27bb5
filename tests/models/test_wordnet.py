"""WordNet's nouns: read from a tiny file of its format, and, where it is installed, checked against nltk's reader."""

from __future__ import annotations

import random
import warnings
import zipfile
from pathlib import Path

import pytest

from graticule.errors import FileError, ModelError
from graticule.models.wordnet import VARIABLE, open_wordnet

ENTITY, ANIMAL, PET, DOG, PUPPY = "n00000100", "n00000300", "n00000500", "n02084071", "n02084300"


def write_wordnet(folder, *, dog="dog"):
    """Write a data.noun of five synsets whose bytes lie where their ids say, and an index of two words."""
    lines = {
        ENTITY: "03 n 01 entity 0 000 | what is",
        ANIMAL: f"03 n 01 animal 0 001 @ {ENTITY[1:]} n 0000 | a living thing",
        PET: f"03 n 01 pet 0 002 @ {ANIMAL[1:]} n 0000 ~ {DOG[1:]} n 0000 | kept",
        DOG: f"05 n 03 {dog} 0 wild_dog 0 cur 1 003 @ {ANIMAL[1:]} n 0000 @i {PET[1:]} n 0000 + 00001234 v 0101 | @",
        PUPPY: f"05 n 01 puppy 0 001 @ {DOG[1:]} n 0000 | young",
    }
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "data.noun").open("wb") as file:
        for synset, rest in lines.items():
            start = int(synset[1:])
            file.write(b" " * (start - file.tell() - 1) + b"\n")
            file.write(f"{synset[1:]} {rest}\n".encode())
    (folder / "index.noun").write_text(
        f"  1 licence\nhot_dog n 1 1 @ 1 0 {PUPPY[1:]}  \ndog n 2 2 @ ~ 2 1 {DOG[1:]} {PUPPY[1:]}  \n"
    )
    return folder


@pytest.fixture
def wordnet(tmp_path):
    return open_wordnet(write_wordnet(tmp_path / "wordnet"))


def test_a_synset_is_a_kind_of_everything_above_it(wordnet):
    assert wordnet.parents(DOG) == (ANIMAL, PET)
    assert wordnet.ancestors(PUPPY) == {PUPPY: 0, DOG: 1, ANIMAL: 2, PET: 2, ENTITY: 3}
    assert wordnet.name(DOG) == "dog"
    assert wordnet.ancestors(ENTITY) == {ENTITY: 0}


def test_synsets_are_found_by_id_and_by_sense(wordnet):
    assert wordnet.find(DOG) == DOG
    assert (wordnet.find("dog.n.01"), wordnet.find("dog.n.2"), wordnet.find("Hot dog.n.01")) == (DOG, PUPPY, PUPPY)
    assert [wordnet.find(name) for name in ("dog.n.03", "cat.n.01", "dog", "n02084072", "dog.n.00", "")] == [None] * 6


def test_what_is_no_synset_is_not_in_it(wordnet):
    assert DOG in wordnet
    assert "n02084072" not in wordnet
    assert "n99999999" not in wordnet
    assert "02084071" not in wordnet
    with pytest.raises(ModelError, match=r"'n02084072' is no noun of WordNet 3.0"):
        wordnet.parents("n02084072")


def test_it_is_found_by_the_environment_in_a_folder_or_a_zip(tmp_path, monkeypatch):
    folder = write_wordnet(tmp_path / "wordnet")
    with zipfile.ZipFile(tmp_path / "wordnet.zip", "w") as archive:
        for name in ("data.noun", "index.noun"):
            archive.write(folder / name, f"wordnet/{name}")
    for place in (folder, tmp_path / "wordnet.zip"):
        monkeypatch.setenv(VARIABLE, str(place))
        assert open_wordnet().find("dog.n.01") == DOG


def test_without_an_index_ids_still_work(tmp_path):
    folder = write_wordnet(tmp_path / "wordnet")
    (folder / "index.noun").unlink()
    wordnet = open_wordnet(folder)
    assert DOG in wordnet
    assert wordnet.find("dog.n.01") is None


def test_a_place_without_wordnet_says_how_to_get_it(tmp_path, monkeypatch):
    with pytest.raises(FileError, match=r"data.noun is not in .*apt install wordnet-base.*GRATICULE_WORDNET"):
        open_wordnet(tmp_path)
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("NLTK_DATA", str(tmp_path))
    monkeypatch.setattr("graticule.models.wordnet.PLACES", ("/nowhere/corpora/wordnet",))
    with pytest.raises(FileError, match=r"and other usual places"):
        open_wordnet()
    write_wordnet(tmp_path / "corpora" / "wordnet")
    assert DOG in open_wordnet()


def test_another_version_or_a_broken_zip_is_refused(tmp_path):
    with pytest.raises(FileError, match=r"another version of WordNet than 3.0"):
        open_wordnet(write_wordnet(tmp_path / "other", dog="wolf"))
    (tmp_path / "broken.zip").write_bytes(b"no zip")
    with pytest.raises(FileError, match="cannot be read"):
        open_wordnet(tmp_path / "broken.zip")


@pytest.mark.slow
def test_lineages_are_those_of_nltks_reader(tmp_path):
    """nltk reads its own folders only, and wants a few more files than Debian's package has."""
    source = Path("/usr/share/wordnet")
    if not (source / "data.noun").is_file():
        pytest.skip("WordNet is not installed here (Debian: wordnet-base)")
    nltk = pytest.importorskip("nltk")
    reader = pytest.importorskip("nltk.corpus.reader.wordnet")
    folder = tmp_path / "corpora" / "wordnet"
    folder.mkdir(parents=True)
    for file in source.iterdir():
        if file.is_file():
            (folder / file.name).write_bytes(file.read_bytes())
    (folder / "lexnames").write_text("".join(f"{number:02d}\tname{number}\t1\n" for number in range(45)))
    nltk.data.path.append(str(tmp_path))
    try:

        class OneVersion(reader.WordNetCorpusReader):
            def map_wn(self, version="wordnet"):
                """Debian's copy is 3.0, and needs no map to it."""

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # on languages that are not there
            theirs = OneVersion(nltk.data.FileSystemPathPointer(str(folder)), None)
        ours = open_wordnet(source)
        ids = ["n02084071", "n03770679", "n07742313", "n02119789", "n04490091"]
        offsets = [int(line[:8]) for line in (folder / "data.noun").read_text().splitlines() if line[:1] != " "]
        ids += [f"n{offset:08d}" for offset in random.Random(0).sample(offsets, 200)]
        for id_ in ids:
            synset = theirs.synset_from_pos_and_offset("n", int(id_[1:]))
            expected = {f"n{above.offset():08d}": steps for above, steps in synset.hypernym_distances()}
            for above, steps in synset.hypernym_distances():
                expected[f"n{above.offset():08d}"] = min(expected[f"n{above.offset():08d}"], steps)
            assert ours.ancestors(id_) == expected
            assert ours.name(id_) == synset.lemmas()[0].name().replace("_", " ")
            assert ours.find(synset.name()) == id_
    finally:
        nltk.data.path.remove(str(tmp_path))

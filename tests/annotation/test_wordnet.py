"""WordNet: distances equal nltk's own, ids that are none are named, and a missing WordNet says what to install."""

from __future__ import annotations

import numpy as np
import pytest

from graticule.annotation.distance import load_distance
from graticule.annotation.glossary import Glossary
from graticule.annotation.wordnet import DEBIAN_FOLDER, WordNet, open_wordnet
from graticule.errors import ConfigError, FileError, TableError

pytest.importorskip("nltk", reason="nltk is not installed")
TENCH, GOLDFISH, TABBY, TIGER_CAT, FERRET = "n01440764", "n01443537", "n02123045", "n02123159", "n02443484"

needs_wordnet = pytest.mark.skipif(
    not (DEBIAN_FOLDER / "data.noun").is_file(), reason=f"no WordNet in {DEBIAN_FOLDER} (apt install wordnet-base)"
)


@needs_wordnet
def test_a_synset_has_its_words_and_its_gloss():
    words, gloss = open_wordnet().describe(TENCH)
    assert words == "tench, Tinca tinca"
    assert "freshwater" in gloss


@needs_wordnet
def test_distances_equal_those_of_nltk():
    ids = [TENCH, GOLDFISH, TABBY, TIGER_CAT, FERRET, "n04285008", "n07753592", "n09472597"]
    reader = open_wordnet()._reader
    pairs = [(one, other) for one in ids for other in ids]
    found = load_distance("wordnet").measure(*map(list, zip(*pairs, strict=True)))
    synsets = {name: reader.synset_from_pos_and_offset("n", int(name[1:])) for name in ids}
    expected = [synsets[one].shortest_path_distance(synsets[other]) for one, other in pairs]
    np.testing.assert_array_equal(found, expected)


@needs_wordnet
def test_two_cats_are_near_and_a_cat_and_a_car_are_far():
    near, far, same = load_distance("wordnet").measure([TABBY, TABBY, TABBY], [TIGER_CAT, "n04285008", TABBY])
    assert near == 2
    assert far > 5
    assert same == 0


@needs_wordnet
def test_labels_find_their_synsets_through_the_glossary():
    glossary = Glossary(wordnet_ids={"0": TENCH, "1": GOLDFISH})
    assert load_distance("wordnet", glossary=glossary).measure(["0"], ["1"]).tolist() == [2.0]
    with pytest.raises(TableError, match=r"2 labels have no WordNet id: 'cat', 'dog'.*--distance none"):
        load_distance("wordnet", glossary=glossary).measure(["cat", "0"], ["0", "dog"])


@needs_wordnet
@pytest.mark.parametrize("wordnet_id", ["n00000001", "x01440764", "tench"])
def test_an_id_that_is_none_is_named(wordnet_id):
    with pytest.raises(ConfigError, match=f"'{wordnet_id}' is no synset"):
        open_wordnet().describe(wordnet_id)


def test_a_missing_wordnet_says_what_to_install(tmp_path, monkeypatch):
    with pytest.raises(FileError, match="apt install wordnet-base"):
        WordNet(tmp_path)
    monkeypatch.setenv("WNSEARCHDIR", str(tmp_path / "elsewhere"))
    with pytest.raises(FileError, match="elsewhere"):
        WordNet()

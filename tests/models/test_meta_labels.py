"""Labels grouped by their ancestors in WordNet, where it is installed."""

from __future__ import annotations

import pytest

from graticule.errors import ConfigError, FileError
from graticule.models.meta_labels import group_by_wordnet
from graticule.models.wordnet import open_wordnet


@pytest.fixture(scope="module")
def wordnet():
    try:
        return open_wordnet()
    except FileError as error:
        pytest.skip(f"WordNet is not installed: {error}")


def test_a_label_belongs_to_the_nearest_kind_above_it(wordnet):
    found = group_by_wordnet(["dog", "n02084071", "Taxi", "sofa", "castle", "qwertz"], wordnet=wordnet)
    assert found == {
        "dog": "animal",
        "n02084071": "animal",
        "Taxi": "vehicle",
        "sofa": "furniture",
        "castle": "structure",
    }


def test_labels_and_kinds_that_are_unknown_are_named(wordnet):
    with pytest.raises(ConfigError, match="none of 1 labels is a noun"):
        group_by_wordnet(["qwertz"], wordnet=wordnet)
    with pytest.raises(ConfigError, match="'qwertz' is no noun"):
        group_by_wordnet(["dog"], kinds=["qwertz"], wordnet=wordnet)

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from graticule.errors import ConfigError, FileError, ModelError
from graticule.models.imagenet import class_names, wordnet_ids
from graticule.models.label_file import LabelFile, LabelRule, read_label_file
from graticule.models.label_space import LabelSpaceConfig, map_labels

NAMES = ("pug", "beagle", "tabby", "school bus", "minivan", "crane")
IDS = tuple(f"n{1000 * k:08d}" for k in range(10, 16))
ANIMAL, DOG, CAT, VEHICLE, CAR, TRUCK, BIRD, TREE = (f"n{1000 * k:08d}" for k in range(20, 28))
PARENTS = {
    IDS[0]: [DOG],
    IDS[1]: [DOG],
    IDS[2]: [CAT],
    IDS[3]: [VEHICLE],
    IDS[4]: [CAR, TRUCK],
    IDS[5]: [BIRD],
    DOG: [ANIMAL],
    CAT: [ANIMAL],
    CAR: [VEHICLE],
    TRUCK: [VEHICLE],
    BIRD: [ANIMAL],
    ANIMAL: [],
    VEHICLE: [],
    TREE: [],
}


@pytest.fixture
def wordnet(tmp_path):
    """A WordNet of some animals and vehicles, each line at the byte that its id names."""
    content = bytearray(b" " * 2084070 + b"\n02084071 05 n 01 dog 0 000 | a landmark\n")
    for id_, parents in PARENTS.items():
        pointers = "".join(f" @ {parent[1:]} n 0000" for parent in parents)
        line = f"\n{id_[1:]} 05 n 01 word 0 {len(parents):03d}{pointers} | gloss\n".encode()
        content[int(id_[1:]) - 1 : int(id_[1:]) - 1 + len(line)] = line
    (tmp_path / "data.noun").write_bytes(bytes(content))
    return str(tmp_path)


def labels(**rules):
    """A label's rule is a list of synsets, or a mapping."""
    made = tuple(
        LabelRule(label=label, **({"synsets": tuple(rule)} if isinstance(rule, list) else rule))
        for label, rule in rules.items()
    )
    return LabelFile(rules=made, where="labels.yaml", sha256="0" * 64)


def mapped(file, wordnet=None, **config):
    return map_labels(file, names=NAMES, ids=IDS, config=LabelSpaceConfig(wordnet=wordnet, **config), model="m")


def classes_of(mapping):
    return mapping.info["label_space"]["classes"]


def test_a_label_gets_the_classes_that_descend_from_its_synsets(wordnet):
    found = mapped(labels(dog=[DOG], bus=[IDS[3]], pet=[CAT]), wordnet)
    assert classes_of(found) == {"dog": ["pug", "beagle"], "bus": ["school bus"], "pet": ["tabby"]}
    assert found.labels == ("dog", "bus", "pet", "minivan", "crane")
    assert found.n_mapped == 3
    assert found.info["n_labels_mapped"] == 3


def test_the_nearest_ancestor_wins_and_the_others_are_told(wordnet):
    found = mapped(labels(animal=[ANIMAL], dog=[DOG], pug=[IDS[0]]), wordnet)
    assert classes_of(found) == {"animal": ["tabby", "crane"], "dog": ["beagle"], "pug": ["pug"]}
    assert found.info["label_space"]["contested"] == [
        {"class": "pug", "label": "pug", "also_claimed_by": ["animal", "dog"]},
        {"class": "beagle", "label": "dog", "also_claimed_by": ["animal"]},
    ]


def test_equally_near_labels_are_refused_until_one_names_the_class(wordnet):
    with pytest.raises(ConfigError, match=r"1 of the model's classes .* equally near: 'minivan' by 'car', 'truck'"):
        mapped(labels(car=[CAR], truck=[TRUCK]), wordnet)
    file = labels(car=[CAR], truck=[TRUCK])
    named = LabelRule(label="truck", synsets=(TRUCK,), classes=("minivan",))
    found = mapped(LabelFile(rules=(file.rules[0], named), where="f", sha256=""), wordnet)
    assert classes_of(found) == {"truck": ["minivan"]}
    assert found.unmapped == {"car": f"no class is or descends from {CAR}, or a nearer label has them all"}
    with pytest.raises(ConfigError, match="'pug' by 'a', 'b'"):
        mapped(labels(a={"classes": ("pug",)}, b={"classes": ("0",)}))


def test_labels_without_a_class_are_left_out_and_counted(wordnet):
    found = mapped(labels(dog=[DOG], spaceship=[], tree=[TREE]), wordnet)
    assert set(found.unmapped) == {"spaceship", "tree"}
    assert found.info["unmapped_labels"] == ["spaceship", "tree"]
    assert "no class has this name" in found.unmapped["spaceship"]
    assert "spaceship" not in found.labels


def test_a_label_alone_gets_the_class_of_its_name():
    found = mapped(labels(School_Bus=[], Pugg=[]))
    assert classes_of(found) == {"School_Bus": ["school bus"]}
    assert "the nearest is 'pug'" in found.unmapped["Pugg"]


def test_classes_are_named_or_numbered():
    found = mapped(labels(pet={"classes": ("Tabby", "1")}, ride={"classes": ("school_bus",)}))
    assert classes_of(found) == {"pet": ["beagle", "tabby"], "ride": ["school bus"]}


def test_synsets_that_are_classes_need_no_wordnet(tmp_path):
    found = mapped(labels(dog=[IDS[0], IDS[1]], cat=[IDS[2]]), str(tmp_path))
    assert classes_of(found) == {"dog": ["pug", "beagle"], "cat": ["tabby"]}
    assert found.info["label_space"]["wordnet"] is False
    with pytest.raises(FileError, match="apt install wordnet-base"):
        mapped(labels(dog=[DOG]), str(tmp_path))


def test_other_classes_keep_a_name_that_no_label_has(wordnet):
    found = mapped(labels(crane=[CAT], minivan=[]), wordnet)
    assert found.labels == ("crane", "minivan", "pug", "beagle", "school bus", "crane (class 5)")
    unmapped = mapped(labels(tabby=[TRUCK], dog=[DOG], truck={"classes": ("minivan",)}), wordnet)
    assert "tabby" in unmapped.unmapped
    assert "tabby (class 2)" in unmapped.labels
    assert "tabby" not in unmapped.labels


LOGITS = np.random.default_rng(0).normal(size=(50, 6)).astype(np.float32) * 3
PROBABILITIES = np.exp(LOGITS.astype(np.float64))
PROBABILITIES /= PROBABILITIES.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("kind", ["logits", "probabilities"])
def test_max_and_sum_are_of_probabilities(wordnet, kind):
    scores = LOGITS if kind == "logits" else PROBABILITIES.astype(np.float32)
    file = labels(dog=[DOG], pet=[CAT])
    summed = mapped(file, wordnet, aggregation="sum").apply(scores, kind=kind)
    expected = np.column_stack([PROBABILITIES[:, :2].sum(axis=1), PROBABILITIES[:, 2:]])
    np.testing.assert_allclose(summed, expected, rtol=1e-4, atol=1e-7)
    best = mapped(file, wordnet, aggregation="max").apply(scores, kind=kind)
    expected = np.column_stack([PROBABILITIES[:, :2].max(axis=1), PROBABILITIES[:, 2:]])
    np.testing.assert_allclose(best, expected / expected.sum(axis=1, keepdims=True), rtol=1e-4, atol=1e-7)


def test_with_max_and_compete_the_prediction_is_the_heads_best_class(wordnet):
    found = mapped(labels(dog=[DOG], ride=[VEHICLE]), wordnet)
    predicted = [found.labels[k] for k in found.apply(LOGITS, kind="logits").argmax(axis=1)]
    owner = {"pug": "dog", "beagle": "dog", "school bus": "ride", "minivan": "ride"}
    assert predicted == [owner.get(NAMES[k], NAMES[k]) for k in LOGITS.argmax(axis=1)]


def test_restrict_leaves_other_classes_out(wordnet):
    found = mapped(labels(dog=[DOG], ride=[VEHICLE]), wordnet, others="restrict", aggregation="sum")
    assert found.labels == ("dog", "ride")
    expected = np.column_stack([PROBABILITIES[:, :2].sum(axis=1), PROBABILITIES[:, 3:5].sum(axis=1)])
    np.testing.assert_allclose(
        found.apply(LOGITS, kind="logits"), expected / expected.sum(axis=1, keepdims=True), rtol=1e-4
    )


def test_tiny_and_absent_probabilities_do_no_harm(wordnet):
    found = mapped(labels(dog=[DOG], ride=[VEHICLE]), wordnet, others="restrict")
    far = np.array([[-2000, -1000, 0, -1003, -4000, 0]], dtype=np.float32)
    np.testing.assert_allclose(found.apply(far, kind="logits"), [[0.9526, 0.0474]], atol=1e-3)
    none = np.array([[0, 0, 1, 0, 0, 0]], dtype=np.float32)
    np.testing.assert_allclose(found.apply(none, kind="probabilities"), [[0.5, 0.5]])


@pytest.mark.parametrize(
    ("file", "error", "message"),
    [
        (labels(dog=["n00000012"]), ConfigError, r"'dog' has the synset 'n00000012', which is not known"),
        (labels(dog=["n00013300"]), ConfigError, r"did you mean n00013000, school bus\?"),
        (labels(dog=["dogs"]), ConfigError, "neither an id nor a known sense"),
        (labels(dog={"classes": ("beagel",)}), ConfigError, r"none of the 6 \(did you mean 'beagle'\?\)"),
        (labels(dog={"classes": ("6",)}), ConfigError, "has the class '6', which is none of the 6"),
        (labels(ufo=[]), ModelError, r"m: none of the 1 labels of labels.yaml has a class in its head of 6"),
    ],
)
def test_a_rule_that_cannot_be_applied_is_refused(wordnet, file, error, message):
    with pytest.raises(error, match=message):
        mapped(file, wordnet)


def test_synsets_are_refused_for_a_head_without_ids():
    with pytest.raises(ModelError, match=r"m: the labels file labels.yaml gives synsets.*no WordNet ids"):
        map_labels(labels(dog=[DOG]), names=NAMES, ids=None, model="m")


@pytest.mark.parametrize(
    ("setting", "message"),
    [({"aggregation": "mean"}, "unknown aggregation 'mean'"), ({"others": "restric"}, "Did you mean 'restrict'")],
)
def test_unknown_settings_are_refused(setting, message):
    with pytest.raises(ConfigError, match=message):
        LabelSpaceConfig(**setting)


@pytest.fixture
def geode(shared):
    if importlib.util.find_spec("timm") is None or not Path("/usr/share/wordnet/data.noun").is_file():
        pytest.skip("timm or WordNet (Debian: wordnet-base) is not installed here")
    return read_label_file(shared("data/geode_index/imagenet_synsets.csv"))


def map_to_imagenet(file, n_classes):
    ids = wordnet_ids(n_classes)
    assert ids is not None
    return map_labels(file, names=class_names(ids), ids=ids)


def test_geodes_labels_get_the_classes_of_imagenets_thousand_that_descend_from_them(geode):
    found = map_to_imagenet(geode, 1000)
    sizes = {label: len(names) for label, names in classes_of(found).items()}
    expected = {"Dog": 118, "Bicycle": 2, "Car": 10, "Bag": 5, "Candle": 1, "Hat": 4}
    assert {label: sizes[label] for label in expected} == expected
    assert found.n_mapped == 28
    assert len(found.labels) == 28 + 1000 - sum(sizes.values())
    assert [(c["class"], c["label"]) for c in found.info["label_space"]["contested"]] == [
        ("candle", "Candle"),
        ("minivan", "Car"),
    ]


@pytest.mark.slow
def test_38_of_geodes_40_labels_have_classes_among_imagenets_21841(geode):
    found = map_to_imagenet(geode, 21841)
    assert found.n_mapped == 38
    assert set(found.unmapped) == {"Backyard", "Toothpaste_toothpowder"}

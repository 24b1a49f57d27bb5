from __future__ import annotations

import pytest

from graticule.errors import ConfigError, FileError
from graticule.models.label_file import LabelRule
from graticule.models.prompts import Templates, fill, hash_prompts, list_templates, load_templates, write_prompts

MINE = Templates(name="mine", templates=("a photo of {a} {label}.", "{label}"))


@pytest.mark.parametrize(
    ("label", "sentence"),
    [
        ("lamp", "a lamp"),
        ("apple", "an apple"),
        ("Road_sign", "a Road sign"),
        ("ice  cream_", "an ice cream"),
        ("hour glass", "an hour glass"),
        ("house", "a house"),
        ("heirloom", "an heirloom"),
        ("honey", "a honey"),
        ("unicycle", "a unicycle"),
        ("umbrella", "an umbrella"),
        ("uninhabited hut", "an uninhabited hut"),
        ("utensil", "a utensil"),
        ("urn", "an urn"),
        ("European oak", "a European oak"),
        ("one-way sign", "a one-way sign"),
        ("onion", "an onion"),
        ("X-ray", "an X-ray"),
        ("USB stick", "a USB stick"),
        ("8-ball", "a 8-ball"),
        ("été", "a été"),
    ],
)
def test_the_article_fits_the_word_as_it_is_spoken(label, sentence):
    assert fill("{a} {label}", label) == sentence


def test_an_article_that_is_written_out_stays():
    assert fill("a bad photo of a {}.", "apple") == "a bad photo of a apple."


def test_braces_in_a_label_are_left_alone():
    assert fill("{a} {label}", r"{a} \1 {label.x}") == r"a {a} \1 {label.x}"


def test_a_label_has_its_own_prompts_or_the_templates_with_its_description():
    rules = [
        LabelRule(label="jug"),
        LabelRule(label="oil", prompts=("cooking oil.", "a bottle of oil")),
        LabelRule(label="tv", description="old television set"),
    ]
    assert [found.sentences for found in write_prompts(rules, MINE)] == [
        ("a photo of a jug.", "jug"),
        ("cooking oil.", "a bottle of oil"),
        ("a photo of an old television set.", "old television set"),
    ]


def test_labels_with_the_same_prompts_are_refused():
    with pytest.raises(ConfigError, match=r"'hand_soap' and 'hand soap' have the same prompts \('a photo"):
        write_prompts([LabelRule(label="hand_soap"), LabelRule(label="hand soap")], MINE)


def test_the_hash_tells_labels_sentences_and_their_order_apart():
    rules = [LabelRule(label="jug"), LabelRule(label="cup")]
    one = hash_prompts(write_prompts(rules, MINE))
    assert one == hash_prompts(write_prompts(list(rules), MINE))
    assert one != hash_prompts(write_prompts(rules[::-1], MINE))
    assert one != hash_prompts(write_prompts([LabelRule(label="jug", prompts=("jug",)), rules[1]], MINE))


def test_packaged_sets_can_be_loaded_and_have_a_place_for_the_label():
    assert set(list_templates()) == {"single", "name", "clip80"}
    assert load_templates("single").templates == ("a photo of {a} {label}.",)
    assert load_templates("name").templates == ("{label}",)


def test_clips_eighty_are_taken_from_open_clip_as_they_are():
    metadata = pytest.importorskip("open_clip.zero_shot_metadata")
    templates = load_templates("clip80").templates
    assert len(templates) == 80
    expected = [template("apple") for template in metadata.OPENAI_IMAGENET_TEMPLATES]
    assert [fill(template, "apple") for template in templates] == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.txt", "a {label} here\n\nmy {}\n"),
        ("a.yaml", "- a {label} here\n- my {}\n"),
        ("b.yaml", "title: x\ntemplates: ['a {label} here', 'my {}']"),
    ],
)
def test_a_file_of_ones_own_is_read(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    found = load_templates(tmp_path / name)
    assert (found.name, found.templates) == (name, ("a {label} here", "my {}"))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.txt", "a photo\nmy {label}", r"1 templates have no \{label\}.*'a photo'"),
        ("a.txt", "my {label} in {region}", r"another name in braces"),
        ("a.txt", "\n", "is empty"),
        ("a.yaml", "a: 3", "expected a list of templates"),
        ("a.yaml", "- [x]", "expected a list of templates"),
    ],
)
def test_a_bad_file_is_refused(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError, match=f"{name}: .*{message}.*|{message}"):
        load_templates(tmp_path / name)


def test_an_unknown_set_and_a_missing_file_are_refused():
    with pytest.raises(ConfigError, match=r"unknown set of templates 'singel'.*Did you mean 'single'.*\.txt or \.yaml"):
        load_templates("singel")
    with pytest.raises(FileError, match="cannot be read"):
        load_templates("nowhere.txt")

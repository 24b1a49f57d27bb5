"""Names and WordNet ids of ImageNet heads."""

from __future__ import annotations

import pytest

from graticule.models.imagenet import class_names, recognise_ids, unique_names, wordnet_ids

pytest.importorskip("timm")


def test_a_thousand_ids_in_the_order_of_the_heads():
    ids = wordnet_ids(1000)
    assert ids is not None
    assert ids == tuple(sorted(ids))
    assert ids[0] == "n01440764"
    assert len(set(ids)) == 1000


def test_each_class_has_a_short_name_of_its_own():
    ids = wordnet_ids(1000)
    names = class_names(ids)
    assert len(set(names)) == 1000
    named = dict(zip(ids, names, strict=True))
    assert named["n01440764"] == "tench"
    assert named["n02012849"] == "crane (n02012849)"
    assert named["n03126707"] == "crane (n03126707)"
    assert named["n03710721"] != named["n03710637"]  # two maillots


def test_names_of_another_library_are_recognised_by_their_order():
    weights = pytest.importorskip("torchvision.models").ResNet50_Weights.DEFAULT
    categories = weights.meta["categories"]
    assert recognise_ids(categories) == wordnet_ids(1000)
    assert recognise_ids(categories[::-1]) is None
    assert recognise_ids(categories[:10]) is None


@pytest.mark.parametrize("n_classes", [2, 40, 999])
def test_a_head_of_another_size_has_no_ids(n_classes):
    assert wordnet_ids(n_classes) is None


@pytest.mark.parametrize("n_classes", [11221, 11821, 21841, 21843])
def test_larger_imagenets_have_as_many_ids_as_classes(n_classes):
    ids = wordnet_ids(n_classes)
    assert len(ids) == n_classes
    assert len(set(class_names(ids))) == n_classes


def test_a_name_that_two_classes_share_is_lengthened():
    assert unique_names(["a, b", "a, c", "d, e", ""], ["1", "2", "3", "4"]) == ("a, b", "a, c", "d", "class (4)")


def test_the_ids_are_those_that_photos_of_imagenet_are_named_after(shared):
    photos = sorted(path.name for path in shared("images/imagenet1k_samples_short256").glob("*.jpg"))
    assert wordnet_ids(1000) == tuple(name.partition("_")[0] for name in photos)

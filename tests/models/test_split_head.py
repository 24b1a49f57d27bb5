"""A classifier gives its features and, from them, the very scores that it gave whole."""

from __future__ import annotations

import pytest

from graticule.models.model import FEATURES, SCORES
from graticule.models.split_head import split_head
from graticule.models.weights import drawing_alike

torch = pytest.importorskip("torch")


def run(module, size=40):
    with torch.inference_mode():
        return module(torch.rand(3, 3, size, size, generator=torch.Generator().manual_seed(1)))


@pytest.mark.parametrize(
    ("name", "n_features"), [("resnet18", 512), ("mobilenet_v3_small", 1024), ("densenet121", 1024), ("vgg11", 4096)]
)
def test_the_last_linear_layer_is_split_off(name, n_features):
    models = pytest.importorskip("torchvision.models")
    with drawing_alike():
        module = models.get_model(name, weights=None, num_classes=7).eval()
    whole = run(module)
    split, gives = split_head(module, height=40, width=40)
    features, scores = run(split)
    assert gives == (FEATURES, SCORES)
    assert features.shape == (3, n_features)
    torch.testing.assert_close(scores, whole)


def test_without_a_last_linear_layer_there_are_scores_only():
    models = pytest.importorskip("torchvision.models")
    module = models.squeezenet1_1(weights=None, num_classes=5).eval()
    whole = run(module)
    split, gives = split_head(module, height=40, width=40)
    assert gives == (SCORES,)
    torch.testing.assert_close(run(split)[0], whole)


def test_where_something_follows_the_last_layer_the_network_is_left_whole():
    network = torch.nn.Sequential(
        torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(3, 4), torch.nn.Softmax(dim=1)
    )
    whole = run(network)
    split, gives = split_head(network, height=40, width=40)
    assert gives == (SCORES,)
    torch.testing.assert_close(run(split)[0], whole)
    torch.testing.assert_close(run(network), whole)

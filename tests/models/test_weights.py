"""Weights load from what training programs write, and nothing in a file is ever run."""

from __future__ import annotations

import pickle

import pytest

from graticule.errors import FileError, ModelError
from graticule.models.weights import drawing_alike, hash_module, load_state, read_state

torch = pytest.importorskip("torch")


def make_network():
    with drawing_alike():
        return torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Linear(4, 2))


def zeroed():
    network = make_network()
    for value in network.parameters():
        torch.nn.init.zeros_(value)
    return network


WRAPS = {
    "bare": lambda state: state,
    "state_dict": lambda state: {"state_dict": state, "epoch": 3},
    "model": lambda state: {"model": state, "optimizer": {"lr": 0.1}},
    "nested": lambda state: {"model": {"state_dict": state}},
    "data parallel": lambda state: {"state_dict": {f"module.{key}": value for key, value in state.items()}},
    "compiled": lambda state: {f"_orig_mod.{key}": value for key, value in state.items()},
    "lightning": lambda state: {"state_dict": {f"model.{key}": value for key, value in state.items()}},
    "both": lambda state: {f"module._orig_mod.{key}": value for key, value in state.items()},
}


@pytest.mark.parametrize("wrap", WRAPS)
def test_a_checkpoint_loads_however_it_is_wrapped(tmp_path, wrap):
    source, target = make_network(), zeroed()
    torch.save(WRAPS[wrap](source.state_dict()), tmp_path / "weights.pth")
    load_state(target, read_state(tmp_path / "weights.pth"), where="weights.pth")
    assert hash_module(target) == hash_module(source)


def test_safetensors_load_and_give_the_same_hash(tmp_path):
    safetensors = pytest.importorskip("safetensors.torch")
    source, target = make_network(), zeroed()
    safetensors.save_file(source.state_dict(), tmp_path / "weights.safetensors")
    load_state(target, read_state(tmp_path / "weights.safetensors"), where="file")
    assert hash_module(target) == hash_module(source) != hash_module(zeroed())


def test_what_does_not_fit_is_named_key_by_key():
    state = make_network().state_dict()
    del state["0.bias"]
    state["3.weight"] = torch.zeros(2)
    state["2.weight"] = torch.zeros(5, 4)
    with pytest.raises(ModelError) as caught:
        load_state(zeroed(), state, where="mine.pth")
    message = str(caught.value)
    assert message.startswith("mine.pth: does not fit Sequential")
    assert "missing keys: '0.bias'" in message
    assert "unexpected keys: '3.weight'" in message
    assert "2.weight is (5, 4), expected (2, 4)" in message


def test_a_failed_load_leaves_the_network_as_it_was():
    target = make_network()
    before = hash_module(target)
    with pytest.raises(ModelError):
        load_state(target, {"0.weight": torch.zeros(4, 3, 3, 3)}, where="half.pth")
    assert hash_module(target) == before


class Bomb:
    def __reduce__(self):
        return (open, ("exploded", "w"))


def test_a_pickle_that_runs_something_is_refused_and_not_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torch.save({"state_dict": Bomb()}, "bomb.pth")
    (tmp_path / "plain.pth").write_bytes(pickle.dumps(Bomb()))
    for name in ("bomb.pth", "plain.pth"):
        with pytest.raises(ModelError, match=rf"{name}: holds more than tensors.*not loaded"):
            read_state(name)
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize("name", ["cut.pth", "cut.safetensors", "empty.pth"])
def test_a_file_that_is_not_whole_is_refused(tmp_path, name):
    pytest.importorskip("safetensors")
    torch.save(make_network().state_dict(), tmp_path / "whole.pth")
    content = b"" if name == "empty.pth" else (tmp_path / "whole.pth").read_bytes()[:500]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ModelError, match=name):
        read_state(tmp_path / name)


def test_a_file_without_tensors_is_refused(tmp_path):
    torch.save({"epoch": 3, "names": ["a"]}, tmp_path / "notes.pth")
    with pytest.raises(ModelError, match="holds no named tensors"):
        read_state(tmp_path / "notes.pth")


def test_a_missing_file_is_said_with_what_may_stand_there(tmp_path):
    with pytest.raises(FileError, match=r"no such file of weights.*hub, package, random"):
        read_state(tmp_path / "none.pth")


def test_random_weights_are_the_same_each_time_and_leave_the_generator_alone():
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    one, other = make_network(), make_network()
    assert hash_module(one) == hash_module(other)
    assert torch.equal(torch.rand(3), expected)

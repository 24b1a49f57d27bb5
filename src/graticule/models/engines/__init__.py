"""What computes a network, one file an engine; each is a function ``(network, settings) -> Engine``."""

ENGINES: dict[str, str] = {
    "eager": "graticule.models.engines.eager:load_eager",
    "compiled": "graticule.models.engines.compiled:load_compiled",
    "onnxruntime": "graticule.models.engines.onnxruntime:load_onnxruntime",
    "openvino": "graticule.models.engines.openvino:load_openvino",
}
"""Name → the function."""

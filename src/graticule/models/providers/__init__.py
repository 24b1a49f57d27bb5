"""Where models come from, one file a provider; each is a function ``(name, *, weights) -> Network``."""

PROVIDERS: dict[str, str] = {
    "timm": "graticule.models.providers.timm:load_timm",
    "open_clip": "graticule.models.providers.open_clip:load_open_clip",
    "torchvision": "graticule.models.providers.torchvision:load_torchvision",
    "hf": "graticule.models.providers.hf:load_hf",
    "onnx": "graticule.models.providers.onnx:load_onnx",
    "callable": "graticule.models.providers.callable:load_callable",
}
"""What stands before the slash → the function; ``callable`` is what ``module:function`` means."""

"""Pillow's own copy of libtiff, told not to write to standard error.

A damaged TIFF makes libtiff print lines such as ``TIFFFillStrip: Read error on strip 0`` between the lines of a
progress bar, straight from C, and Pillow offers no switch. What is wrong comes back as an exception anyway. Only the
copy inside Pillow's wheel is touched; where Pillow uses the system's libtiff, the lines stay.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

import PIL


def silence_libtiff() -> bool:
    """Take away the handlers that print, and return whether there was a copy of libtiff to do this to."""
    package = Path(PIL.__file__).parent
    copies = [*package.parent.glob("[Pp]illow.libs/libtiff*.so*"), *package.glob(".dylibs/libtiff*.dylib")]
    for copy in copies:
        try:
            library = ctypes.CDLL(str(copy))
            for name in ("TIFFSetErrorHandler", "TIFFSetWarningHandler"):
                handler = getattr(library, name)
                handler.argtypes, handler.restype = [ctypes.c_void_p], ctypes.c_void_p
                handler(None)
        except (OSError, AttributeError):
            return False
    return bool(copies)

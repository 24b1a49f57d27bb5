"""Bytes → a picture that a model can take: RGB, upright, and decoded safely.

Everything that is wrong with a file ends in an `ImageError` with a reason; nothing warns and nothing crashes. A
decompression bomb is refused from its header, before a pixel is decoded. Of an animation the first frame is taken, of a
document the first page. Safe to call from several threads.
"""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock

from PIL import Image, UnidentifiedImageError

from graticule.data.colours import to_rgb
from graticule.data.exif import ExifFacts, find_exif, parse_exif
from graticule.data.jpeg_header import read_jpeg_header
from graticule.data.libtiff import silence_libtiff
from graticule.data.sniff import HEIF_BRANDS, SNIFF_BYTES, name_content
from graticule.data.sources import read_file
from graticule.errors import ImageError

MAX_PIXELS = 178_956_970
"""Pixels above which a picture is refused: the limit at which Pillow itself raises (half a GiB in RGB)."""

TRUSTED_PIXELS = 89_478_485
"""Above this (where Pillow warns) a picture is decoded only if its file is long enough to be a photo of that size."""

LEAST_BYTES_PER_PIXEL = 1 / 64
"""A photo takes more than this even at JPEG's lowest quality; a bomb takes far less."""

MAX_SCAN_PIXELS = 10_000_000_000
"""Pixels × progressive scans of a JPEG above which it is refused: each scan walks over the whole picture again."""

FORMATS = (
    *("JPEG", "PNG", "WEBP", "GIF", "TIFF", "MPO", "BMP", "DIB", "HEIF", "AVIF", "JPEG2000", "ICO", "ICNS", "PPM"),
    *("PSD", "QOI", "TGA", "PCX", "DCX", "SGI", "SUN", "MSP", "XBM", "XPM", "DDS", "CUR", "FLI", "PCD"),
)
"""Formats that are tried. Left out: those that call another program (EPS, WMF) and scientific or video containers."""

ORIENTATION_TAG = 0x0112
TRANSPOSITIONS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""EXIF orientation → what brings the picture upright (EXIF 2.32, tag 0x0112)."""
TURNED = (5, 6, 7, 8)
"""Orientations that swap width and height."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFacts:
    """What a picture's header and EXIF say."""

    width: int
    """Pixels, as shown: after EXIF orientation."""
    height: int
    format: str
    mode: str
    exif: ExifFacts


def open_image(
    source: str | Path | bytes, *, min_side: int | None = None, grey: bool = False, max_pixels: int = MAX_PIXELS
) -> Image.Image:
    """Return the picture as 8-bit RGB, or grey, upright.

    Parameters
    ----------
    source
        The file's bytes, or its path.
    min_side
        A hint that the picture will be made smaller: a JPEG may be decoded at 1/2, 1/4 or 1/8 of its size as long as
        its shorter side keeps at least this many pixels. None decodes in full. See Notes on what to pass.
    grey
        Whether to return the lightness alone; of a JPEG the colours are then not even decoded.
    max_pixels
        Pictures with more are refused.

    Raises
    ------
    ImageError
        The bytes are no picture that can be decoded safely; the message says why.
    FileError
        The path cannot be read.

    Notes
    -----
    A reduced JPEG is averaged over blocks in the frequency domain, which is a good low-pass filter; what follows
    (bicubic or bilinear resizing with antialiasing) then has less to remove. Measured on photos of 86 cameras brought
    to 224 × 224 by bicubic resizing: with ``min_side = 224`` a pixel moves by 0.9 of 255 on average (3.7 in the worst
    photo), with ``336`` by 0.5 (1.0), with ``448`` by 0.15 (0.5). Callers whose numbers must not move pass at least
    one and a half times the side they resize to.

    Examples
    --------
    >>> buffer = io.BytesIO()
    >>> Image.new("L", (640, 480), 128).save(buffer, "JPEG")
    >>> open_image(buffer.getvalue(), min_side=200).size
    (320, 240)
    """
    data = source if isinstance(source, bytes) else read_file(Path(source))
    with quiet_decoding(), _reasons(data), _open(data, max_pixels=max_pixels) as image:
        _reduce(image, min_side, mode="L" if grey else None)
        image.load()
        upright = _upright(image)
        if grey and upright.mode == "L" and "transparency" not in upright.info:
            return upright
        colours = to_rgb(upright)
        return colours.convert("L") if grey else colours


def measure_image(source: str | Path | bytes, *, verify: bool = True, max_pixels: int = MAX_PIXELS) -> ImageFacts:
    """Return what a picture's header says, after checking that the picture can be decoded.

    Parameters
    ----------
    source
        The file's bytes, or its path.
    verify
        Decode to the end, so that a truncated file is found now. JPEGs are walked through at an eighth of their size,
        which finds the same faults at a fraction of the cost. False reads the header only.
    max_pixels
        Pictures with more are refused.

    Raises
    ------
    ImageError
        The bytes are no picture that can be decoded safely; the message says why.
    FileError
        The path cannot be read.
    """
    data = source if isinstance(source, bytes) else read_file(Path(source))
    header = None if verify else read_jpeg_header(data)
    if header is not None and header.width * header.height <= min(max_pixels, TRUSTED_PIXELS):
        exif = parse_exif(header.exif)
        size = (header.width, header.height) if exif.orientation not in TURNED else (header.height, header.width)
        return ImageFacts(width=size[0], height=size[1], format="JPEG", mode=header.mode, exif=exif)
    with quiet_decoding(), _reasons(data), _open(data, max_pixels=max_pixels) as image:
        width, height = image.size
        form, mode = image.format or "", image.mode
        if verify:
            _reduce(image, 1)
            image.load()
        block = find_exif(image.info, data if form == "TIFF" else b"")
        if form != "TIFF" and _orientation(image) in TURNED:
            width, height = height, width
    return ImageFacts(width=width, height=height, format=form, mode=mode, exif=parse_exif(block))


def _open(data: bytes, *, max_pixels: int) -> Image.Image:
    image = Image.open(io.BytesIO(data), formats=_known_formats())
    width, height = image.size
    pixels = width * height
    if pixels > max_pixels:
        raise ImageError(
            f"a decompression bomb or too large: its header claims {width} × {height} pixels, at most {max_pixels} are "
            "decoded; make it smaller first"
        )
    if pixels > TRUSTED_PIXELS and len(data) < pixels * LEAST_BYTES_PER_PIXEL:
        raise ImageError(
            f"a decompression bomb: its header claims {width} × {height} pixels, which {len(data)} bytes cannot "
            "hold as a photo"
        )
    if image.info.get("progressive") and pixels * data.count(b"\xff\xda") > MAX_SCAN_PIXELS:
        raise ImageError(
            f"a decompression bomb: {data.count(bytes([255, 218]))} progressive scans over {width} × {height} pixels; "
            "save it again as a baseline JPEG"
        )
    return image


def _reduce(image: Image.Image, min_side: int | None, mode: str | None = None) -> None:
    """Have a JPEG decoded at a reduced scale whose shorter side keeps at least ``min_side`` pixels."""
    if image.format in ("JPEG", "MPO") and (mode is not None or (min_side is not None and min_side > 0)):
        size = (min_side, min_side) if min_side else None
        image.draft(mode, size)  # pyright: ignore[reportArgumentType]  # None keeps the mode, or the size


def _upright(image: Image.Image) -> Image.Image:
    method = TRANSPOSITIONS.get(_orientation(image))
    return image if method is None else image.transpose(method)


def _orientation(image: Image.Image) -> int:
    try:
        found = image.getexif().get(ORIENTATION_TAG, 1)
    except Exception:  # noqa: BLE001  # broken EXIF raises almost anything, and then says nothing of orientation
        return 1
    return found if isinstance(found, int) else 1


@cache
def _known_formats() -> tuple[str, ...]:
    """Return the formats that this installation reads, in the order in which they are tried."""
    try:
        from pillow_heif import register_heif_opener
    except ImportError:
        pass
    else:
        register_heif_opener()
    Image.init()
    silence_libtiff()
    logging.getLogger("PIL").addHandler(logging.NullHandler())  # else its errors go to standard error as they are
    return tuple(name for name in FORMATS if name in Image.OPEN)


@contextmanager
def _reasons(data: bytes) -> Generator[None]:
    """Turn whatever Pillow raises into an `ImageError` with a reason."""
    try:
        yield
    except ImageError:
        raise
    except UnidentifiedImageError as error:
        raise ImageError(_name(data)) from error
    except Image.DecompressionBombError as error:
        raise ImageError(
            f"a decompression bomb: its header claims more than {MAX_PIXELS} pixels; make it smaller first"
        ) from error
    except Exception as error:  # decoders raise almost anything on broken bytes
        raise ImageError(_describe(error)) from error


def _name(data: bytes) -> str:
    is_heif = data[4:8] == b"ftyp" and data[8:12] in HEIF_BRANDS
    if is_heif and "HEIF" not in _known_formats():
        return "a HEIC photo, which needs the package 'pillow-heif': pip install 'graticule[heif]'"
    return name_content(data[:SNIFF_BYTES])


def _describe(error: Exception) -> str:
    text = " ".join(str(error).split())[:200] or type(error).__name__
    if "truncated" in text.lower():
        return f"a truncated image: the file ends before the picture does ({text}); copy or download it again"
    if isinstance(error, MemoryError):
        return "too large to decode in the memory that is there; make it smaller first"
    return f"a damaged image ({text}); copy or download it again"


class _Quiet:
    """How many threads are decoding now, and the filters to restore when the last one ends."""

    lock = Lock()
    n_threads = 0
    filters = warnings.catch_warnings()


@contextmanager
def quiet_decoding() -> Generator[None]:
    """Silence the warnings of Pillow and of pillow-heif while any thread decodes, and no other warnings.

    `open_image` and `measure_image` enter it themselves; a caller with many images to read saves a little by entering
    it once around them. `warnings.catch_warnings` alone is not safe across threads: here the first thread to enter
    sets the filter, and the last one to leave takes it away.
    """
    with _Quiet.lock:
        if _Quiet.n_threads == 0:
            _Quiet.filters = warnings.catch_warnings()
            _Quiet.filters.__enter__()
            warnings.filterwarnings("ignore", module=r"(PIL|pillow_heif)\b")
        _Quiet.n_threads += 1
    try:
        yield
    finally:
        with _Quiet.lock:
            _Quiet.n_threads -= 1
            if _Quiet.n_threads == 0:
                _Quiet.filters.__exit__(None, None, None)

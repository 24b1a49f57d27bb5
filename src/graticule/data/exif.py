"""EXIF bytes → where and when a photo was taken; whatever is broken in them gives None and a note, never an error.

Written for the two facts that an audit by place needs, and for files as cameras, phones and editors really leave them:
zero denominators, missing hemispheres, offsets beyond the end, loops.

Documented choices: a position without its hemisphere (N or S, E or W) is dropped, for half of them would be wrong;
exactly 0° N 0° E is what a receiver without a fix writes, and is dropped; a time without an offset from UTC takes its
offset from the GPS time where there is one, and else counts as UTC (up to 14 hours off; the date serves most uses).
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

ORIENTATION = 0x0112
EXIF_POINTER, GPS_POINTER = 0x8769, 0x8825
ORIGINAL_AT, DIGITIZED_AT = 0x9003, 0x9004
ORIGINAL_OFFSET, DIGITIZED_OFFSET = 0x9011, 0x9012
LATITUDE_REF, LATITUDE, LONGITUDE_REF, LONGITUDE = 1, 2, 3, 4
GPS_TIME, GPS_DATE = 7, 29
MAX_ENTRIES = 1000
"""Entries of a directory that are read; a directory that claims more is broken."""
MAX_VALUES = 4096
MAX_OFFSET = timedelta(hours=14)
"""The largest distance of a zone's time from UTC."""

FORMATS: dict[int, str] = {3: "H", 4: "I", 8: "h", 9: "i", 11: "f", 12: "d"}
SIZES: dict[int, int] = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 129: 1}
"""TIFF field type → bytes per value (TIFF 6.0, section 2; 129 is EXIF 3.0's UTF-8)."""

Values = tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExifFacts:
    """Where and when a photo was taken, as far as its EXIF says."""

    latitude: float | None = None
    """Degrees north."""
    longitude: float | None = None
    """Degrees east."""
    captured_at: datetime | None = None
    """UTC."""
    orientation: int = 1
    """How the camera was held: 1 to 8, 1 is upright."""
    note: str = ""
    """Why a position that stands in the EXIF was not taken; empty where nothing was wrong."""


def find_exif(info: Mapping[str | tuple[int, int], object], tiff: bytes = b"") -> bytes:
    """Return the EXIF bytes of an opened picture, empty where there are none.

    Parameters
    ----------
    info
        What Pillow found beside the pixels.
    tiff
        For a TIFF, the file itself, which is its own EXIF.
    """
    if tiff:
        return tiff
    block = info.get("exif")
    if isinstance(block, bytes):
        return block
    text = info.get("Raw profile type exif") or info.get("Raw profile type APP1")
    if isinstance(text, str):
        try:
            return bytes.fromhex("".join(text.split()[2:]))
        except ValueError:
            return b""
    return b""


def parse_exif(block: bytes) -> ExifFacts:
    """Return where and when a photo was taken, from its EXIF bytes (with or without the leading ``Exif\\0\\0``).

    Examples
    --------
    >>> parse_exif(b"").captured_at is None
    True
    """
    if block.startswith(b"Exif\x00\x00"):
        block = block[6:]
    order = {b"II*\x00": "<", b"MM\x00*": ">"}.get(block[:4])
    if order is None or len(block) < 8:
        return ExifFacts()
    top = _read_directory(block, _at(block, order + "I", 4), order=order)
    shot = _read_directory(block, _pointer(top, EXIF_POINTER), order=order)
    gps = _read_directory(block, _pointer(top, GPS_POINTER), order=order)
    latitude, longitude, note = _read_position(gps)
    return ExifFacts(
        latitude=latitude,
        longitude=longitude,
        captured_at=_read_time(shot, gps),
        orientation=_pointer(top, ORIENTATION) or 1,
        note=note,
    )


def _at(block: bytes, form: str, offset: int) -> int:
    return struct.unpack_from(form, block, offset)[0]


def _pointer(directory: Mapping[int, Values | str], tag: int) -> int:
    """Return a tag's first number; 0 if there is none."""
    value = directory.get(tag)
    return int(value[0]) if isinstance(value, tuple) and value and math.isfinite(value[0]) else 0


def _read_directory(block: bytes, offset: int, *, order: str) -> dict[int, Values | str]:
    """Return tag → numbers or text of one directory; entries that point outside the block are left out."""
    found: dict[int, Values | str] = {}
    if not 8 <= offset <= len(block) - 2:
        return found
    n_entries = min(_at(block, order + "H", offset), MAX_ENTRIES, (len(block) - offset - 2) // 12)
    for place in range(offset + 2, offset + 2 + 12 * n_entries, 12):
        tag, kind, count = struct.unpack_from(order + "HHI", block, place)
        size = SIZES.get(kind, 0) * count
        if size == 0 or count > MAX_VALUES:
            continue
        start = place + 8 if size <= 4 else _at(block, order + "I", place + 8)
        if start + size <= len(block) and tag not in found:
            found[tag] = _read_values(block, start, kind=kind, count=count, order=order)
    return found


def _read_values(block: bytes, start: int, *, kind: int, count: int, order: str) -> Values | str:
    if kind in (1, 2, 6, 7, 129):
        return block[start : start + count].split(b"\x00", 1)[0].decode("utf-8", "replace").strip()
    if kind in (5, 10):
        pairs = struct.unpack_from(f"{order}{2 * count}{'I' if kind == 5 else 'i'}", block, start)
        return tuple(_divide(pairs[2 * i], pairs[2 * i + 1]) for i in range(count))
    return tuple(float(value) for value in struct.unpack_from(f"{order}{count}{FORMATS[kind]}", block, start))


def _divide(numerator: int, denominator: int) -> float:
    return numerator / denominator if denominator else math.nan


def _read_position(gps: Mapping[int, Values | str]) -> tuple[float | None, float | None, str]:
    if LATITUDE not in gps and LONGITUDE not in gps:
        return None, None, ""
    latitude, wrong = _read_degrees(gps.get(LATITUDE), gps.get(LATITUDE_REF), hemispheres="NS", limit=90)
    if wrong:
        return None, None, f"latitude {wrong}"
    longitude, wrong = _read_degrees(gps.get(LONGITUDE), gps.get(LONGITUDE_REF), hemispheres="EW", limit=180)
    if wrong:
        return None, None, f"longitude {wrong}"
    if latitude == 0 and longitude == 0:
        return None, None, "the position is exactly 0° N 0° E, which a receiver without a fix writes"
    return latitude, longitude, ""


def _read_degrees(
    value: Values | str | None, ref: Values | str | None, *, hemispheres: str, limit: float
) -> tuple[float, str]:
    """Return signed degrees, and what is wrong with them (empty if nothing)."""
    if not isinstance(value, tuple) or not value:
        return math.nan, "is missing or is no number"
    parts = (*value[:3], 0.0, 0.0)
    degrees, minutes, seconds = parts[0], *(0.0 if math.isnan(part) else part for part in parts[1:3])
    if not math.isfinite(degrees):
        return math.nan, "has a zero denominator"
    if not (0 <= minutes < 60 and 0 <= seconds <= 60):
        return math.nan, f"has {minutes:g} minutes and {seconds:g} seconds"
    size = abs(degrees) + minutes / 60 + seconds / 3600
    if size > limit:
        return math.nan, f"is {size:g}, beyond {limit:g} degrees"
    letter = ref[:1].upper() if isinstance(ref, str) else ""
    if letter not in tuple(hemispheres):
        return math.nan, f"has no hemisphere ({hemispheres[0]} or {hemispheres[1]})"
    return (-size if letter == hemispheres[1] or degrees < 0 else size), ""


def _read_time(shot: Mapping[int, Values | str], gps: Mapping[int, Values | str]) -> datetime | None:
    fix = _read_gps_time(gps)
    for tag, offset_tag in ((ORIGINAL_AT, ORIGINAL_OFFSET), (DIGITIZED_AT, DIGITIZED_OFFSET)):
        local = _parse_time(shot.get(tag))
        if local is None:
            continue
        offset = _parse_offset(shot.get(offset_tag))
        if offset is None and fix is not None and abs(local - fix) <= MAX_OFFSET:
            quarters = round((local - fix) / timedelta(minutes=15))
            offset = quarters * timedelta(minutes=15)
        try:
            return (local - (offset or timedelta())).replace(tzinfo=UTC)
        except OverflowError:
            return None
    return fix.replace(tzinfo=UTC) if fix is not None else None


def _read_gps_time(gps: Mapping[int, Values | str]) -> datetime | None:
    """Return the UTC time of the fix, without a zone."""
    date, clock = gps.get(GPS_DATE), gps.get(GPS_TIME)
    if not isinstance(date, str) or not isinstance(clock, tuple) or len(clock) < 3:
        return None
    day = _parse_time(date + " 00:00:00")
    seconds = clock[0] * 3600 + clock[1] * 60 + clock[2]
    if day is None or not 0 <= seconds < 86401:
        return None
    return day + timedelta(seconds=round(seconds, 3)) if day.year < 9999 else None


def _parse_time(text: Values | str | None) -> datetime | None:
    if not isinstance(text, str):
        return None
    match = re.match(r"\s*(\d{4})[:/.-](\d{1,2})[:/.-](\d{1,2})[ T]+(\d{1,2}):(\d{1,2})(?::(\d{1,2}))?", text)
    if match is None:
        return None
    try:
        year, month, day, hour, minute, second = (int(part or 0) for part in match.groups())
        return datetime(year, month, day, hour, minute, second)
    except ValueError:
        return None


def _parse_offset(text: Values | str | None) -> timedelta | None:
    if not isinstance(text, str):
        return None
    if text.strip().upper() == "Z":
        return timedelta()
    match = re.fullmatch(r"\s*([+-])(\d{1,2}):?(\d{2})\s*", text)
    if match is None:
        return None
    offset = timedelta(hours=int(match[2]), minutes=int(match[3]))
    if offset > MAX_OFFSET:
        return None
    return -offset if match[1] == "-" else offset

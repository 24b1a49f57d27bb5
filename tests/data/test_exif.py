"""Where and when, from EXIF as cameras and broken software write it."""

from __future__ import annotations

import csv
import io
import struct
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, PngImagePlugin

from graticule.data.decode import measure_image
from graticule.data.exif import ExifFacts, find_exif, parse_exif
from graticule.errors import ImageError

GPS_TYPES = {1: 2, 2: 5, 3: 2, 4: 5, 7: 5, 29: 2}


def make_exif(gps: dict[int, object] | None = None, shot: dict[int, str] | None = None, *, order: str = "<") -> bytes:
    """Return EXIF bytes with a GPS and an Exif directory; rationals are lists of (numerator, denominator)."""
    body = bytearray(b"II*\x00" if order == "<" else b"MM\x00*")
    body += struct.pack(order + "I", 8)
    tables = [(0x8769, shot or {}), (0x8825, gps or {})]
    top_size = 2 + 12 * len(tables) + 4
    blocks, offset = [], 8 + top_size
    top = struct.pack(order + "H", len(tables))
    for pointer, table in tables:
        block = encode_directory(table, offset, order)
        top += struct.pack(order + "HHII", pointer, 4, 1, offset)
        blocks.append(block)
        offset += len(block)
    return b"Exif\x00\x00" + bytes(body) + top + b"\x00" * 4 + b"".join(blocks)


def encode_directory(table: dict[int, object], offset: int, order: str) -> bytes:
    entries, extra = b"", b""
    extra_at = offset + 2 + 12 * len(table) + 4
    for tag, value in table.items():
        if isinstance(value, str):
            kind, data = 2, value.encode() + b"\x00"
            count = len(data)
        else:
            kind, count = 5, len(value)
            data = b"".join(struct.pack(order + "II", *pair) for pair in value)
        if len(data) <= 4:
            place = data.ljust(4, b"\x00")
        else:
            place = struct.pack(order + "I", extra_at + len(extra))
            extra += data
        entries += struct.pack(order + "HHI", tag, kind, count) + place
    return struct.pack(order + "H", len(table)) + entries + b"\x00" * 4 + extra


def position(latitude, longitude, refs=("N", "E"), **more) -> ExifFacts:
    gps = {1: refs[0], 2: latitude, 3: refs[1], 4: longitude, **more}
    return parse_exif(make_exif({tag: value for tag, value in gps.items() if value is not None}))


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_position_in_degrees_minutes_and_seconds(order):
    gps = {1: "S", 2: [(33, 1), (51, 1), (3612, 100)], 3: "E", 4: [(151, 1), (12, 1), (4032, 100)]}
    found = parse_exif(make_exif(gps, order=order))
    assert (found.latitude, found.longitude) == pytest.approx((-33.8600333, 151.2112))
    assert found.note == ""


def test_signs_follow_the_hemispheres_in_either_case():
    ten = [(10, 1), (0, 1), (0, 1)]
    assert (position(ten, ten, ("s", "w")).latitude, position(ten, ten, ("s", "w")).longitude) == (-10, -10)
    assert position(ten, ten, ("North", "East")).latitude == 10


def test_degrees_alone_and_decimal_minutes_count():
    assert position([(105, 10)], [(20, 1)]).latitude == 10.5
    assert position([(10, 1), (305, 10), (0, 1)], [(20, 1)]).latitude == pytest.approx(10.508333)


def test_zero_denominators_of_minutes_are_zero_and_of_degrees_are_no_position():
    assert position([(10, 1), (30, 1), (0, 0)], [(20, 1)]).latitude == 10.5
    found = position([(0, 0), (0, 0), (0, 0)], [(20, 1)])
    assert found.latitude is None
    assert "zero denominator" in found.note


@pytest.mark.parametrize(
    ("latitude", "longitude", "refs", "note"),
    [
        ([(10, 1)], [(20, 1)], (None, "E"), "no hemisphere"),
        ([(10, 1)], [(20, 1)], ("N", "Q"), "no hemisphere"),
        ([(91, 1)], [(20, 1)], ("N", "E"), "beyond 90"),
        ([(10, 1)], [(181, 1)], ("N", "E"), "beyond 180"),
        ([(10, 1), (75, 1)], [(20, 1)], ("N", "E"), "75 minutes"),
        ([(10, 1)], None, ("N", "E"), "longitude is missing"),
        (None, [(10, 1)], ("N", "E"), "latitude is missing"),
        ([(0, 1)], [(0, 1)], ("N", "E"), "without a fix"),
        ("48.8", [(10, 1)], ("N", "E"), "no number"),
    ],
)
def test_a_position_that_cannot_be_trusted_is_dropped_with_a_note(latitude, longitude, refs, note):
    found = position(latitude, longitude, refs)
    assert found.latitude is None
    assert found.longitude is None
    assert note in found.note


def test_the_poles_and_the_date_line_are_places():
    assert position([(90, 1)], [(180, 1)], ("S", "W")).latitude == -90
    assert position([(90, 1)], [(180, 1)], ("S", "W")).longitude == -180


def test_times_come_out_in_utc():
    at = parse_exif(make_exif(shot={0x9003: "2018:05:03 14:30:05", 0x9011: "+09:00"})).captured_at
    assert at == datetime(2018, 5, 3, 5, 30, 5, tzinfo=UTC)
    naive = parse_exif(make_exif(shot={0x9003: "2018:05:03 14:30:05"})).captured_at
    assert naive == datetime(2018, 5, 3, 14, 30, 5, tzinfo=UTC)
    digitized = parse_exif(make_exif(shot={0x9004: "2018-05-03T14:30:05"})).captured_at
    assert digitized == naive


def test_a_time_without_offset_takes_it_from_the_gps_time():
    gps = {29: "2018:05:03", 7: [(5, 1), (30, 1), (0, 1)]}
    shot = {0x9003: "2018:05:03 14:30:05"}
    assert parse_exif(make_exif(gps, shot)).captured_at == datetime(2018, 5, 3, 5, 30, 5, tzinfo=UTC)
    assert parse_exif(make_exif(gps)).captured_at == datetime(2018, 5, 3, 5, 30, tzinfo=UTC)
    stale = {29: "2017:01:01", 7: [(5, 1), (30, 1), (0, 1)]}
    assert parse_exif(make_exif(stale, shot)).captured_at == datetime(2018, 5, 3, 14, 30, 5, tzinfo=UTC)


@pytest.mark.parametrize("text", ["0000:00:00 00:00:00", "", "    :  :     :  :  ", "2018:13:03 14:30:05", "yesterday"])
def test_times_that_are_none_are_none(text):
    assert parse_exif(make_exif(shot={0x9003: text})).captured_at is None


def test_exif_is_found_in_every_format_that_carries_it():
    gps = {1: "N", 2: (10.0, 30.0, 0.0), 3: "W", 4: (20.0, 0.0, 0.0)}
    exif = Image.Exif()
    exif.get_ifd(0x8825).update(gps)
    block = exif.tobytes()
    for form in ("JPEG", "PNG", "WEBP", "AVIF"):
        buffer = io.BytesIO()
        Image.new("RGB", (16, 16)).save(buffer, form, exif=block)
        found = measure_image(buffer.getvalue()).exif
        assert (found.latitude, found.longitude) == (10.5, -20), form
    assert parse_exif(find_exif({}, tiff=block[6:])).latitude == 10.5  # a TIFF is its own EXIF
    text = PngImagePlugin.PngInfo()
    text.add_text("Raw profile type exif", f"\nexif\n    {len(block)}\n{block.hex()}\n")
    buffer = io.BytesIO()
    Image.new("RGB", (16, 16)).save(buffer, "PNG", pnginfo=text)
    assert measure_image(buffer.getvalue()).exif.latitude == 10.5
    assert find_exif({"Raw profile type exif": "\nexif\n 3\nzz"}) == b""


@given(st.binary(max_size=300), st.sampled_from([b"", b"II*\x00\x08\x00\x00\x00", b"MM\x00*\x00\x00\x00\x08"]))
def test_any_bytes_give_facts_and_never_an_error(data, start):
    found = parse_exif(b"Exif\x00\x00" + start + data)
    assert found.latitude is None or -90 <= found.latitude <= 90


@given(st.data())
def test_damaged_exif_gives_facts_and_never_an_error(data):
    block = bytearray(
        make_exif(
            {1: "N", 2: [(10, 1), (20, 1), (30, 1)], 3: "E", 4: [(10, 1)], 7: [(1, 1)] * 3, 29: "2018:05:03"},
            {0x9003: "2018:05:03 14:30:05", 0x9011: "+09:00"},
        )
    )
    for _ in range(data.draw(st.integers(1, 6))):
        block[data.draw(st.integers(0, len(block) - 1))] = data.draw(st.integers(0, 255))
    found = parse_exif(bytes(block))
    assert found.longitude is None or -180 <= found.longitude <= 180


def test_positions_of_real_photos_are_those_of_their_index(shared):
    folder = shared("images/geotagged")
    with (folder / "index.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    n_read = 0
    for row in rows:
        try:
            found = measure_image(folder / row["file"]).exif
        except ImageError:  # one of them is cut off in the middle
            continue
        n_read += 1
        assert found.latitude == pytest.approx(float(row["lat"]), abs=1e-4), row["file"]
        assert found.longitude == pytest.approx(float(row["lon"]), abs=1e-4), row["file"]
    assert n_read >= len(rows) - 1

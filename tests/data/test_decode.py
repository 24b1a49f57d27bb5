"""Safe decoding: colours, orientation, bombs, and reasons; on made images, and on real odd ones."""

from __future__ import annotations

import io
import struct
import threading
import warnings
import zlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from graticule.data.decode import MAX_PIXELS, measure_image, open_image
from graticule.errors import FileError, ImageError


def encode(image: Image.Image, form: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


def corners() -> Image.Image:
    """A picture whose four corners differ, wider than high."""
    pixels = np.zeros((40, 60, 3), np.uint8)
    pixels[:20, :30], pixels[:20, 30:], pixels[20:, :30] = (255, 0, 0), (0, 255, 0), (0, 0, 255)
    return Image.fromarray(pixels)


def png_header(width: int, height: int, *, data: bytes = b"") -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "TIFF", "AVIF"])
def test_every_orientation_comes_out_upright_and_measured_as_shown(form, orientation):
    back = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }
    held = corners().transpose(back[orientation]) if orientation > 1 else corners()
    exif = Image.Exif()
    exif[0x0112] = orientation
    data = encode(held, form, exif=exif.tobytes() if form != "TIFF" else exif)
    shown = open_image(data)
    assert shown.size == (60, 40)
    assert np.abs(np.asarray(shown, int) - np.asarray(corners(), int))[5:15, 5:25].max() < 30
    for verify in (True, False):
        facts = measure_image(data, verify=verify)
        assert (facts.width, facts.height, facts.format) == (60, 40, form)


def test_orientation_that_is_no_number_or_out_of_range_is_passed_over():
    exif = Image.Exif()
    exif[0x0112] = 99
    assert open_image(encode(corners(), "JPEG", exif=exif.tobytes())).size == (60, 40)


def test_sixteen_bit_greys_are_scaled_and_not_clipped():
    ramp = np.linspace(0, 65535, 256).astype(np.uint16).reshape(16, 16)
    for form in ("PNG", "TIFF"):
        shown = np.asarray(open_image(encode(Image.fromarray(ramp), form)))
        assert shown.shape == (16, 16, 3)
        assert np.array_equal(shown[..., 0].ravel(), np.arange(256))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.array([[0.0, 0.5, 1.0]], np.float32), [0, 128, 255]),
        (np.array([[0.0, 100.0, 255.0]], np.float32), [0, 100, 255]),
        (np.array([[0.0, 32767.5, 65535.0]], np.float32), [0, 128, 255]),
        (np.array([[-100.0, 0.0, 100.0]], np.float32), [0, 128, 255]),
        (np.array([[np.nan, 0.5, np.inf]], np.float32), [0, 128, 255]),
        (np.array([[7.0, 7.0, 7.0]], np.float32), [7, 7, 7]),
        (np.array([[0, 100, 200]], np.int32), [0, 100, 200]),
        (np.array([[0, 0, 100000]], np.int32), [0, 0, 255]),
    ],
)
def test_floats_and_wide_integers_follow_the_documented_scale(values, expected):
    shown = np.asarray(open_image(encode(Image.fromarray(values), "TIFF")))
    assert np.abs(shown[0, :, 0].astype(int) - expected).max() <= 1


def test_alpha_and_transparent_colours_are_laid_on_white():
    clear = Image.new("RGBA", (4, 4), (255, 0, 0, 0))
    half = Image.new("RGBA", (4, 4), (0, 0, 0, 128))
    palette = Image.new("P", (4, 4), 1)
    palette.putpalette([0, 0, 0, 10, 20, 30])
    assert np.asarray(open_image(encode(clear, "PNG"))).min() == 255
    assert abs(int(np.asarray(open_image(encode(half, "WEBP", lossless=True)))[0, 0, 0]) - 127) <= 1
    assert np.asarray(open_image(encode(palette, "PNG", transparency=1))).min() == 255
    assert np.asarray(open_image(encode(palette, "PNG")))[0, 0].tolist() == [10, 20, 30]
    assert (
        np.asarray(open_image(encode(Image.new("RGB", (4, 4), (9, 9, 9)), "PNG", transparency=(9, 9, 9)))).min() == 255
    )
    assert np.asarray(open_image(encode(Image.new("LA", (4, 4), (0, 0)), "PNG"))).min() == 255
    sixteen = Image.fromarray(np.full((4, 4), 500, np.uint16))
    assert np.asarray(open_image(encode(sixteen, "PNG", transparency=500))).min() == 255


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "CMYK", "YCbCr", "LAB"])
def test_every_mode_becomes_rgb(mode):
    image = Image.new("L", (8, 8), 255).convert("RGB")
    image = Image.new("LAB", (8, 8), (255, 128, 128)) if mode == "LAB" else image.convert(mode)
    shown = open_image(encode(image, "TIFF"))
    assert shown.mode == "RGB"
    assert np.asarray(shown).min() > 240


def test_cmyk_jpegs_keep_their_colours():
    red = encode(Image.new("RGB", (32, 32), (220, 30, 30)).convert("CMYK"), "JPEG")
    shown = np.asarray(open_image(red)).reshape(-1, 3).mean(axis=0)
    assert shown[0] > 180
    assert shown[1:].max() < 80


def test_the_first_frame_of_an_animation_is_taken():
    frames = [Image.new("RGB", (8, 8), colour) for colour in ((255, 0, 0), (0, 255, 0))]
    for form in ("GIF", "WEBP", "PNG", "TIFF", "AVIF"):
        data = encode(frames[0], form, save_all=True, append_images=frames[1:])
        assert np.asarray(open_image(data))[4, 4].tolist() == pytest.approx([255, 0, 0], abs=12), form


def test_a_reduced_jpeg_keeps_at_least_the_side_asked_for():
    data = encode(Image.new("RGB", (1601, 1201), (10, 200, 30)), "JPEG")
    assert open_image(data, min_side=224).size == (401, 301)
    assert open_image(data, min_side=301).size == (801, 601)
    assert open_image(data, min_side=1201).size == (1601, 1201)
    assert open_image(data, min_side=5000).size == (1601, 1201)
    assert open_image(data).size == (1601, 1201)
    assert open_image(encode(Image.new("RGB", (1600, 1200)), "PNG"), min_side=100).size == (1600, 1200)


def test_a_reduced_decoding_looks_like_the_full_one(shared):
    for path in sorted(shared("images/geotagged").glob("*.jp*g"))[:40]:
        try:
            full = open_image(path)
        except ImageError:
            continue
        small = np.asarray(full.resize((224, 224), Image.Resampling.BICUBIC), int)
        for min_side, most in ((224, 5), (336, 1.5)):
            reduced = open_image(path, min_side=min_side).resize((224, 224), Image.Resampling.BICUBIC)
            assert np.abs(small - np.asarray(reduced, int)).mean() < most, path.name


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty file"),
        (b"\x00" * 600, "zero bytes only"),
        (b"hello, world\n", "text file"),
        ("naïve ☃".encode()[:-1], "text file"),
        (b"\xff" * 100, "not an image that"),
        (b"<!DOCTYPE html><html>404</html>", "web page"),
        (b"<?xml version='1.0'?>\n<svg xmlns='http://www.w3.org/2000/svg'/>", "SVG.*render it to PNG"),
        (b"%PDF-1.7\n%\xe2\xe3", "PDF"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "PostScript"),
        (b"PK\x03\x04\x14\x00\x00\x00", "ZIP archive"),
        (b"\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00", "video"),
        (b"RIFF\x24\x00\x00\x00AVI LIST", "video"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
        (b"\xff\x0a\x00\x00", "JPEG XL"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01", "truncated"),
        (b"\xff\xd8\xff\xfe\x00\x02\x00\x01", "starts like a JPEG|truncated"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "starts like an image"),
        (b"\x81\x92\xa3" * 50, "not an image"),
    ],
)
def test_what_is_no_image_has_a_reason_that_helps(data, reason):
    for read in (open_image, measure_image):
        with pytest.raises(ImageError, match=reason):
            read(data)


def test_a_bomb_is_refused_from_its_header():
    with pytest.raises(ImageError, match="decompression bomb"):
        open_image(png_header(60_000, 60_000))
    with pytest.raises(ImageError, match=r"decompression bomb.*10000 × 10000"):
        measure_image(png_header(10_000, 10_000))
    with pytest.raises(ImageError, match=r"9 × 9 pixels, at most 80"):
        open_image(encode(Image.new("L", (9, 9)), "PNG"), max_pixels=80)
    with pytest.raises(ImageError, match="decompression bomb"):
        open_image(
            b"GIF89a\xff\xff\xff\xff\x80\x00\x00" + b"\x00" * 6 + b"," + b"\x00" * 4 + b"\xff\xff\xff\xff\x00\x02"
        )
    assert MAX_PIXELS < 60_000 * 60_000


def test_a_progressive_jpeg_with_thousands_of_scans_is_refused():
    data = encode(Image.new("L", (4000, 4000), 128), "JPEG", progressive=True)
    scan = data[data.rindex(b"\xff\xda") : -2]
    with pytest.raises(ImageError, match="progressive scans"):
        open_image(data[:-2] + scan * 1000 + data[-2:])


def test_a_bomb_in_a_text_chunk_or_a_profile_does_no_harm():
    info = PngImagePlugin.PngInfo()
    info.add_text("comment", "0" * 100_000_000, zip=True)
    with pytest.raises(ImageError):
        open_image(encode(Image.new("L", (9, 9)), "PNG", pnginfo=info))


def test_truncated_files_are_rejected_at_every_length():
    noise = Image.fromarray(np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8))
    for form in ("JPEG", "PNG", "GIF", "BMP", "TIFF", "WEBP"):
        data = encode(noise, form)
        for share in (0.1, 0.5, 0.9):
            for read in (open_image, measure_image):
                with pytest.raises(ImageError):
                    read(data[: int(len(data) * share)])


def test_a_truncated_jpeg_is_found_at_reduced_scale_too():
    noise = Image.fromarray(np.random.default_rng(0).integers(0, 255, (900, 900, 3), dtype=np.uint8))
    data = encode(noise, "JPEG", quality=90)
    with pytest.raises(ImageError, match="truncated"):
        open_image(data[: len(data) * 3 // 4], min_side=100)
    assert measure_image(data[: len(data) * 3 // 4], verify=False).width == 900


def test_a_path_is_read_and_a_missing_one_named(tmp_path):
    place = tmp_path / "ä b\n.jpg"
    place.write_bytes(encode(corners(), "JPEG"))
    assert open_image(place).size == open_image(str(place)).size == (60, 40)
    with pytest.raises(FileError, match="no such file"):
        open_image(tmp_path / "gone.jpg")
    with pytest.raises(FileError, match="a folder"):
        open_image(tmp_path)


def test_threads_decode_together_and_leave_the_warning_filters_as_they_were(shared):
    paths = [path for path in sorted(shared("images/odd").iterdir()) if path.stat().st_size < 200_000]
    before = list(warnings.filters)

    def attempt(path):
        try:
            return open_image(path).size
        except (ImageError, FileError) as error:
            return str(error)

    alone = [attempt(path) for path in paths]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(attempt, paths))
    assert together == alone
    assert list(warnings.filters) == before
    assert threading.active_count() >= 1


def test_landscapes_and_portraits_look_alike_once_upright(shared):
    for stem in ("landscape", "portrait"):
        pictures = [
            np.asarray(open_image(path).convert("L").resize((45, 45)), float).ravel()
            for path in sorted(shared("images/odd").glob(f"exif-sampl__{stem}_*.jpg"))
        ]
        assert len(pictures) >= 3
        assert np.corrcoef(pictures).min() > 0.9


def test_a_heic_photo_is_read_or_its_extra_named(shared):
    path = shared("images/odd/test-asset__IMG_2682.heic")
    pytest.importorskip("pillow_heif")
    assert open_image(path).size == (4032, 3024)


def test_without_pillow_heif_the_reason_names_the_extra(monkeypatch):
    monkeypatch.setattr("graticule.data.decode._known_formats", lambda: ("JPEG", "PNG"))
    with pytest.raises(ImageError, match=r"graticule\[heif\]"):
        open_image(b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic")


def test_cmyk_and_rgb_versions_of_one_photo_agree(shared):
    cmyk = np.asarray(open_image(shared("images/odd/Pillow__pil_sample_cmyk.jpg")), float)
    rgb = np.asarray(open_image(shared("images/odd/Pillow__pil_sample_rgb.jpg")), float)
    assert np.corrcoef(cmyk.ravel(), rgb.ravel())[0, 1] > 0.95
    assert np.abs(cmyk - rgb).mean() < 25

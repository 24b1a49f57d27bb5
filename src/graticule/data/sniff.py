"""What a file's first bytes say it is, for files that are not images that can be decoded.

A person who reads "cannot identify image file" learns nothing; "a PDF document: export its pages as PNG" helps. For
`graticule.data.decode` (reasons) and `graticule.data.sources` (is a file without an image's extension an image?).
"""

from __future__ import annotations

import codecs

SNIFF_BYTES = 512

IMAGE_MAGIC: tuple[bytes, ...] = (
    b"\xff\xd8\xff",
    b"\x89PNG\r\n\x1a\n",
    b"GIF87a",
    b"GIF89a",
    b"II*\x00",
    b"MM\x00*",
    b"BM",
    b"8BPS",
    b"qoif",
    b"\x00\x00\x00\x0cjP  ",
    b"\xff\x4f\xff\x51",
)
"""First bytes of image formats that stand in no container."""

IMAGE_BRANDS: frozenset[bytes] = frozenset(
    {b"avif", b"avis", b"heic", b"heix", b"heim", b"heis", b"hevc", b"mif1", b"msf1"}
)
"""Major brands of ISO media files that hold still pictures (ISO/IEC 23008-12 and AV1 Image File Format)."""

HEIF_BRANDS = IMAGE_BRANDS - {b"avif", b"avis"}

KNOWN_OTHERS: tuple[tuple[bytes, str], ...] = (
    (b"%PDF", "a PDF document, not an image; export its pages as PNG or JPEG first"),
    (b"%!PS", "a PostScript drawing, not a photo; render it to PNG first"),
    (b"\xc5\xd0\xd3\xc6", "a PostScript drawing, not a photo; render it to PNG first"),
    (b"PK\x03\x04", "a ZIP archive or an office document, not an image; scan the archive itself"),
    (b"\x1f\x8b", "a gzip archive, not an image; scan the archive itself"),
    (b"Rar!", "a RAR archive, not an image; unpack it first"),
    (b"7z\xbc\xaf", "a 7-Zip archive, not an image; unpack it first"),
    (b"\xff\x0a", "a JPEG XL image, which Pillow does not read; convert it to JPEG or PNG first"),
    (b"\x00\x00\x00\x0cJXL ", "a JPEG XL image, which Pillow does not read; convert it to JPEG or PNG first"),
    (b"PAR1", "a Parquet table, not an image"),
    (b"version https://git-lfs", "a Git LFS pointer, not the image itself; run `git lfs pull` where it was cloned"),
    (b"\x1aE\xdf\xa3", "a video, not an image; extract frames first"),
    (b"RIFF\x00\x00\x00\x00AVI ", "a video, not an image; extract frames first"),
)
"""First bytes of files that are often found under an image's name, and the reason to give."""


def is_image_like(head: bytes) -> bool:
    """Return whether the first bytes are those of an image format that is worth trying to decode."""
    if head.startswith(IMAGE_MAGIC):
        return True
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return True
    return head[4:8] == b"ftyp" and head[8:12] in IMAGE_BRANDS


def name_content(head: bytes) -> str:
    """Return what a file seems to be and what to do about it, from its first `SNIFF_BYTES` bytes.

    Examples
    --------
    >>> name_content(b"")
    'an empty file (0 bytes)'
    >>> name_content(b"<svg xmlns='http://www.w3.org/2000/svg'/>")
    'a drawing in SVG, not a photo; render it to PNG first'
    """
    if not head:
        return "an empty file (0 bytes)"
    if not head.strip(b"\x00"):
        return "a file of zero bytes only, perhaps a download or a disk copy that failed"
    for magic, reason in KNOWN_OTHERS:
        if head.startswith(magic):
            return reason
    if head[:4] == b"RIFF" and head[8:12] == b"AVI ":
        return "a video, not an image; extract frames first"
    if head[4:8] == b"ftyp" and head[8:12] not in IMAGE_BRANDS:
        return (
            "a video or a camera's raw file, not an image that Pillow reads; export frames or the photo as JPEG first"
        )
    if head.startswith(b"\xff\xd8"):
        return (
            "a file that starts like a JPEG but whose header cannot be read; it is damaged, or of a rare kind "
            "(12 bits a channel, lossless, arithmetic coding): save it again as a common JPEG"
        )
    if is_image_like(head):
        return "a file that starts like an image but whose header cannot be read; it is damaged or incomplete"
    return _name_text(head) or "not an image that Pillow can read"


def _name_text(head: bytes) -> str:
    """Name text of some kind; empty for binary content."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "a text file, not an image"
    if b"\x00" in head:
        return ""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if b"<svg" in start:
        return "a drawing in SVG, not a photo; render it to PNG first"
    if start.startswith((b"<!doctype html", b"<html", b"<head", b"<body")):
        return "a web page, not an image, perhaps the error page of a failed download"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # a character may be cut off at the end
    except UnicodeDecodeError:
        return ""
    return "a text file, not an image" if all(byte >= 32 or byte in b"\t\n\r\f\x1b" for byte in head) else ""

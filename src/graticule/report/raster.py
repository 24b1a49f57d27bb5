"""SVG figures as PNG, with the fonts that travel with the package, so that text shows on a machine without any."""

from __future__ import annotations

from graticule.report.drawing.lettering import FONTS

ZOOM = 1.6


def render_png(svg: str, *, zoom: float = ZOOM, system_fonts: bool = True) -> bytes:
    """Return an SVG document as PNG.

    Parameters
    ----------
    svg
        The document.
    zoom
        Pixels of the picture per pixel of the drawing.
    system_fonts
        Whether fonts of this machine may draw what the packaged font lacks (Arabic, Chinese, …).
    """
    import resvg_py

    drawn = resvg_py.svg_to_bytes(
        svg_string=svg,
        zoom=zoom,
        skip_system_fonts=not system_fonts,
        font_dirs=[str(FONTS)],
        font_family="Inter",
        sans_serif_family="Inter",
    )
    return bytes(drawn)

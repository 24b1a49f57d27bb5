"""Make the fonts of the report out of Inter: subsets small enough to travel with the package and inside a page.

    npm pack inter-ui && tar xzf inter-ui-*.tgz
    python scripts/make_report_fonts.py package        (needs fonttools and brotli)

Inter is under the SIL Open Font License 1.1, which allows changed versions; its licence is copied beside the subsets.
The TrueType files (Latin, Greek, Cyrillic) draw the PNG figures on machines without fonts; the WOFF2 files (Latin)
stand inside the page. Characters that neither holds come from the reader's own fonts.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

FONTS = Path(__file__).parents[1] / "src" / "graticule" / "report" / "fonts"
WEIGHTS = {"Regular": "Inter-Regular", "SemiBold": "Inter-SemiBold"}
LATIN = [
    *range(0x20, 0x7F),
    *range(0xA0, 0x180),
    *range(0x2010, 0x2028),
    0x202F,
    0x2190,
    0x2192,
    0x2212,
    0x2264,
    0x2265,
]
BROAD = [*LATIN, *range(0x180, 0x250), *range(0x2B0, 0x530), *range(0x1E00, 0x1F00), *range(0x2028, 0x2070)]
FEATURES = ["kern", "tnum", "ccmp", "mark", "mkmk", "locl"]


def write_subset(source: Path, target: Path, *, unicodes: list[int], flavor: str | None) -> None:
    """Write a font with a part of its characters."""
    font = TTFont(source)
    options = subset.Options()
    options.layout_features = FEATURES
    options.hinting = False
    options.name_IDs = [0, 1, 2, 3, 4, 5, 6, 13, 14, 16, 17]
    options.flavor = flavor
    maker = subset.Subsetter(options)
    maker.populate(unicodes=unicodes)
    maker.subset(font)
    font.flavor = flavor
    font.save(target)
    print(f"{target.name}: {target.stat().st_size:,} bytes")


def main() -> None:
    """Write all subsets and the licence."""
    package = Path(sys.argv[1])
    FONTS.mkdir(parents=True, exist_ok=True)
    for weight, name in WEIGHTS.items():
        source = package / "web" / f"{name}.woff2"
        write_subset(source, FONTS / f"Inter{weight}.ttf", unicodes=BROAD, flavor=None)
        write_subset(source, FONTS / f"Inter{weight}.woff2", unicodes=LATIN, flavor="woff2")
    shutil.copy(package / "LICENSE.txt", FONTS / "OFL.txt")


if __name__ == "__main__":
    main()

"""How many images each label has in each region, thin cells hatched: GeoDE's table 10 as a picture."""

from __future__ import annotations

from graticule.report.drawing.grid import Cell, Grid, GridRow, draw_grid, write_grid_html
from graticule.report.drawing.scales import Bins
from graticule.report.drawing.sheet import SHEET_WIDTH, write_sheet
from graticule.report.figures.figure import DataTable, Field, Figure
from graticule.report.statistics.numbers import SetNumbers, make_count_bins, shorten_count
from graticule.report.wording import count, plural, spell

LABELS_SHOWN = 250
REGIONS_SHOWN = 24
FILE_ROWS = 100


def draw_count_grid(numbers: SetNumbers) -> Figure | None:
    """Return the grid of labels by regions; None where there are none."""
    cells = numbers.count_cells()
    if not cells:
        return None
    regions = list(numbers.count_by("region"))
    labels = sorted(numbers.count_by("label"), key=lambda label: (min(cells[label, name] for name in regions), label))
    shown, columns = labels[:LABELS_SHOWN], regions[:REGIONS_SHOWN]
    bins = make_count_bins(list(cells.values()))
    rows = tuple(_make_row(label, columns, regions, cells, min_images=numbers.min_images) for label in shown)
    title = f"Images by label and {numbers.by}"
    body, height = draw_grid(_make_grid(rows[:FILE_ROWS], columns, bins, min_images=numbers.min_images))
    thin = sum(n < numbers.min_images for n in cells.values())
    least = min(cells, key=lambda cell: (cells[cell], cell))
    alt = (
        f"{plural(len(cells), 'cell')}, {count(thin)} of them with fewer than {plural(numbers.min_images, 'image')}; "
        f"the thinnest is {spell(least[0])} in {spell(least[1])} ({plural(cells[least], 'image')})."
    )
    return Figure(
        name="count_grid",
        title=title,
        svg=write_sheet(
            body, title=title, subtitle=f"{numbers.name}; thinnest labels first", width=SHEET_WIDTH, height=height
        ),
        inline=write_grid_html(
            _make_grid(rows, columns, bins, min_images=numbers.min_images), title=f"{title}, {numbers.name}"
        ),
        table=DataTable(
            fields=(Field(title="Label"), Field(title=numbers.by.capitalize()), Field(title="Images", form="count")),
            rows=tuple((label, name, float(cells[label, name])) for label in labels for name in regions),
        ),
        alt=alt,
        caption=f"The stronger the colour, the fewer images; cells with fewer than {numbers.min_images} are hatched. "
        "Labels whose thinnest cell is thinnest come first.",
        notes=_list_cuts(len(labels), len(regions)),
    )


def _make_row(
    label: str, columns: list[str], regions: list[str], cells: dict[tuple[str, str], int], *, min_images: int
) -> GridRow:
    total = sum(cells[label, name] for name in regions)
    return GridRow(
        name=label,
        cells=tuple(
            Cell(
                value=float(cells[label, name]),
                text=count(cells[label, name]),
                thin=cells[label, name] < min_images,
                facts="",
            )
            for name in columns
        ),
        sums=(count(total),),
        keys=(float(total),),
    )


def _make_grid(rows: tuple[GridRow, ...], columns: list[str], bins: Bins, *, min_images: int) -> Grid:
    return Grid(
        rows=rows,
        columns=tuple(spell(name) for name in columns),
        column_keys=tuple(columns),
        sums=("All",),
        corner="Label",
        bins=bins,
        write_edge=shorten_count,
        legend_title="Images",
        thin_text=f"fewer than {min_images} images",
    )


def _list_cuts(n_labels: int, n_regions: int) -> tuple[str, ...]:
    notes: list[str] = []
    if n_labels > LABELS_SHOWN:
        notes.append(f"{plural(n_labels, 'label')} in all; the grid shows the {LABELS_SHOWN} with the thinnest cells.")
    if n_regions > REGIONS_SHOWN:
        notes.append(f"{count(n_regions)} columns in all; the grid shows the {REGIONS_SHOWN} with most images.")
    return (*notes, "All cells stand in counts.csv.") if notes else ()

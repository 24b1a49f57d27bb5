"""What holds for every figure in the registry, whatever the audit looks like."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import pytest

from graticule.report.drawing.sheet import SHEET_WIDTH
from graticule.report.figures import FIGURES
from graticule.report.groups import order_groups

SVG = "{http://www.w3.org/2000/svg}"


DRAWN = {}
"""Figures drawn before, for drawing is what takes the time here."""


def draw(name, audit):
    """Return the figures of one kind: one a model, or one for all."""
    place = (name, audit.record, audit.metrics.height)
    key = repr(place)
    if key not in DRAWN:
        DRAWN[key] = draw_anew(name, audit)
    return DRAWN[key]


def draw_anew(name, audit):
    groups = order_groups(audit.metrics, record=audit.record)
    models = tuple(model.name for model in audit.record.models)
    subjects = [(model,) for model in models] if FIGURES[name].each_model else [models]
    return [figure for subject in subjects for figure in [FIGURES[name].draw(audit.metrics, groups, subject)] if figure]


@pytest.mark.parametrize("name", FIGURES)
def test_a_file_is_well_formed_light_and_without_script(name, odd_audit):
    for figure in draw(name, odd_audit):
        root = ElementTree.fromstring(figure.svg)
        assert root.tag == f"{SVG}svg"
        assert "var(" not in figure.svg
        assert not list(root.iter(f"{SVG}script"))
        assert all(not key.startswith("on") for element in root.iter() for key in element.attrib)
        assert root.find(f"{SVG}title").text == figure.title


@pytest.mark.parametrize("name", FIGURES)
def test_a_drawing_for_the_page_is_well_formed_and_needs_no_inline_style(name, odd_audit):
    for figure in draw(name, odd_audit):
        root = ElementTree.fromstring(f"<div>{figure.inline}</div>")
        for element in root.iter():
            assert "style" not in element.attrib, "the page's security policy refuses inline styles"
            assert element.tag != "script"


@pytest.mark.parametrize("name", FIGURES)
def test_numbers_behind_a_figure_stand_in_the_metrics_table(name, audit):
    known = {f"{value:.9g}" for column in ("value", "low", "high", "n") for value in audit.metrics[column].to_list()}
    for figure in draw(name, audit):
        assert figure.table.rows
        for row in figure.table.rows:
            assert len(row) == len(figure.table.fields)
            for value, field in zip(row, figure.table.fields, strict=True):
                assert isinstance(value, str) == (field.form == "text")
                if not isinstance(value, str) and math.isfinite(value):
                    assert f"{value:.9g}" in known, (figure.name, field.title)


@pytest.mark.parametrize("name", FIGURES)
def test_points_that_are_drawn_stand_in_the_metrics_table(name, audit):
    known = {f"{value:.6g}" for value in audit.metrics["value"].to_list()}
    for figure in draw(name, audit):
        drawn = re.findall(r'data-value="([^"]+)"', figure.svg + figure.inline)
        assert set(drawn) <= known


@pytest.mark.parametrize("name", FIGURES)
def test_shuffled_rows_draw_the_same_figure(name, audit):
    shuffled = audit.metrics.sample(fraction=1.0, shuffle=True, seed=3)
    groups = order_groups(audit.metrics, record=audit.record)
    models = tuple(model.name for model in audit.record.models)[: 1 if FIGURES[name].each_model else None]
    first, second = (FIGURES[name].draw(table, groups, models) for table in (audit.metrics, shuffled))
    assert (first is None) == (second is None)
    if first and second:
        assert re.sub(r'data-cells="[^"]*"|d="[^"]*"', "", first.inline) == re.sub(
            r'data-cells="[^"]*"|d="[^"]*"', "", second.inline
        )
        assert first.table == second.table
        assert first.alt == second.alt


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_says_what_it_shows_and_how_to_read_it(name, audit):
    for figure in draw(name, audit):
        assert figure.alt.endswith(".")
        assert figure.caption.endswith(".")
        assert "nan" not in (figure.alt + figure.caption).lower().split()


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_that_cannot_be_drawn_says_why(name):
    assert FIGURES[name].needs.format(one="region", many="regions").endswith(".")


@pytest.mark.parametrize("name", FIGURES)
def test_text_of_a_file_stays_on_its_sheet(name, audit):
    for figure in draw(name, audit):
        root = ElementTree.fromstring(figure.svg)
        assert float(root.attrib["width"]) >= SHEET_WIDTH * 0.6
        for text in root.iter(f"{SVG}text"):
            x = float(text.attrib.get("x", 0))
            assert -60 <= x <= float(root.attrib["width"])


def test_figures_need_no_scores_only_where_they_say_so(make_audit):
    bare = make_audit(scores=False, labels=("car", "bus", "dog"))
    missing = {name for name in FIGURES if not draw(name, bare)}
    assert {"probability_boxes", "calibration"} <= missing
    assert {"region_accuracy", "label_ranges", "heatmap", "confusions", "confusion_matrix"} & missing == set()


def test_many_labels_are_cut_and_the_cut_is_said(make_audit):
    labels = tuple(f"label {i}" for i in range(1000))
    wide = make_audit(labels=labels, regions=("A", "B"), per_cell=8, models=("m",))
    (heatmap,) = draw("heatmap", wide)[:1]
    assert heatmap.inline.count("<tr>") == 251
    assert any("1,000 labels" in note for note in heatmap.notes)
    assert draw("confusion_matrix", wide) == []


def test_many_regions_are_cut_and_the_cut_is_said(make_audit):
    wide = make_audit(regions=tuple(f"C{i:03d}" for i in range(200)), labels=("car", "bus"), per_cell=12, models=("m",))
    for name in ("region_accuracy", "heatmap", "confusions", "calibration", "probability_boxes"):
        figure = draw(name, wide)[0]
        assert figure.notes, name
        assert len(figure.inline) < 400_000


def test_undefined_cells_are_dashes_and_never_zero(audit):
    figure = draw("heatmap", audit)[0]
    root = ElementTree.fromstring(f"<div>{figure.inline}</div>")
    empty = [cell for cell in root.iter("td") if cell.attrib.get("class") == "empty"]
    assert empty
    assert all(cell.text == "–" and cell.attrib["data-v"] == "" for cell in empty)


def test_small_cells_are_hatched(audit):
    figure = draw("heatmap", audit)[0]
    cells = [cell for cell in ElementTree.fromstring(f"<div>{figure.inline}</div>").iter("td") if cell.get("data-f")]
    for cell in cells:
        n = float(cell.attrib["data-f"].split(" ")[2])
        assert ("thin" in cell.attrib["class"].split()) == (n < audit.record.min_images)


def test_labels_flagged_in_the_table_are_flagged_in_the_plot(audit):
    model = audit.record.models[0].name
    rows = audit.metrics.filter(
        (audit.metrics["metric"] == "partition_flag")
        & (audit.metrics["model"] == model)
        & (audit.metrics["group"] == "extremes")
        & (audit.metrics["value"] == 1)
    )
    figure = draw("label_ranges", audit)[0]
    root = ElementTree.fromstring(f"<div>{figure.inline}</div>")
    flagged = {row.get("data-name") for row in root.iter("li") if "flag-extremes" in row.get("class", "").split()}
    assert flagged == set(rows["label"])
    assert flagged

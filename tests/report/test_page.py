"""The page: one file that needs nothing else, shows what the tables say, and survives whatever they hold."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest
from PIL import Image

from graticule.errors import FileError, TableError
from graticule.report import figure_files
from graticule.report import page as page_module
from graticule.report.page import write_report
from graticule.report.panels.figure_panels import PLANS
from graticule.report.wording import percent

SMALL = {"labels": ("bus", "car", "dog"), "regions": ("Africa", "Asia", "Europe"), "per_cell": 30}


class Reader(HTMLParser):
    """The elements of a page with their attributes, and its text outside of style and script."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.words = []
        self.open = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag in {"style", "script"}:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag in {"td", "th", "li", "p", "div", "dt", "dd"}:
            self.words.append(" ")
        if self.open and self.open[-1] == tag:
            self.open.pop()

    def handle_data(self, data):
        if not self.open:
            self.words.append(data)

    @property
    def text(self):
        return re.sub(r"\s+", " ", "".join(self.words))

    def find(self, tag, **attributes):
        return [
            found
            for name, found in self.elements
            if name == tag and all(found.get(key.replace("_", "-")) == value for key, value in attributes.items())
        ]


def write(audit, folder, **changes):
    """Write the report of an audit and return its page's text."""
    given = {
        "metrics": audit.metrics,
        "failures": audit.failures,
        "dropped": audit.dropped,
        "record": audit.record,
        **changes,
    }
    return write_report(folder, **given).read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def skip_pictures(request, monkeypatch):
    """Spare the time of drawing PNGs wherever a test does not look at them."""
    if "png" not in request.node.name:
        monkeypatch.setattr(figure_files, "render_png", lambda svg, zoom: b"")


@pytest.fixture(scope="session")
def small(make_audit):
    return make_audit(**SMALL)


@pytest.fixture(scope="session")
def html(small, tmp_path_factory):
    return write(small, tmp_path_factory.mktemp("report"))


def test_nothing_is_fetched_from_outside(html):
    reader = Reader(html)
    for _, attributes in reader.elements:
        for name in ("src", "href", "xlink:href", "srcset", "action", "data", "poster"):
            assert not attributes.get(name) or attributes[name].startswith(("#", "data:image/webp;base64,"))
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL).group(1)
    assert "@import" not in style
    assert all(url.startswith(("data:font/woff2;base64,", "#")) for url in re.findall(r"url\((.*?)\)", style))
    assert {tag for tag, _ in reader.elements} & {"link", "iframe", "object", "embed", "base"} == set()


def test_the_security_policy_names_exactly_the_style_and_the_script_of_the_page(html):
    (policy,) = Reader(html).find("meta", http_equiv="Content-Security-Policy")
    rules = dict(rule.strip().split(" ", 1) for rule in policy["content"].split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data:"
    for kind, pattern in (("style", r"<style>(.*?)</style>"), ("script", r"<script>(.*?)</script>")):
        (text,) = re.findall(pattern, html, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[f"{kind}-src"] == f"'sha256-{digest}'"
    assert not [
        found for _, found in Reader(html).elements if "style" in found or any(k.startswith("on") for k in found)
    ]


def test_panels_stand_in_the_order_of_the_questions(html):
    panels = [found["id"] for found in Reader(html).find("section") if "panel" in found.get("class", "").split()]
    assert panels == [
        *("verdict", "groups", "map", "labels", "cells", "confusions", "probabilities", "failures"),
        *("calibration", "people", "models", "method"),
    ]
    assert set(PLANS) - {"doubts"} < set(panels), "without labels of people there is nothing to doubt"


def test_ids_are_unique(html):
    ids = [found["id"] for _, found in Reader(html).elements if "id" in found]
    assert len(ids) == len(set(ids))


def test_worst_and_best_region_stand_at_the_top_with_their_numbers(small, html):
    top = Reader(html.split('id="groups"')[0]).text
    for model in small.record.models:
        for metric in ("worst_region", "best_region"):
            row = small.metrics.filter(
                (pl.col("metric") == metric) & (pl.col("model") == model.name) & pl.col("label").is_null()
            ).row(0, named=True)
            assert row["region"] in top
            assert percent(row["value"]) in top
            assert f"{row['n']:,} images" in top


def test_the_audits_own_sentences_are_the_headline(small, tmp_path):
    record = page_module.AuditRecord.from_json(small.record.to_json())
    told = record.__class__.from_json(
        json.dumps(
            {**json.loads(small.record.to_json()), "headline": ["The gap is 3.0 %."], "notes": ["A note & more."]}
        )
    )
    html = write(small, tmp_path, record=told)
    assert "The gap is 3.0%." in html
    assert "A note &amp; more." in html


def test_every_number_in_a_table_is_written_as_its_value_says(small, html):
    values = re.findall(r'<td class="number" data-value="([^"]+)">([^<]+)</td>', html)
    assert len(values) > 200
    known = {f"{value:.9g}" for name in ("value", "low", "high", "n") for value in small.metrics[name].to_list()}
    for value, text in values:
        if text == "n/a":
            assert value == "nan"
        else:
            assert value in known or float(value).is_integer()
        if text.endswith("%"):
            assert text == percent(float(value))


def test_rendered_scenes_are_said_loudly(make_audit, tmp_path):
    audit = make_audit(**SMALL, record_changes={"photos_are_rendered": True, "photos": "Scenes by a program."})
    top = write(audit, tmp_path).split("<h1")[0]
    assert "These are rendered scenes, not photographs." in top
    assert "Scenes by a program." in top


def test_the_boundary_policy_and_all_hashes_are_printed(small, html):
    text = Reader(html).text
    assert small.record.boundary_policy in text.split("Accuracy by region")[0] + text
    for digest in [*small.record.inputs.values(), *(model.sha256 for model in small.record.models)]:
        assert digest in text


def test_what_was_left_out_is_counted_by_reason(small, html):
    section = Reader(html.split('id="method"')[1]).text
    assert "7 images could not be scored." in section
    for reason, number in small.record.dropped.items():
        assert re.search(rf"{reason}\s*{number}\b", section)


def test_reasons_that_hold_for_one_of_several_models_are_counted_once(small, tmp_path):
    names = [model.name for model in small.record.models]
    dropped = pl.DataFrame(
        {"path": ["a.jpg", "b.jpg", "c.jpg"], "reason": ["no prediction"] * 3, "model": [names[0], names[0], names[1]]}
    )
    record = page_module.AuditRecord.from_json(
        json.dumps(
            {
                **json.loads(small.record.to_json()),
                "dropped": {f"{names[0]}: no prediction": 2, f"{names[1]}: no prediction": 1},
            }
        )
    )
    section = Reader(write(small, tmp_path, dropped=dropped, record=record).split('id="method"')[1]).text
    assert "3 images could not be scored." in section


def test_predictions_without_scores_get_a_sentence_in_the_panels_that_need_them(make_audit, tmp_path):
    html = write(make_audit(**SMALL, scores=False), tmp_path)
    assert "this panel needs a probability for every label" in html
    assert "so confidence cannot be compared with accuracy" in html
    assert "nan" not in Reader(html).text.split()


def test_one_model_gets_a_sentence_instead_of_a_comparison(make_audit, tmp_path):
    html = write(make_audit(**SMALL, models=("m",)), tmp_path)
    assert "One model was audited" in html


def test_an_audit_without_failures_says_so(make_audit, tmp_path):
    assert "No failure was picked" in write(make_audit(**SMALL, failures_per_cell=0), tmp_path)


def test_missing_broken_and_remote_photos_become_labelled_placeholders(small, tmp_path):
    photos = tmp_path / "photos"
    failures = small.failures.head(4).with_columns(
        path=pl.Series(["good.jpg", "missing.jpg", "broken.jpg", "https://example.org/a.jpg"]),
        image_id=pl.Series(["one", "two", "three", "four"]),
    )
    photos.mkdir()
    Image.new("RGB", (640, 480), "teal").save(photos / "good.jpg")
    (photos / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 no photo at all")
    html = write(small, tmp_path / "out", failures=failures, base=photos)
    reader = Reader(html)
    (shown,) = reader.find("img")
    picture = Image.open(io.BytesIO(base64.b64decode(shown["src"].split(",")[1])))
    assert (picture.width, picture.height) == (int(shown["width"]), int(shown["height"]))
    assert max(picture.size) <= 200
    placeholders = [found for found in reader.find("div") if found.get("class") == "no-photo"]
    assert len(placeholders) == 3
    assert all(found["aria-label"].startswith("No photo: ") for found in placeholders)
    assert "on the network, not fetched" in html
    assert str(photos) not in html, "where somebody's photos lie is nobody's business"


def test_a_photo_that_two_models_fail_on_is_shown_once_with_both_answers(make_audit, tmp_path):
    audit = make_audit(**SMALL)
    rows = audit.failures.head(1)
    second = rows.with_columns(model=pl.lit(audit.record.models[1].name), predicted=pl.lit("dog"))
    html = write(audit, tmp_path, failures=pl.concat([rows, second]))
    assert html.count('<li class="photo"') == 1
    assert html.count('<p class="mistake"') == 2


def test_a_photo_picked_twice_counts_as_both(small, tmp_path):
    rows = small.failures.head(1)
    both = pl.concat([rows.with_columns(picked=pl.lit("random")), rows.with_columns(picked=pl.lit("worst"))])
    assert 'data-picked="random worst"' in write(small, tmp_path, failures=both)


def test_thumbnails_keep_to_their_budget(small, tmp_path):
    photos = tmp_path / "photos"
    photos.mkdir()
    for place, path in enumerate(small.failures["path"].unique()):
        target = photos / path
        target.parent.mkdir(parents=True, exist_ok=True)
        Image.effect_noise((200, 200), 60 + place % 40).convert("RGB").save(target)
    from graticule.report.thumbnails import make_thumbnails

    paths = small.failures["path"].to_list()
    some = make_thumbnails(paths, base=photos, budget_bytes=60_000)
    assert 0 < len(some) < len(set(paths))
    assert sum(len(thumbnail.uri) for thumbnail in some.values()) <= 60_000
    assert list(some) == list(dict.fromkeys(paths))[: len(some)]


def test_figures_are_written_as_svg_and_png(small, tmp_path):
    write(small, tmp_path)
    names = {path.name for path in (tmp_path / "figures").iterdir()}
    assert {"region_accuracy.svg", "region_accuracy.png", "heatmap-timm-resnet50.svg"} <= names
    assert {Path(name).stem for name in names if name.endswith(".svg")} == {
        Path(name).stem for name in names if name.endswith(".png")
    }
    assert Image.open(tmp_path / "figures" / "region_accuracy.png").width > 1200


def test_models_whose_names_look_alike_in_a_file_name_keep_apart(make_audit, tmp_path):
    write(make_audit(**SMALL, models=("a/b", "a_b")), tmp_path)
    assert len(list((tmp_path / "figures").glob("heatmap-*.svg"))) == 2


def test_a_second_report_replaces_the_first_whole(small, make_audit, tmp_path):
    write(small, tmp_path)
    write(make_audit(**SMALL, models=("only",)), tmp_path)
    assert not list((tmp_path / "figures").glob("*timm*"))
    assert {path.name for path in tmp_path.iterdir()} == {"index.html", "figures"}


def test_a_failure_leaves_the_old_report_as_it_was(small, tmp_path, monkeypatch):
    before = write(small, tmp_path)
    figures = sorted(path.name for path in (tmp_path / "figures").iterdir())

    def fail(*_, **__):
        raise OSError("disk full")

    monkeypatch.setattr(page_module, "write_figures", fail)
    with pytest.raises(FileError, match="disk full"):
        write(small, tmp_path)
    assert (tmp_path / "index.html").read_text(encoding="utf-8") == before
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == figures
    assert {path.name for path in tmp_path.iterdir()} == {"index.html", "figures"}


def test_a_bad_table_is_refused_before_anything_is_written(small, tmp_path):
    with pytest.raises(TableError):
        write(small, tmp_path / "out", metrics=small.metrics.drop("metric"))
    assert not (tmp_path / "out").exists()


def test_a_record_without_models_is_refused(small, tmp_path):
    record = page_module.AuditRecord.from_json(json.dumps({**json.loads(small.record.to_json()), "models": []}))
    with pytest.raises(TableError, match="names no model"):
        write(small, tmp_path, record=record)


def test_the_title_can_be_chosen_and_is_escaped(small, tmp_path):
    html = write(small, tmp_path, title="Where <b>it</b> fails")
    assert '<h1 id="top">Where &lt;b&gt;it&lt;/b&gt; fails</h1>' in html


def test_odd_audits_give_a_page_without_markup_of_their_own(odd_audit, tmp_path):
    html = write(odd_audit, tmp_path)
    reader = Reader(html)
    scripts = reader.find("script")
    assert [found.get("type") for found in scripts] == ["application/json", None]
    assert not reader.find("img", src="x")
    assert not [found for _, found in reader.elements if any(key.startswith("on") for key in found)]
    assert not reader.find("b", onclick="alert(1)")
    assert "qxqxqx" not in reader.text, "templates in names are not run"
    assert "NaN" not in reader.text
    assert len(html) < 6_000_000


def test_the_same_audit_gives_the_same_page(small, html, tmp_path):
    assert write(small, tmp_path) == html

"""The report of a real audit: what `audit_predictions` writes is what the page shows."""

from __future__ import annotations

import re

import polars as pl
import pytest

from graticule.evaluation.audit import audit_predictions
from graticule.report import figure_files
from graticule.report.figures import FIGURES
from graticule.report.groups import order_groups
from graticule.report.page import write_report
from graticule.report.wording import percent

MOST_BYTES = 20_000_000


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.setattr(figure_files, "render_png", lambda svg, zoom: b"")

    def write_audit(audit, **changes):
        page = write_report(
            tmp_path,
            metrics=audit.metrics,
            failures=audit.failures,
            dropped=audit.dropped,
            record=audit.record,
            **changes,
        )
        return page.read_text(encoding="utf-8")

    return write_audit


@pytest.fixture(scope="session")
def real_audit(make_inputs):
    images, predictions = make_inputs(n_images=4000, n_labels=8, n_models=2)
    return audit_predictions(images, predictions)


WITHOUT = {"world_map", "label_fidelity", "label_doubts", "ambiguous_pairs"}
"""Figures that need countries, or labels of people, which this audit was not given."""


def test_every_figure_can_be_drawn_from_a_real_audit(real_audit):
    groups = order_groups(real_audit.metrics, record=real_audit.record)
    models = tuple(model.name for model in real_audit.record.models)
    for name, drawer in FIGURES.items():
        figure = drawer.draw(real_audit.metrics, groups, models[:1] if drawer.each_model else models)
        assert (figure is None) == (name in WITHOUT), name


def test_the_page_says_what_the_audit_says(real_audit, write):
    html = write(real_audit)
    text = re.sub(r"<[^>]+>", "", html)
    for model in real_audit.record.models:
        for metric in ("worst_region", "best_region"):
            row = real_audit.metrics.filter(
                (pl.col("metric") == metric) & (pl.col("model") == model.name) & pl.col("label").is_null()
            ).row(0, named=True)
            assert percent(row["value"]) in text
    for sentence in real_audit.record.headline:
        words = sentence.split(": ", 1)[-1].replace(" %", "%")
        assert words[1:60].replace("'", "&#39;") in text.replace("&amp;", "&"), sentence
    body = re.sub(r"<style>.*?</style>|<script>.*?</script>", "", html, flags=re.DOTALL)
    assert body.count('class="absent"') == 2, "only the map and people's labels have nothing to show"


def test_labels_without_scores_are_audited_and_shown(make_inputs, write):
    images, predictions = make_inputs(n_images=1500, n_labels=5, scores=False)
    html = write(audit_predictions(images, predictions))
    assert "this panel needs a probability for every label" in html


def test_one_label_and_one_region_are_shown(make_inputs, write):
    images, predictions = make_inputs(n_images=300, n_labels=2, n_regions=1)
    html = write(audit_predictions(images.with_columns(label=pl.lit("label 000")), predictions))
    assert "Accuracy by region" in html


@pytest.mark.slow
def test_sixty_thousand_images_make_a_page_under_twenty_megabytes(make_inputs, write, tmp_path):
    from PIL import Image

    images, predictions = make_inputs(n_images=60_000, n_labels=40)
    audit = audit_predictions(images, predictions)
    photos = tmp_path / "photos"
    photos.mkdir()
    for path in audit.failures["path"].unique():
        Image.effect_noise((256, 192), 90).convert("RGB").save(tmp_path / path, quality=85)
    html = write(audit, base=tmp_path)
    assert html.count("data:image/webp") > 200, "noise compresses worst of all, so photos fill the budget"
    assert len(html.encode()) < MOST_BYTES / 2

"""Opening and writing the page of 60,000 images × 40 labels × 6 regions, beside a page of plotly's, in one run.

    pip install plotly playwright
    python benchmarks/report_page.py [--images 60000] [--labels 40] [--rounds 5]

Ours is the whole page with its thumbnails. The peer is a plotly page (its script inlined, so that it needs no network
either) with three of our eleven panels and no photos: accuracy by region, the label × region heatmap, and the box plots
of figure 12. Both are opened in the same headless Chromium, in turns; medians are printed.

``opened`` is the browser's own clock from the start of navigation to the end of the load event; ``painted`` to the
first content on the screen; ``busy`` is the main thread's work until then (Chromium's TaskDuration), which hangs least
on what else the machine does.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

REGIONS = ("Africa", "Americas", "East Asia", "Europe", "Southeast Asia", "West Asia")
TIMES = """() => { const [entry] = performance.getEntriesByType('navigation');
  const paint = performance.getEntriesByName('first-contentful-paint')[0];
  return { opened: entry.loadEventEnd / 1000, painted: (paint ? paint.startTime : NaN) / 1000,
           elements: document.getElementsByTagName('*').length }; }"""


def make_audit(n: int, k: int):
    """Return the real audit of made-up predictions with scores."""
    from graticule.data.predictions import Predictions
    from graticule.evaluation.audit import audit_predictions
    from graticule.evaluation.audit_config import AuditConfig
    from graticule.geo.schemes import load_scheme

    rng = np.random.default_rng(0)
    region, label = rng.integers(0, len(REGIONS), n), rng.integers(0, k, n)
    labels = tuple(f"label {i:02d}" for i in range(k))
    names = np.array([f"img{i:06d}" for i in range(n)], dtype=object)
    logits = rng.gumbel(0, 1, (n, k)).astype(np.float32)
    logits[np.arange(n), label] += (4.0 + rng.normal(0, 0.8, k)[label] + 0.2 * region).astype(np.float32)
    images = pl.DataFrame(
        {
            "image_id": names.tolist(),
            "path": [f"{name}.jpg" for name in names],
            "label": [labels[i] for i in label],
            "region": [REGIONS[i] for i in region],
        }
    )
    predictions = Predictions(
        model="made-up model",
        image_ids=names,
        labels=labels,
        kind="logits",
        top=np.argsort(-logits, axis=1, kind="stable")[:, :5].astype(np.int64),
        scores=logits,
        info={},
    )
    config = AuditConfig(region_countries=load_scheme("geode").regions)
    return audit_predictions(images, [predictions], config=config)


def make_photos(audit, folder: Path) -> None:
    """Write a photo-like picture for each failure: smooth shapes and some grain, 640 × 480."""
    from PIL import Image

    rng = np.random.default_rng(0)
    for path in audit.failures["path"].unique():
        coarse = Image.fromarray(rng.integers(0, 255, (6, 8, 3), dtype=np.uint8)).resize(
            (640, 480), Image.Resampling.BICUBIC
        )
        grain = rng.normal(0, 9, (480, 640, 1))
        pixels = np.clip(np.asarray(coarse, dtype=float) + grain, 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / path, quality=88)


def write_ours(audit, folder: Path) -> Path:
    from graticule.report.page import write_report

    return write_report(
        folder / "ours",
        metrics=audit.metrics,
        failures=audit.failures,
        dropped=audit.dropped,
        record=audit.record,
        base=folder,
    )


def write_plotly(audit, folder: Path) -> Path | None:
    """Write three of the panels with plotly; None where plotly is not installed."""
    try:
        import plotly.graph_objects as go
    except ImportError:
        return None
    table = audit.metrics.filter(pl.col("metric") == "accuracy")
    whole = table.filter(pl.col("label").is_null() & pl.col("region").is_not_null())
    cells = table.filter(pl.col("label").is_not_null() & pl.col("region").is_not_null())
    grid = cells.pivot(on="region", index="label", values="value", aggregate_function="first")
    bars = go.Figure(
        go.Scatter(
            x=whole["value"].to_list(),
            y=whole["region"].to_list(),
            mode="markers",
            error_x={
                "type": "data",
                "array": (whole["high"] - whole["value"]).to_list(),
                "arrayminus": (whole["value"] - whole["low"]).to_list(),
            },
        )
    )
    names = [name for name in grid.columns if name != "label"]
    heat = go.Figure(go.Heatmap(z=grid.select(names).to_numpy(), x=names, y=grid["label"].to_list()))
    parts = [
        bars.to_html(full_html=False, include_plotlyjs=True),
        heat.to_html(full_html=False, include_plotlyjs=False),
    ]
    quantiles = audit.metrics.filter(pl.col("metric") == "label_probability").pivot(
        on="group", index=["region", "label"], values="value", aggregate_function="first"
    )
    for label in quantiles["label"].unique().sort():
        mine = quantiles.filter(pl.col("label") == label)
        box = go.Box(
            x=mine["region"].to_list(),
            lowerfence=mine["p05"].to_list(),
            q1=mine["p25"].to_list(),
            median=mine["p50"].to_list(),
            q3=mine["p75"].to_list(),
            upperfence=mine["p95"].to_list(),
        )
        parts.append(go.Figure(box).to_html(full_html=False, include_plotlyjs=False))
    place = folder / "plotly.html"
    place.write_text("<!DOCTYPE html><meta charset=utf-8><body>" + "".join(parts), encoding="utf-8")
    return place


def open_once(browser, page_path: Path) -> dict[str, float]:
    context = browser.new_context(viewport={"width": 1366, "height": 900})
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Performance.enable")
    page.goto(page_path.as_uri(), wait_until="load")
    page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length > 0")
    times = page.evaluate(TIMES)
    measured = {item["name"]: item["value"] for item in session.send("Performance.getMetrics")["metrics"]}
    context.close()
    return {**times, "busy": measured["TaskDuration"]}


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=60_000)
    parser.add_argument("--labels", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        audit = make_audit(options.images, options.labels)
        make_photos(audit, folder)
        wall, cpu = time.perf_counter(), time.process_time()
        ours = write_ours(audit, folder)
        print(f"writing ours: {time.process_time() - cpu:.1f} CPU s, {time.perf_counter() - wall:.1f} s")
        wall, cpu = time.perf_counter(), time.process_time()
        plotly = write_plotly(audit, folder)
        if plotly is None:
            print("plotly is not installed: no peer")
        else:
            print(f"writing plotly's: {time.process_time() - cpu:.1f} CPU s, {time.perf_counter() - wall:.1f} s")
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        pages = {"ours": ours, **({"plotly": plotly} if plotly else {})}
        runs: dict[str, list[dict[str, float]]] = {key: [] for key in pages}
        with sync_playwright() as running:
            browser = running.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
            for _ in range(options.rounds):
                for key, place in pages.items():
                    runs[key].append(open_once(browser, place))
            browser.close()
        print(f"{'':8} {'size MB':>8} {'opened s':>9} {'painted s':>10} {'busy s':>7} {'elements':>9}")
        for key, place in pages.items():
            middle = {part: statistics.median(run[part] for run in runs[key]) for part in runs[key][0]}
            print(
                f"{key:8} {place.stat().st_size / 1e6:8.2f} {middle['opened']:9.2f} {middle['painted']:10.2f} "
                f"{middle['busy']:7.2f} {middle['elements']:9.0f}"
            )


if __name__ == "__main__":
    main()

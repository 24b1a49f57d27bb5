"""The steps of ``graticule audit``: the one place that joins scanning, locating, models, evaluation and the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from graticule.cli.audit_models import ModelRequest, predict_photos
from graticule.cli.audit_people import add_people, holds_people
from graticule.cli.audit_places import Placed, place_images, read_table_info
from graticule.cli.label_options import LabelOptions
from graticule.errors import ConfigError, TableError

if TYPE_CHECKING:
    from graticule.data.predictions import Predictions
    from graticule.evaluation.audit import Audit
    from graticule.evaluation.audit_config import AuditConfig

ARTEFACTS = "artefacts"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    """What was asked for on the command line; see ``graticule audit --help``."""

    source: str
    predictions: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    layout: str | None = None
    labels: str | None = None
    superclasses: str | None = None
    templates: str | None = None
    aggregation: str | None = None
    others: str | None = None
    trains: tuple[str, ...] = ()
    group: str | None = None
    by: str = "region"
    scheme: str | None = None
    min_images: int | None = None
    fail_if: str | None = None
    partitions: int | None = None
    bootstraps: int | None = None
    seed: int = 0
    weights: str | None = None
    engine: str = "auto"
    title: str | None = None
    photos_note: str = ""
    rendered: bool = False
    output: Path = Path("report")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOutcome:
    """What came out: where the page is, what it says, and which rules of the gate were broken."""

    page: Path
    headline: tuple[str, ...]
    broken_rules: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Photos:
    """The images to audit, and where their paths start from."""

    images: pl.DataFrame
    base: Path
    file: Path
    """The table that they came from."""


def run_audit(request: AuditRequest) -> AuditOutcome:
    """Do every step that the request needs, write the folder ``request.output``, and return what the page says.

    Raises
    ------
    GraticuleError
        Something given cannot be used; what was there before is as it was.
    """
    from graticule.data.store import replace_atomically
    from graticule.evaluation.audit import audit_predictions
    from graticule.evaluation.gate import check_gate

    _check(request)
    photos = read_photos(request)
    placed = place_images(photos.images, by=request.by, scheme=request.scheme, info=read_table_info(photos.file))
    predictions, files = gather_predictions(request, placed.images, base=photos.base)
    config = _configure(request, placed, (photos.file, *files))
    audit = audit_predictions(placed.images, predictions, config=config)
    if request.labels is not None and holds_people(request.labels):
        audit, suspects = add_people(
            audit,
            request.labels,
            superclasses=request.superclasses,
            images=placed.images,
            predictions=predictions,
            config=config,
        )
        with replace_atomically(request.output / "suspects.csv") as temporary:
            suspects.write_csv(temporary)
    page = write_audit(audit, request, photos)
    broken = check_gate(request.fail_if, audit.metrics).reasons if request.fail_if else ()
    return AuditOutcome(page=page, headline=audit.record.headline, broken_rules=tuple(broken))


def read_photos(request: AuditRequest) -> Photos:
    """Return the images of a table as they are, or those found by scanning a folder or an archive."""
    from graticule.data.readers.images import read_images
    from graticule.data.readers.rows import is_table

    source = Path(request.source)
    if is_table(source) or (source.is_dir() and any(source.glob("*.parquet"))):
        base = source if source.is_dir() else source.parent
        return Photos(images=read_images(source), base=base, file=source)
    from graticule.data.scan_files import scan_to_files

    output = request.output / ARTEFACTS / "images.parquet"
    found = scan_to_files(source, output, layout=request.layout)
    return Photos(images=found.result.images, base=output.parent, file=output)


def gather_predictions(
    request: AuditRequest, images: pl.DataFrame, *, base: Path
) -> tuple[list[Predictions], list[Path]]:
    """Return the predictions that were given and those of the models that were named, and the files that hold them."""
    from graticule.data.readers.predictions import read_predictions

    files = [Path(path) for path in request.predictions]
    for name in request.models:
        model = ModelRequest(
            name=name,
            weights=request.weights,
            engine=request.engine,
            labels=None if holds_people(request.labels) else request.labels,
            label_options=LabelOptions(
                templates=request.templates, aggregation=request.aggregation, others=request.others
            ),
            trains=request.trains,
            group=request.group,
            seed=request.seed,
        )
        files += predict_photos(model, images, base=base, folder=request.output / ARTEFACTS)
    predictions = [read_predictions(path) for path in files]
    names = [found.model for found in predictions]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise TableError(
            f"--predictions: {len(names)} files, and more than one is of the model {repeated[0]!r}. "
            "Give each file a model name of its own, in its metadata or as the file's name."
        )
    return predictions, files


def write_audit(audit: Audit, request: AuditRequest, photos: Photos) -> Path:
    """Write the numbers, the gallery's table, what was dropped, and the page; return the page's path."""
    from graticule.data.store import describe_run, replace_atomically, write_table
    from graticule.data.tables import FAILURES, METRICS, REJECTS
    from graticule.report.page import write_report

    made = describe_run("audit", config={"by": request.by, "scheme": request.scheme}, seed=request.seed)
    output = request.output
    info = {"record": audit.record.to_json()}
    write_table(audit.metrics, output / "metrics.parquet", METRICS, info=info, provenance=made)
    with replace_atomically(output / "metrics.csv") as temporary:
        audit.metrics.write_csv(temporary)
    write_table(audit.failures, output / "failures.parquet", FAILURES, provenance=made)
    write_table(audit.dropped, output / "dropped.parquet", REJECTS, provenance=made)
    return write_report(
        output,
        metrics=audit.metrics,
        failures=audit.failures,
        dropped=audit.dropped,
        record=audit.record,
        base=photos.base,
        title=request.title,
    )


def _check(request: AuditRequest) -> None:
    from graticule.evaluation.gate import read_rule

    if not request.predictions and not request.models:
        raise ConfigError(
            "neither --predictions nor --model was given; expected predictions to score or a model that makes them. "
            "Try: graticule audit images.csv --predictions top1.csv"
        )
    if request.trains and not request.models:
        raise ConfigError(
            "--train was given without --model; expected the model whose features the probe is trained on."
        )
    if request.labels and not request.models and not holds_people(request.labels):
        raise ConfigError(
            f"--labels {request.labels} names a model's labels, but no --model is given; expected a table of labels "
            "that people accept (image_id, label), or a model to run."
        )
    if request.superclasses and not holds_people(request.labels):
        raise ConfigError(
            "--superclasses was given without a table of what people accept; expected --labels labels.parquet, since "
            "people's confusions are what models' are compared with."
        )
    how = {"--templates": request.templates, "--aggregation": request.aggregation, "--others": request.others}
    unused = [flag for flag, value in how.items() if value is not None]
    if unused and (not request.models or request.trains or not request.labels or holds_people(request.labels)):
        raise ConfigError(
            f"{', '.join(unused)}: given without a labels file to read; expected --model with --labels labels.yaml, "
            "and no --train. Leave it out, or name the labels that the model shall be asked for."
        )
    if request.fail_if:
        read_rule(request.fail_if)


def _configure(request: AuditRequest, placed: Placed, files: Sequence[Path]) -> AuditConfig:
    from graticule.data.store import hash_file
    from graticule.evaluation.audit_config import AuditConfig

    inputs = {path.name: hash_file(path) for path in files if path.is_file()}
    chosen: dict[str, Any] = {
        "min_images": request.min_images,
        "n_partitions": request.partitions,
        "n_bootstraps": request.bootstraps,
    }
    return AuditConfig(
        by=request.by,
        seed=request.seed,
        scheme=placed.scheme,
        boundary_policy=placed.boundary_policy,
        disputed_areas=placed.disputed_areas,
        region_countries=placed.region_countries,
        photos=request.photos_note,
        photos_are_rendered=request.rendered,
        inputs=inputs,
        **{name: value for name, value in chosen.items() if value is not None},
    )

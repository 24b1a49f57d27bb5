"""The steps of ``graticule explain``: the one place that joins models, the analysis of shift and its page."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from graticule.errors import ConfigError, MissingExtraError

if TYPE_CHECKING:
    from graticule.data.predictions import Predictions
    from graticule.evaluation.shift.explain import ExplainConfig, Explanation
    from graticule.report.explanation.subject import Subject

PLACES_LIMIT = 4000
"""Images on a plane; more are drawn from at random."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainRequest:
    """What was typed after ``explain``."""

    images: Path
    predictions: Path
    source: str
    target: str
    features: Path | None = None
    masks: Path | None = None
    mask_rcnn: str | None = None
    model: str | None = None
    weights: str | None = None
    context: Path | None = None
    design: Path | None = None
    group: str | None = None
    superclasses: str | None = None
    adapted: Path | None = None
    saliency: str | None = None
    swap: bool = False
    distance: str = "energy"
    permutations: int = 199
    bootstraps: int = 100
    min_images: int = 8
    projection: bool = True
    title: str | None = None
    seed: int = 0
    output: Path = Path("explain")


def run_explain(request: ExplainRequest) -> list[str]:
    """Do every step, write the folder, and return what to print.

    Raises
    ------
    GraticuleError
        Something given cannot be used; no page and no table is written then.
    """
    from graticule.data.readers.images import read_images
    from graticule.data.readers.predictions import read_predictions
    from graticule.evaluation.shift.explain import explain_drop
    from graticule.evaluation.shift.regions import TwoRegions, join_regions

    _check(request)
    config = _configure(request)
    images = read_images(request.images)
    predictions = read_predictions(request.predictions)
    adapted = None if request.adapted is None else _read_adapted(request.adapted, predictions.model)
    regions = TwoRegions(source=request.source, target=request.target, group=request.group)
    superclasses = _read_superclasses(request, images)
    joined = join_regions(images, predictions, regions=regions)  # before anything long: queries and names may be wrong
    request = make_masks(request, joined.images)
    found = explain_drop(
        images,
        predictions,
        regions=regions,
        features=gather_features(request, joined.images),
        adapted=adapted,
        superclasses=superclasses,
        config=config,
    )
    return write_folder(request, found, adapted=adapted)


def make_masks(request: ExplainRequest, images: pl.DataFrame) -> ExplainRequest:
    """Return the request with the folder of masks that Mask R-CNN makes, where that was asked for."""
    if request.mask_rcnn is None:
        return request
    from graticule.models.mask_rcnn import write_masks

    folder = request.output / "artefacts" / "masks"
    write_masks(images, base=find_base(request), output=folder, weights=request.mask_rcnn)
    return replace(request, masks=folder, mask_rcnn=None)


def gather_features(request: ExplainRequest, images: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return the features that were given, and those that masks and a model make."""
    from graticule.data.store import read_table
    from graticule.data.tables import FEATURES

    files = {"appearance": request.features, "context": request.context, "design": request.design}
    tables = {kind: read_table(file, FEATURES) for kind, file in files.items() if file is not None}
    if request.masks is None:
        return tables
    from graticule.models.masked_features import extract_masked_features
    from graticule.models.registry import load_network

    assert request.model is not None
    made = extract_masked_features(
        images,
        base=find_base(request),
        network=load_network(request.model, weights=request.weights),
        masks=request.masks,
        output=request.output / "artefacts",
    )
    return tables | {"context": made.background, "design": made.foreground}


def write_folder(request: ExplainRequest, found: Explanation, *, adapted: Predictions | None) -> list[str]:
    """Write tables, figures and page; return what to print."""
    from graticule import __version__
    from graticule.cli.explain_pictures import look_at_failures, swap_and_predict
    from graticule.data.store import describe_run, replace_atomically, write_table
    from graticule.data.tables import METRICS
    from graticule.report.explanation.page import ExplanationPage, write_explanation
    from graticule.report.explanation.subject import Subject

    subject = Subject(
        model=found.joined.model,
        source=found.joined.source,
        target=found.joined.target,
        adapted="" if adapted is None else adapted.model,
    )
    metrics, notes, looked = found.metrics, list(found.notes), ()
    if request.swap:
        rows, sentences = swap_and_predict(request, found)
        metrics, notes = pl.concat([metrics, rows]), [*notes, *sentences]
    if request.saliency is not None:
        rows, looked = look_at_failures(request, found)
        metrics = pl.concat([metrics, rows])
    embeddings, note = _project(request, found, subject)
    notes += note
    inputs = {file.name: file for file in (request.images, request.predictions, request.adapted) if file is not None}
    settings = {key: str(value) if isinstance(value, Path) else value for key, value in asdict(request).items()}
    made = describe_run("explain", config=settings, inputs=inputs, seed=request.seed)
    output = request.output
    write_table(metrics, output / "metrics.parquet", METRICS, provenance=made)
    for name, table in {"metrics.csv": metrics, "labels.csv": found.labels}.items():
        with replace_atomically(output / name) as temporary:
            table.write_csv(temporary)
    page = write_explanation(
        output,
        ExplanationPage(
            metrics=metrics,
            labels=found.labels,
            subject=subject,
            headline=found.headline,
            notes=notes,
            version=__version__,
            title=request.title or "",
            embeddings=embeddings,
            looked=looked,
        ),
    )
    return [
        *found.headline,
        *(f"note: {note}" for note in notes),
        f"Labels:  {output / 'labels.csv'}",
        f"Numbers: {output / 'metrics.csv'}",
        f"Page:    {page}",
    ]


def _check(request: ExplainRequest) -> None:
    """Refuse options that do not go together.

    Raises
    ------
    ConfigError
        Two options contradict each other, or one lacks its other.
    """
    needs_model = [
        name
        for name, given in (
            ("--masks", request.masks),
            ("--mask-rcnn", request.mask_rcnn),
            ("--saliency", request.saliency),
        )
        if given is not None
    ]
    if needs_model and request.model is None:
        raise ConfigError(
            f"{' and '.join(needs_model)} without --model: expected the network to look into. Add --model, as in "
            "--model timm/resnet50."
        )
    if request.model is not None and not needs_model:
        raise ConfigError("--model without --masks or --saliency: it has nothing to do. Give one of them, or leave it.")
    if request.masks is not None and request.mask_rcnn is not None:
        raise ConfigError("--masks and --mask-rcnn: both give masks. Leave one of them out.")
    if request.swap and request.masks is None and request.mask_rcnn is None:
        raise ConfigError("--swap without --masks: backgrounds cannot be cut out. Add --masks and --model.")
    if (request.context is None) != (request.design is None):
        raise ConfigError("--context and --design: one alone was given, expected both. Add the other, or leave it out.")
    if (request.masks is not None or request.mask_rcnn is not None) and request.context is not None:
        raise ConfigError("--masks and --context: both make background features. Leave one of them out.")
    if request.saliency is not None:
        from graticule.errors import unknown_choice
        from graticule.models.saliency import SALIENCIES

        if request.saliency not in SALIENCIES:
            raise unknown_choice("method of saliency", request.saliency, SALIENCIES, where="--saliency")


def _configure(request: ExplainRequest) -> ExplainConfig:
    from graticule.errors import unknown_choice
    from graticule.evaluation.shift.decomposition import DecompositionConfig
    from graticule.evaluation.shift.distances import DISTANCES
    from graticule.evaluation.shift.explain import DISTANCES_SHOWN, ExplainConfig
    from graticule.evaluation.shift.permutation import PermutationConfig

    if request.distance not in DISTANCES:
        raise unknown_choice("distance", request.distance, DISTANCES, where="--distance")
    if request.permutations < 1:
        raise ConfigError(f"--permutations {request.permutations}: expected at least 1, as in 199.")
    return ExplainConfig(
        decomposition=DecompositionConfig(min_images=request.min_images, n_bootstraps=request.bootstraps, shown=True),
        permutation=PermutationConfig(n_permutations=request.permutations, shown=True),
        distances=tuple(dict.fromkeys((request.distance, *DISTANCES_SHOWN))),
        seed=request.seed,
    )


def _read_adapted(file: Path, model: str) -> Predictions:
    from graticule.data.readers.predictions import read_predictions

    adapted = read_predictions(file)
    if adapted.model != model:
        return adapted
    return read_predictions(file, name=f"{model}, adapted")


def _read_superclasses(request: ExplainRequest, images: pl.DataFrame) -> dict[str, str] | None:
    if request.superclasses is None:
        return None
    if request.superclasses != "wordnet":
        from graticule.cli.audit_people import read_superclasses

        return read_superclasses(request.superclasses)
    from graticule.models.meta_labels import group_by_wordnet

    labels = images["label"].drop_nulls().unique().sort().to_list() if "label" in images.columns else []
    return group_by_wordnet(labels)


def _project(
    request: ExplainRequest, found: Explanation, subject: Subject
) -> tuple[dict[str, pl.DataFrame], list[str]]:
    """Return places on a plane for each kind of features, and write them; a note where t-SNE is not installed."""
    import numpy as np

    from graticule.data.store import describe_run, write_table
    from graticule.data.tables import EMBEDDING
    from graticule.models.projection import FEWEST_IMAGES, project_features

    del subject
    if not request.projection or not found.features:
        return {}, []
    n_images = found.joined.images.height
    rows = np.arange(n_images)
    if n_images > PLACES_LIMIT:
        rows = np.sort(np.random.default_rng(request.seed).choice(n_images, size=PLACES_LIMIT, replace=False))
    if len(rows) < FEWEST_IMAGES:
        return {}, []
    places: dict[str, pl.DataFrame] = {}
    kinds = [kind for kind in found.features if kind != "appearance"] or list(found.features)
    for kind in kinds:
        try:
            plane = project_features(found.features[kind][rows].astype(np.float32), seed=request.seed)
        except MissingExtraError as error:
            return {}, [f"No picture by t-SNE: {error}"]
        outcomes = found.joined.outcomes
        columns: dict[str, Any] = {
            "image_id": found.joined.images["image_id"].gather(rows),
            "x": plane[:, 0].astype(np.float64),
            "y": plane[:, 1].astype(np.float64),
            "label": [outcomes.labels[code] for code in outcomes.label[rows]],
            "is_target": outcomes.is_target[rows],
        }
        places[kind] = pl.DataFrame(columns)
        name = "embedding.parquet" if len(kinds) == 1 else f"embedding-{kind}.parquet"
        made = describe_run("explain", config={"features": kind}, seed=request.seed)
        write_table(places[kind], request.output / name, EMBEDDING, provenance=made)
    return places, []


def find_base(request: ExplainRequest) -> Path:
    """Return the folder that the images' relative paths start from."""
    return request.images.parent if request.images.is_file() else request.images

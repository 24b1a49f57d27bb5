"""A linear probe: what can be read off a model's features by a straight line, learned in one part of the world.

Logistic regression is trained on the images that a query picks and predicts every image that has features. Images that
it was trained on are predicted by a probe that did not see them (cross-validation), so that accuracy at home is as
honest as accuracy abroad.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Float, Float32, Int

from graticule.data.tables import FEATURES, IMAGES
from graticule.data.validate import validate_table
from graticule.errors import ConfigError
from graticule.models.feature_scaling import Scaling, find_scaling
from graticule.models.folds import deal_folds
from graticule.models.logistic import LogisticFits, fit_logistic
from graticule.models.logistic_pass import NONE, FoldedRows
from graticule.models.principal_axes import find_axes
from graticule.models.probe_penalty import CHOICES, PenaltyChoice, choose_penalty
from graticule.models.probe_training import TrainingImages, pick_training_images, read_features
from graticule.models.processors import one_blas_thread

BLOCK_ROWS = 8192
DEFAULT_FOLDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeConfig:
    """How a probe is trained."""

    scale: str = "overall"
    """What is done to features first, one of `graticule.models.feature_scaling.SCALES`."""
    inverse_penalty: float | None = None
    """C of the logistic regression, as scikit-learn counts it; None has it chosen by cross-validation."""
    choice: str = "simplest"
    """How C is chosen, one of `graticule.models.probe_penalty.CHOICES`."""
    n_folds: int = DEFAULT_FOLDS
    """Folds whose images are predicted by a probe that did not see them; 0 predicts training images with the probe
    that was trained on them, which flatters it."""
    group: str | None = None
    """Column of the images; images that share its value stay in one fold."""
    tolerance: float = 1e-5
    """Share of the objective that a fit may still lie above its minimum, by its own estimate."""

    def __post_init__(self) -> None:
        """Refuse settings that have no meaning.

        Raises
        ------
        ConfigError
            A number is out of its range.
        """
        if self.inverse_penalty is not None and not 0 < self.inverse_penalty < float("inf"):
            raise ConfigError(f"inverse_penalty is {self.inverse_penalty}, expected a number above 0. Try 10.")
        if self.n_folds < 0 or self.n_folds == 1:
            raise ConfigError(f"n_folds is {self.n_folds}, expected at least 2, or 0 to do without. Try 5.")
        if not 0 < self.tolerance < 1:
            raise ConfigError(f"tolerance is {self.tolerance}, expected between 0 and 1. Try 1e-5.")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProbeResult:
    """What a probe predicts, and what is known of it.

    Parameters
    ----------
    predictions
        A predictions table of every image that has features, in their order: image_id, scores (probabilities),
        is_train, and fold (the one that the probe did not see; null where it was trained on all training images).
    info
        What the file of predictions says of itself.
    notes
        What the person who asked should know, a sentence each.
    """

    predictions: pl.DataFrame
    info: Mapping[str, Any]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Fitted:
    """A probe and, where there are folds, one for each of them; fits stand in the order (all, fold 0, fold 1, …)."""

    scaling: Scaling
    axes: Float32[np.ndarray, "d r"]
    fits: LogisticFits
    inverse_penalties: tuple[float, ...]
    penalty: PenaltyChoice | None
    folds: Int[np.ndarray, " n"]

    def predict_in_folds(
        self, features: Float[np.ndarray, "m d"], folds: Int[np.ndarray, " m"]
    ) -> Float32[np.ndarray, "m k"]:
        """Return probabilities, those of a fold's rows from the probe that did not see it; `NONE` takes the first."""
        scores = np.empty((len(features), self.fits.weights.shape[2]), dtype=np.float32)
        for start in range(0, len(features), BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            turned = self.scaling.apply(features[block]) @ self.axes
            for fold in np.unique(folds[block]):
                rows = np.flatnonzero(folds[block] == fold)
                scores[start + rows] = self.fits.predict(turned[rows], 0 if fold == NONE else 1 + int(fold))
        return scores


def probe_features(
    features: pl.DataFrame,
    images: pl.DataFrame,
    *,
    train: str,
    config: ProbeConfig | None = None,
    seed: int = 0,
    name: str | None = None,
    features_info: Mapping[str, Any] | None = None,
) -> ProbeResult:
    """Return what a probe that is trained on some images predicts for all images with features.

    Parameters
    ----------
    features
        A features table.
    images
        An images table with labels and the columns that ``train`` names. Images that it lists and that have no features
        are not predicted; features of images that it does not list are.
    train
        A query that picks the training images, such as ``region == "Europe" and split == "train"``.
    config
        How the probe is trained.
    seed
        Decides which image goes into which fold.
    name
        Name of the probe, as pages show it; by default what the features are of and the query.
    features_info
        What the file of features says of itself; goes into the predictions' info.

    Raises
    ------
    ConfigError
        The query or another setting has no meaning.
    TableError
        The query picks no image with a label and features, the images have one label only, or features are not finite.

    Notes
    -----
    The probe knows the labels of its training images and no others; an audit drops and counts images with other labels.
    The result does not depend on the order of the rows. The fit is exact: `graticule.models.logistic`.
    """
    settings = config or ProbeConfig()
    features = validate_table(features, FEATURES, where="features")
    images = validate_table(images, IMAGES, where="images")
    vectors = read_features(features)
    training = pick_training_images(features, images, train=train, group=settings.group)
    with one_blas_thread():
        fitted = _fit(vectors[training.positions], training, settings, seed=seed)
        fold = np.full(len(vectors), NONE)
        if settings.n_folds:
            fold[training.positions] = fitted.folds
        scores = fitted.predict_in_folds(vectors, fold)
    is_train = np.zeros(len(vectors), dtype=bool)
    is_train[training.positions] = True
    predictions = pl.DataFrame(
        {
            "image_id": features["image_id"],
            "scores": pl.Series(scores, dtype=pl.Array(pl.Float32, len(training.labels))),
            "is_train": is_train,
            "fold": pl.Series(fold, dtype=pl.Int32).replace(NONE, None),
        }
    )
    source = dict(features_info or {})
    n_unlisted = features.height - features.join(images, on="image_id", how="semi").height
    home = float((scores[training.positions].argmax(axis=1) == training.targets).mean())
    info = {
        "model": name or f"{source.get('model') or 'features'}, probe trained on {train}",
        "labels": list(training.labels),
        "kind": "probabilities",
        "features": source,
        "probe": _describe(fitted, training, settings, train=train, seed=seed, home=home, n_unlisted=n_unlisted),
    }
    return ProbeResult(predictions=predictions, info=info, notes=_note(fitted, training, settings, n_unlisted))


def _fit(vectors: Float[np.ndarray, "n d"], training: TrainingImages, config: ProbeConfig, *, seed: int) -> _Fitted:
    """Return the probes of the training images' vectors."""
    rng = np.random.default_rng(seed)
    scaling = find_scaling(vectors, config.scale)
    scaled = scaling.apply(vectors)
    axes = find_axes(scaled)
    needs_folds = config.n_folds > 0 or config.inverse_penalty is None
    n_folds = config.n_folds or DEFAULT_FOLDS
    folds = np.zeros(len(vectors), dtype=np.int64)
    if needs_folds:
        folds = deal_folds(training.targets, training.groups, n_folds=n_folds, rng=rng)
    order = np.argsort(folds, kind="stable")
    rows = FoldedRows(
        features=scaled[order] @ axes,
        targets=training.targets[order],
        n_labels=len(training.labels),
        bounds=tuple(np.searchsorted(folds[order], np.arange(folds.max() + 2)).tolist()),
    )
    left_out = [NONE, *range(int(folds.max()) + 1)] if config.n_folds else [NONE]
    penalty = None
    strengths = [config.inverse_penalty or 0.0] * len(left_out)
    if config.inverse_penalty is None:
        penalty = choose_penalty(rows, choice=config.choice, rng=rng)
        strengths = [penalty.inverse_penalty, *penalty.by_fold][: len(left_out)]
    fits = fit_logistic(rows, left_out=left_out, inverse_penalties=strengths, tolerance=config.tolerance)
    return _Fitted(
        scaling=scaling, axes=axes, fits=fits, inverse_penalties=tuple(strengths), penalty=penalty, folds=folds
    )


def _describe(
    fitted: _Fitted,
    training: TrainingImages,
    config: ProbeConfig,
    *,
    train: str,
    seed: int,
    home: float,
    n_unlisted: int,
) -> dict[str, Any]:
    """Return what a file of predictions says of its probe."""
    counts = np.bincount(training.targets, minlength=len(training.labels))
    digest = hashlib.sha256("\n".join(training.image_ids).encode()).hexdigest()
    described: dict[str, Any] = {
        "train": train,
        "seed": seed,
        **asdict(config),
        "n_train": len(training.image_ids),
        "n_train_by_label": dict(zip(training.labels, counts.tolist(), strict=True)),
        "train_image_ids_sha256": digest,
        "n_train_without_label": training.n_without_label,
        "n_train_without_features": training.n_without_features,
        "n_not_in_images": n_unlisted,
        "inverse_penalty": fitted.inverse_penalties[0],
        "inverse_penalty_by_fold": list(fitted.inverse_penalties[1:]),
        "n_iterations": int(fitted.fits.n_iterations[0]),
        "objective": float(fitted.fits.objective[0]),
        "gap": float(fitted.fits.gap[0]),
        "out_of_fold_accuracy" if config.n_folds else "training_accuracy": home,
    }
    if fitted.penalty is not None:
        described["inverse_penalties_tried"] = list(fitted.penalty.candidates)
        described["left_out_losses"] = [round(float(np.nanmean(row)), 6) for row in fitted.penalty.losses]
        described["chosen_by"] = f"{len(fitted.penalty.by_fold)}-fold cross-validation: {CHOICES[config.choice]}"
    return described


def _note(fitted: _Fitted, training: TrainingImages, config: ProbeConfig, n_unlisted: int) -> tuple[str, ...]:
    """Return sentences on what is unusual."""
    notes: list[str] = []
    if training.n_without_label:
        notes.append(f"{training.n_without_label} images match the query and have no label: not trained on.")
    if training.n_without_features:
        notes.append(f"{training.n_without_features} images match the query and have no features: not trained on.")
    if n_unlisted:
        notes.append(f"{n_unlisted} images have features and are not in the images table: predicted all the same.")
    n_folds = np.array([len(np.unique(fitted.folds[training.targets == k])) for k in range(len(training.labels))])
    lone = [label for label, n in zip(training.labels, n_folds, strict=True) if n < 2]
    if lone and config.n_folds:
        notes.append(
            f"{len(lone)} of {len(training.labels)} labels have all their training images in one fold, so those images "
            f"cannot be predicted right out of fold: {', '.join(lone[:5])}{' …' if len(lone) > 5 else ''}."
        )
    if fitted.penalty is not None and fitted.inverse_penalties[0] == fitted.penalty.candidates[-1]:
        notes.append(f"The weakest penalty that was tried (C = {fitted.inverse_penalties[0]:g}) was chosen.")
    if not fitted.fits.is_converged.all():
        notes.append(f"The fit did not reach its tolerance of {config.tolerance:g}; see 'gap' in the file's info.")
    return tuple(notes)

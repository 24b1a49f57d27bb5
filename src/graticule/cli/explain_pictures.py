"""The steps of ``graticule explain`` that look into a network: saliency of failures, and exchanged backgrounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from graticule.errors import ConfigError

if TYPE_CHECKING:
    from graticule.cli.explain_steps import ExplainRequest
    from graticule.evaluation.shift.explain import Explanation
    from graticule.models.saliency.map import Looker
    from graticule.report.explanation.saliency import Looked

LEAST_AGREEMENT = 0.9
"""Share of images for which the head that is read off the predictions has to give the same label."""


def make_looker(request: ExplainRequest, found: Explanation, *, option: str) -> Looker:
    """Return the network with a head that scores as the predictions do.

    The head is the network's own where it knows all labels, else the linear one that turns the features into the
    predictions' scores (that of a probe on these features).

    Raises
    ------
    ConfigError
        Neither gives the predictions' labels.
    """
    from graticule.models.feature_map import find_feature_map
    from graticule.models.read_head import find_own_head, read_head_off
    from graticule.models.registry import load_network
    from graticule.models.saliency.map import Looker

    assert request.model is not None
    network = load_network(request.model, weights=request.weights)
    labels = found.joined.outcomes.labels
    own = find_own_head(network, labels)
    if own is not None:
        weights, intercepts = own
    else:
        if "appearance" not in found.features:
            raise ConfigError(
                f"{option}: {request.model} does not know the labels itself, expected the features that the "
                "predictions "
                "were made from too. Give --features of the same model (graticule embed)."
            )
        head = read_head_off(found.features["appearance"], found.joined.scores)
        if head.agreement < LEAST_AGREEMENT:
            raise ConfigError(
                f"{option}: no linear head on --features gives the predictions (the best one agrees on "
                f"{head.agreement:.0%} of images), expected predictions of a probe on them. Give the features that the "
                "probe was trained on."
            )
        weights, intercepts = head.weights, head.intercepts
    feature_map = find_feature_map(network)
    return Looker(network=network, feature_map=feature_map, weights=weights, intercepts=intercepts)


def look_at_failures(request: ExplainRequest, found: Explanation) -> tuple[pl.DataFrame, tuple[Looked, ...]]:
    """Return how much saliency lies on the objects, and pictures of the target's failures."""
    from graticule.cli.explain_steps import find_base
    from graticule.evaluation.shift.saliency_shares import choose_failures, choose_images, measure_saliency
    from graticule.models.foreground import MaskFolder
    from graticule.models.look import LookConfig, look_at_images
    from graticule.report.explanation.saliency import Looked

    assert request.saliency is not None
    looker = make_looker(request, found, option="--saliency")
    joined = found.joined
    failures = choose_failures(joined, found.labels["label"].to_list())
    rows = choose_images(joined, seed=request.seed) if request.masks is not None else np.empty(0, dtype=np.int64)
    wanted = np.unique(np.concatenate([failures, rows]))
    label_of = {label: code for code, label in enumerate(joined.outcomes.labels)}
    # What a failure looked at is asked of the label that it took the image for.
    targets = np.array([label_of.get(joined.predicted[row], joined.outcomes.label[row]) for row in wanted])
    looks = look_at_images(
        joined.images[wanted.tolist()],
        base=find_base(request),
        looker=looker,
        targets=targets,
        config=LookConfig(method=request.saliency),
        masks=None if request.masks is None else MaskFolder(folder=request.masks),
        pictured=frozenset(joined.images["image_id"].gather(failures).to_list()),
    )
    by_row = dict(zip(wanted.tolist(), looks, strict=True))
    metrics = measure_saliency(
        joined,
        rows,
        on_foreground=np.array([by_row[row].on_foreground for row in rows.tolist()]),
        area=np.array([by_row[row].area for row in rows.tolist()]),
        method=request.saliency,
        seed=request.seed,
    )
    pictures = tuple(
        Looked(
            image_id=str(joined.images["image_id"][row]),
            region=joined.target,
            label=joined.outcomes.labels[joined.outcomes.label[row]],
            predicted=joined.predicted[row],
            photo=by_row[row].photo,
            overlay=by_row[row].overlay,
            share=f"{by_row[row].on_foreground:.0%}" if np.isfinite(by_row[row].on_foreground) else "",
        )
        for row in failures.tolist()
        if by_row[row].photo
    )
    return metrics, pictures


def swap_and_predict(request: ExplainRequest, found: Explanation) -> tuple[pl.DataFrame, list[str]]:
    """Return accuracies on images whose backgrounds were exchanged, within and across the regions, and sentences."""
    from graticule.cli.explain_steps import find_base
    from graticule.evaluation.shift.swaps import describe_swaps, measure_swaps, plan_swaps
    from graticule.models.background_swap import predict_swapped
    from graticule.models.foreground import MaskFolder

    assert request.masks is not None
    looker = make_looker(request, found, option="--swap")
    plan = plan_swaps(found.joined, seed=request.seed)
    predicted = predict_swapped(
        found.joined.images,
        plan.objects,
        plan.backgrounds,
        base=find_base(request),
        looker=looker,
        masks=MaskFolder(folder=request.masks),
    )
    metrics = measure_swaps(found.joined, plan, predicted)
    return metrics, describe_swaps(metrics, found.joined)

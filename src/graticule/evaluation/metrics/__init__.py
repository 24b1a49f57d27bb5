"""One file per metric; a metric is its file and its line here."""

from __future__ import annotations

from graticule.evaluation.metric import Metric
from graticule.evaluation.metrics import (
    accuracy,
    accuracy_difference,
    average_precision,
    balanced_accuracy,
    calibration_error,
    confusion,
    label_mix_accuracy,
    label_probability,
    partition,
    shrunken_accuracy,
    top5_accuracy,
    worst_gap,
)

METRICS: dict[str, Metric] = {
    "accuracy": Metric(measure=accuracy.measure_accuracy, names=accuracy.NAMES),
    "top5_accuracy": Metric(measure=top5_accuracy.measure_top5_accuracy, names=top5_accuracy.NAMES),
    "balanced_accuracy": Metric(measure=balanced_accuracy.measure_balanced_accuracy, names=balanced_accuracy.NAMES),
    "shrunken_accuracy": Metric(measure=shrunken_accuracy.measure_shrunken_accuracy, names=shrunken_accuracy.NAMES),
    "label_mix_accuracy": Metric(measure=label_mix_accuracy.measure_label_mix_accuracy, names=label_mix_accuracy.NAMES),
    "average_precision": Metric(measure=average_precision.measure_average_precision, names=average_precision.NAMES),
    "calibration_error": Metric(measure=calibration_error.measure_calibration_error, names=calibration_error.NAMES),
    "confusion": Metric(measure=confusion.measure_confusion, names=confusion.NAMES),
    "label_probability": Metric(measure=label_probability.measure_label_probability, names=label_probability.NAMES),
    "worst_gap": Metric(measure=worst_gap.measure_worst_gap, names=worst_gap.NAMES),
    "accuracy_difference": Metric(
        measure=accuracy_difference.measure_accuracy_difference, names=accuracy_difference.NAMES
    ),
    "partition": Metric(measure=partition.measure_partition, names=partition.NAMES),
}
"""Metrics of one model, in the order of the table."""

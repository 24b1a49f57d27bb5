"""Scores against what people see in each image, one metric a file; a metric is its file and its line here."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from graticule.evaluation.audit_config import AuditConfig
from graticule.evaluation.multi_label import (
    co_occurrence,
    confusion_correlation,
    corrections,
    label_ambiguity,
    main_label,
    mislabelled,
    multi_label_accuracy,
    object_accuracy,
    people_confusion,
    predicted_selection,
    remaining_gap,
    superclass_confusion,
)
from graticule.evaluation.multi_label.judged import Judged
from graticule.evaluation.multi_label.people import People

MODEL_METRICS: dict[str, Callable[[Judged, AuditConfig], pl.DataFrame]] = {
    "multi_label_accuracy": multi_label_accuracy.measure_multi_label_accuracy,
    "remaining_gap": remaining_gap.measure_remaining_gap,
    "object_accuracy": object_accuracy.measure_object_accuracy,
    "main_label": main_label.measure_main_label,
    "predicted_selection": predicted_selection.measure_predicted_selection,
    "corrections": corrections.measure_corrections,
    "superclass_confusion": superclass_confusion.measure_superclass_confusion,
    "confusion_correlation": confusion_correlation.measure_confusion_correlation,
}
"""Metrics of one model, in the order of the table."""

PEOPLE_METRICS: dict[str, Callable[[People, AuditConfig], pl.DataFrame]] = {
    "main_label": main_label.measure_given_main_label,
    "predicted_selection": predicted_selection.measure_given_selection,
    "label_ambiguity": label_ambiguity.measure_label_ambiguity,
    "mislabelled": mislabelled.measure_mislabelled,
    "co_occurrence": co_occurrence.measure_co_occurrence,
    "people_confusion": people_confusion.measure_people_confusion,
    "superclass_confusion": superclass_confusion.measure_people_superclass_confusion,
}
"""Metrics of the data set's labels, with no model."""

NAMES: tuple[str, ...] = tuple(
    dict.fromkeys(
        name
        for module in (
            *(multi_label_accuracy, remaining_gap, object_accuracy, main_label, predicted_selection, corrections),
            *(
                superclass_confusion,
                confusion_correlation,
                label_ambiguity,
                mislabelled,
                co_occurrence,
                people_confusion,
            ),
        )
        for name in module.NAMES
    )
)
"""Every name that these metrics may have in the column ``metric``."""

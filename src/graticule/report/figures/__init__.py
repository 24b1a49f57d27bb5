"""Figures, one a file: each takes the metrics table and returns a drawing with its table, or None."""

from graticule.report.figures.ambiguous_pairs import draw_ambiguous_pairs
from graticule.report.figures.calibration import draw_calibration
from graticule.report.figures.confusion_matrix import draw_confusion_matrix
from graticule.report.figures.confusions import draw_confusions
from graticule.report.figures.figure import Drawer
from graticule.report.figures.heatmap import draw_heatmap
from graticule.report.figures.label_doubts import draw_label_doubts
from graticule.report.figures.label_fidelity import draw_label_fidelity
from graticule.report.figures.label_ranges import draw_label_ranges
from graticule.report.figures.model_differences import draw_model_differences
from graticule.report.figures.probability_boxes import draw_probability_boxes
from graticule.report.figures.region_accuracy import draw_region_accuracy
from graticule.report.figures.world_map import draw_world_map

FIGURES: dict[str, Drawer] = {
    "region_accuracy": Drawer(
        draw=draw_region_accuracy, each_model=False, needs="The table names no {one}, so there is nothing to compare."
    ),
    "world_map": Drawer(
        draw=draw_world_map,
        each_model=True,
        needs="No countries are known for these {many}, so there is no map. `graticule locate` adds countries.",
    ),
    "label_ranges": Drawer(
        draw=draw_label_ranges,
        each_model=True,
        needs="No label has enough images in two {many}, so no label can be compared.",
    ),
    "heatmap": Drawer(draw=draw_heatmap, each_model=True, needs="There is no label or no {one} to show."),
    "confusions": Drawer(
        draw=draw_confusions, each_model=True, needs="No image was given a wrong label, so there are no confusions."
    ),
    "confusion_matrix": Drawer(
        draw=draw_confusion_matrix,
        each_model=True,
        needs="A full confusion matrix is drawn for 2 to 60 labels; every confusion stands in metrics.csv.",
    ),
    "probability_boxes": Drawer(
        draw=draw_probability_boxes,
        each_model=True,
        needs="The predictions hold labels only; this panel needs a probability for every label.",
    ),
    "calibration": Drawer(
        draw=draw_calibration,
        each_model=True,
        needs="The predictions hold no probabilities, so confidence cannot be compared with accuracy.",
    ),
    "model_differences": Drawer(
        draw=draw_model_differences,
        each_model=False,
        needs="One model was audited; give several prediction files to compare models on the same images.",
    ),
    "label_fidelity": Drawer(
        draw=draw_label_fidelity,
        each_model=True,
        needs="No labels that people accept were given; `graticule audit … --labels labels.parquet` adds them, and "
        "tells a gap between {many} apart from a fault of their labels.",
    ),
    "label_doubts": Drawer(draw=draw_label_doubts, each_model=False, needs="No labels that people accept were given."),
    "ambiguous_pairs": Drawer(
        draw=draw_ambiguous_pairs, each_model=False, needs="People told all labels apart, or none were given."
    ),
}
"""Figure → how it is drawn."""

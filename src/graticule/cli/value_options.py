"""Options that the commands of ``graticule value`` share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

images_option: Decorator = click.option(
    "--images", type=click.Path(path_type=Path), required=True, help="Images table with labels and regions."
)
pair_images_option: Decorator = click.option(
    "--images",
    "images",
    type=click.Path(path_type=Path),
    required=True,
    multiple=True,
    help="Images tables with labels, one for each FEATURES, or one for both.",
)
group_option: Decorator = click.option(
    "--group", metavar="COLUMN", help="Images that share a value are kept together: a sign, a shop, a person."
)
test_option: Decorator = click.option("--test", metavar="QUERY", help='Which images to test on: split == "test".')
penalty_option: Decorator = click.option(
    "--inverse-penalty", metavar="C", default=10.0, show_default=True, help="C of the probes, as in scikit-learn."
)
axes_option: Decorator = click.option(
    "--axes", "n_axes", metavar="N", default=512, show_default=True, help="Principal axes that probes see."
)
seed_option: Decorator = click.option("--seed", default=0, show_default=True, help="First of the seeds.")


def output_option(default: str) -> Decorator:
    """Return the option that names the folder to write."""
    return click.option(
        "-o",
        "--output",
        type=click.Path(path_type=Path),
        default=Path(default),
        show_default=True,
        help="Folder to write.",
    )

"""Features tables joined to the images that are explained: images that lack some are left out of all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from jaxtyping import Float

from graticule.errors import ConfigError, TableError, shown
from graticule.evaluation.shift.decomposition import APPEARANCE, CONTEXT, DESIGN
from graticule.evaluation.shift.outcomes import Outcomes
from graticule.evaluation.shift.regions import Joined
from graticule.models.probe_training import read_features

KINDS = (CONTEXT, DESIGN, APPEARANCE)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Picked:
    """Images with all kinds of features.

    Parameters
    ----------
    joined
        Those images.
    features
        Kind → features, shape ``(n, d)``, rows as in ``joined``.
    notes
        How many images were left out.
    """

    joined: Joined
    features: Mapping[str, Float[np.ndarray, "n d"]]
    notes: tuple[str, ...]


def pick_features(joined: Joined, tables: Mapping[str, pl.DataFrame]) -> Picked:
    """Return the images that every table has features of, with them.

    Raises
    ------
    ConfigError
        Context comes without design, or the other way round, or a kind is unknown.
    TableError
        A side has no image with features, or features are not finite.
    """
    if set(tables) - set(KINDS) or (CONTEXT in tables) != (DESIGN in tables):
        raise ConfigError(f"features of {shown(tables)}: expected context together with design, or appearance, or all.")
    if not tables:
        return Picked(joined=joined, features={}, notes=())
    names = joined.images.select("image_id").with_row_index("row")
    positions: dict[str, np.ndarray] = {}
    vectors: dict[str, np.ndarray] = {}
    for kind, table in tables.items():
        vectors[kind] = read_features(table)
        rows = table.select("image_id").with_row_index("position")
        found = names.join(rows, on="image_id", how="left", maintain_order="left")["position"]
        positions[kind] = found.cast(pl.Int64).fill_null(-1).to_numpy()
    kept = np.logical_and.reduce([place >= 0 for place in positions.values()])
    is_target = joined.outcomes.is_target
    for side, name in ((False, "source"), (True, "target")):
        if not kept[is_target == side].any():
            have = next(iter(tables.values()))["image_id"]
            raise TableError(
                f"features: none of the {int((is_target == side).sum())} images of the {name} is among them. Their "
                "names "
                f"are {shown(joined.images['image_id'].to_list(), limit=2)}; the features have "
                f"{shown(have.to_list(), limit=2)}. Embed this images table."
            )
    notes = ()
    if not kept.all():
        notes = (f"{int((~kept).sum())} images have no features (or no usable mask) and were left out.",)
    return Picked(
        joined=joined if kept.all() else _keep(joined, kept),
        features={kind: vectors[kind][positions[kind][kept]] for kind in tables},
        notes=notes,
    )


def _keep(joined: Joined, kept: np.ndarray) -> Joined:
    old = joined.outcomes
    codes = np.unique(old.label[kept])
    renamed = np.full(len(old.labels), -1)
    renamed[codes] = np.arange(len(codes))
    return replace(
        joined,
        images=joined.images.filter(pl.Series(kept)),
        outcomes=Outcomes(
            labels=tuple(old.labels[code] for code in codes),
            label=renamed[old.label[kept]],
            is_target=old.is_target[kept],
            is_right=old.is_right[kept],
            groups=old.groups[kept],
        ),
        is_right_top5=None if joined.is_right_top5 is None else joined.is_right_top5[kept],
        scores=joined.scores[kept][:, codes],
        predicted=tuple(name for name, is_kept in zip(joined.predicted, kept, strict=True) if is_kept),
    )

"""Many probes over one pool of images: features scaled and turned once, then a fit takes a fraction of a second.

Questions about the value of images ask for hundreds of probes that differ in which images they are trained on. Scale
and axes are those of the whole pool (they use no label), so that all probes live in one space and C means the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float32, Int

from graticule.errors import ConfigError
from graticule.models.feature_scaling import find_scaling
from graticule.models.logistic import fit_logistic
from graticule.models.logistic_pass import NONE, FoldedRows
from graticule.models.principal_axes import find_axes
from graticule.models.processors import one_blas_thread

MOST_FOR_AXES = 8192
"""Axes are found on no more images than these: their directions settle long before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeSpaceConfig:
    """How the probes of a pool are fitted."""

    inverse_penalty: float = 10.0
    """C of the logistic regression on features of mean squared length 1."""
    n_axes: int = 512
    """Principal axes that are kept; what lies along the others is dropped."""
    tolerance: float = 1e-4

    def __post_init__(self) -> None:
        """Refuse settings that have no meaning.

        Raises
        ------
        ConfigError
            A number is out of its range.
        """
        if not 0 < self.inverse_penalty < float("inf") or self.n_axes < 1 or not 0 < self.tolerance < 1:
            raise ConfigError(
                f"C {self.inverse_penalty:g}, {self.n_axes} axes, tolerance {self.tolerance:g}: expected a number "
                "above 0, at least 1, and between 0 and 1. Leave them out for the defaults."
            )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProbeSpace:
    """A pool of images in the coordinates that probes are fitted in.

    Parameters
    ----------
    places
        Coordinates of each image, shape ``(n, d)``.
    targets
        Indices of their labels, shape ``(n,)``.
    n_labels
        Number of labels.
    config
        How probes are fitted.
    kept_share
        Share of the features' variance along the axes that were kept.
    """

    places: Float32[np.ndarray, "n d"]
    targets: Int[np.ndarray, " n"]
    n_labels: int
    config: ProbeSpaceConfig
    kept_share: float

    def score(self, train: Int[np.ndarray, " m"], test: Int[np.ndarray, " t"]) -> Float32[np.ndarray, "t k"]:
        """Return the probabilities that a probe trained on some images of the pool gives to others.

        Notes
        -----
        A label without a training image gets probability 0. An image may stand in ``train`` several times.
        """
        rows = FoldedRows(
            features=np.ascontiguousarray(self.places[train]),
            targets=self.targets[train],
            n_labels=self.n_labels,
            bounds=(0, len(train)),
        )
        fits = fit_logistic(
            rows,
            left_out=[NONE],
            inverse_penalties=[self.config.inverse_penalty],
            tolerance=self.config.tolerance,
        )
        return fits.predict(self.places[test], 0)

    def test(self, train: Int[np.ndarray, " m"], test: Int[np.ndarray, " t"]) -> np.ndarray:
        """Return whether a probe trained on some images is right about others, shape ``(t,)``."""
        return self.score(train, test).argmax(axis=1) == self.targets[test]


def make_probe_space(
    vectors: Float[np.ndarray, "n d"],
    targets: Int[np.ndarray, " n"],
    *,
    n_labels: int,
    config: ProbeSpaceConfig | None = None,
    seed: int = 0,
) -> ProbeSpace:
    """Return a pool of images ready for many probes.

    Parameters
    ----------
    vectors
        Features of all images that any probe may be trained or tested on, shape ``(n, d)``.
    targets
        Indices of their labels, shape ``(n,)``.
    n_labels
        Number of labels.
    config
        How probes are fitted.
    seed
        Draws the images that the axes are found on, where there are very many.
    """
    settings = config or ProbeSpaceConfig()
    with one_blas_thread():
        scaled = find_scaling(vectors, "overall").apply(vectors)
        some = scaled
        if len(scaled) > MOST_FOR_AXES:
            rng = np.random.default_rng(seed)
            some = scaled[np.sort(rng.choice(len(scaled), size=MOST_FOR_AXES, replace=False))]
        axes = np.ascontiguousarray(find_axes(some)[:, : settings.n_axes])
        places = scaled @ axes
    whole = float(np.einsum("nd,nd->", scaled, scaled, dtype=np.float64))
    kept = float(np.einsum("nd,nd->", places, places, dtype=np.float64))
    return ProbeSpace(
        places=places,
        targets=targets.astype(np.int64),
        n_labels=n_labels,
        config=settings,
        kept_share=kept / whole if whole else 1.0,
    )

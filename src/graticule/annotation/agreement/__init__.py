"""How far workers agree beyond chance: one file per coefficient."""

from __future__ import annotations

from graticule.annotation.agreement import fleiss_kappa, krippendorff_alpha
from graticule.annotation.agreement.coefficient import Coefficient

COEFFICIENTS: dict[str, Coefficient] = {
    "krippendorff_alpha": krippendorff_alpha.measure_krippendorff_alpha,
    "fleiss_kappa": fleiss_kappa.measure_fleiss_kappa,
}
"""Coefficients by name, from sums over images (`graticule.annotation.agreement.sums`) to numbers."""

"""One file per algorithm, behind one interface; an algorithm is its file and its line here."""

from __future__ import annotations

from graticule.adaptation.algorithm import Algorithm
from graticule.adaptation.algorithms.cdan import Cdan
from graticule.adaptation.algorithms.dance import Dance
from graticule.adaptation.algorithms.dann import Dann
from graticule.adaptation.algorithms.mcc import Mcc
from graticule.adaptation.algorithms.mcd import Mcd
from graticule.adaptation.algorithms.mdd import Mdd
from graticule.adaptation.algorithms.memsac import MemSac
from graticule.adaptation.algorithms.ovanet import OvaNet
from graticule.adaptation.algorithms.safn import Safn
from graticule.adaptation.algorithms.source_only import SourceOnly
from graticule.adaptation.algorithms.target_supervised import TargetSupervised
from graticule.adaptation.algorithms.toalign import ToAlign
from graticule.adaptation.algorithms.unida import Unida

ALGORITHMS: dict[str, type[Algorithm]] = {
    "source_only": SourceOnly,
    "dann": Dann,
    "cdan": Cdan,
    "mcc": Mcc,
    "safn": Safn,
    "mdd": Mdd,
    "mcd": Mcd,
    "toalign": ToAlign,
    "memsac": MemSac,
    "unida": Unida,
    "dance": Dance,
    "ovanet": OvaNet,
    "target_supervised": TargetSupervised,
}
"""Algorithms by name, in the order of GeoNet's tables."""

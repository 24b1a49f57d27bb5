"""One file per list that a published data set comes as; the names are those of ``--layout``, beside the layouts'.

A list names photos that may lie elsewhere, or not be there at all.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from graticule.data.readers.listing import Listing
from graticule.data.readers.lists.dollar_street import read_dollar_street
from graticule.data.readers.lists.geode import read_geode
from graticule.data.readers.lists.geonet import read_geonet
from graticule.data.readers.lists.yfcc100m import read_yfcc100m

LISTS: dict[str, Callable[[Path], Listing]] = {
    "geode": read_geode,
    "geonet": read_geonet,
    "dollar_street": read_dollar_street,
    "yfcc100m": read_yfcc100m,
}
"""Published list → its reader: a file → what it names, unopened."""

"""GeoUniDA on GeoNet's own lists: labels that only one region has, and methods that should say so.

The lists (``usa_train.txt`` and so on, of GeoNet's uniDA folder) number shared labels 0 to 61, the USA's own 62 to 199
and Asia's own from 200; Asia's test list has 200 for all of its own. Needs the photos; nothing is fetched.

    python examples/geounida.py --photos GeoNet/GeoImNet --lists GeoNet/uniDA -o geounida/
    python examples/geounida.py --photos … --lists … --end-to-end --recipe official -o geounida_end_to_end/

The tables have closed-set and open-set accuracy and their harmonic mean, the H-score (table 5), always beside source
only that rejects where its entropy is above ln(k)/2. Frozen features and recipes are those of examples/geonet.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from geonet import Task, make_parser, read_lists, run_all

METHODS = "source_only,unida,dance,ovanet"


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the lists, run the methods from the first region to the second, and print the tables."""
    given = make_parser(__doc__, METHODS).parse_args(arguments)
    images = read_lists(given.lists, regions=given.regions)
    source, target = given.regions
    run_all(images, [Task(source=source, target=target)], given, allow_unknown=True)


if __name__ == "__main__":
    main()

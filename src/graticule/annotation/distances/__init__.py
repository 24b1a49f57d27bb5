"""Distances between labels, one file each; `graticule.annotation.distance` picks one by name."""

DISTANCES: dict[str, str] = {
    "wordnet": "graticule.annotation.distances.wordnet:WordnetDistance",
    "file": "graticule.annotation.distances.file:FileDistance",
    "none": "graticule.annotation.distances.none:NoDistance",
}
"""Name, as on the command line → where it is."""

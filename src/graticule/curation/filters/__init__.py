"""Filters of images, one a file; `graticule.curation.filters.apply` runs them in this order."""

FILTERS: dict[str, tuple[str, str]] = {
    "readable": (
        "graticule.curation.filters.readable:find_unreadable",
        "the file is there and decodes to the end",
    ),
    "resolution": (
        "graticule.curation.filters.resolution:find_small",
        "at least 640 × 480 pixels, either way up",
    ),
    "uniform": (
        "graticule.curation.filters.uniform:find_uniform",
        "not one colour nearly everywhere",
    ),
    "blurred": (
        "graticule.curation.filters.blurred:find_blurred",
        "not blurred all over",
    ),
    "faces": (
        "graticule.curation.filters.faces:find_faces",
        "shows no face (extra: faces)",
    ),
    "location": (
        "graticule.curation.filters.location:find_unlocated",
        "has a latitude and a longitude, and not 0° 0°",
    ),
    "in_region": (
        "graticule.curation.filters.in_region:find_outside",
        "lies in a region, and its coordinates do not lie in another",
    ),
    "one_label": (
        "graticule.curation.filters.one_label:find_ambiguous",
        "its tags name exactly one label, the image's own",
    ),
    "native_label": (
        "graticule.curation.filters.native_label:find_native",
        "its label is not native to one region",
    ),
    "min_images": (
        "graticule.curation.filters.min_images:find_rare",
        "its label has 20 images or more in every region",
    ),
}
"""Filter, as on the command line → where it is, and what holds for the images that it keeps. Those that judge an image
by itself come before those that count images, for what is left out must not count."""

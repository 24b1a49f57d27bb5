"""Rules that say which images are near-duplicates, one a file; `graticule.curation.duplicates.find` runs them."""

RULES: dict[str, tuple[str, str]] = {
    "sha256": (
        "graticule.curation.duplicates.sha256:link_equal_files",
        "the same file, byte for byte",
    ),
    "pixels": (
        "graticule.curation.duplicates.pixels:link_equal_pixels",
        "the same pixels, whatever else the files say",
    ),
    "perceptual": (
        "graticule.curation.duplicates.perceptual:link_alike",
        "the same picture: recompressed, resized, brighter, turned or a little cropped",
    ),
    "geonet": (
        "graticule.curation.duplicates.geonet:link_same_scene",
        "GeoNet's rule: near on the map, and near in colours and in 32 × 32 pixels",
    ),
    "embedding": (
        "graticule.curation.duplicates.embedding:link_near_features",
        "features whose cosine distance is small (needs --features)",
    ),
}
"""Rule, as on the command line → where it is, and what holds for two images that it links. The surer ones come first:
where several rules link two images, the first is given as the reason."""

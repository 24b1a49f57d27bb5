"""Patterns of folder names."""

from __future__ import annotations

import pytest

from graticule.data.readers.pattern import compile_pattern
from graticule.errors import ConfigError


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        ("{region}/{label}", "Africa/house/1.jpg", {"region": "Africa", "label": "house"}),
        ("{region}/{label}/", "Africa/house/1.jpg", {"region": "Africa", "label": "house"}),
        ("{region}/{label}/*", "Africa/house/1.jpg", {"region": "Africa", "label": "house"}),
        ("{region}/{label}", "Africa\\house\\1.jpg", {"region": "Africa", "label": "house"}),
        ("{region}/{label}", "Africa/1.jpg", None),
        ("{region}/{label}", "Africa/house/deep/1.jpg", None),
        ("{region}/{label}/**", "Africa/house/deep/er/1.jpg", {"region": "Africa", "label": "house"}),
        ("{region}/{label}/**", "Africa/house/1.jpg", {"region": "Africa", "label": "house"}),
        ("**/{label}", "a/b/house/1.jpg", {"label": "house"}),
        ("**/{label}", "house/1.jpg", {"label": "house"}),
        ("*/{label}", "x/house/1.jpg", {"label": "house"}),
        ("photos/{label}", "photos/house/1.jpg", {"label": "house"}),
        ("photos/{label}", "other/house/1.jpg", None),
        ("{label}/{track}_{frame}", "limit/00001_29.jpg", {"label": "limit", "track": "00001", "frame": "29"}),
        ("{label}/{track}_{frame}", "limit/00001.jpg", None),
        ("{source_id}_{label}.*", "n01440764_great_white.jpg", {"source_id": "n01440764", "label": "great_white"}),
        ("{label}/{worker}-*.jpg", "house/w1-3.jpg", {"label": "house", "worker": "w1"}),
        ("{split}/{label}", "Val/house/1.jpg", {"split": "validation", "label": "house"}),
        ("{label}", "a\nb/1\n.jpg", {"label": "a\nb"}),
        ("a+b/{label}", "a+b/(x)/1.jpg", {"label": "(x)"}),
    ],
)
def test_a_pattern_fills_columns_from_the_path(pattern, name, expected):
    assert compile_pattern(pattern).match(name) == expected


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("{region/{label}", "a brace without its partner"),
        ("region}/{label}", "a brace without its partner"),
        ("{label}/{label}", "a column stands there twice"),
        ("{a-b}/{label}", "is no column name"),
        ("{}/{label}", "is no column name"),
        ("{width}/{label}", "'width' is found out from the file itself"),
        ("{lable}", "Did you mean 'label'"),
        ("{Region}", "Did you mean 'region'"),
    ],
)
def test_a_pattern_that_is_none_is_named(pattern, message):
    with pytest.raises(ConfigError, match=message):
        compile_pattern(pattern)

from __future__ import annotations

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graticule.errors import FileError, GeoError
from graticule.geo.countries import load_countries
from graticule.geo.scheme_files import read_scheme_file

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
documents = st.recursive(
    scalars | st.sampled_from(["SWE", "Norway", "regions", "NO"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["regions", "title", "others", "extended", "North", ""]), inner, max_size=4)
    ),
    max_leaves=12,
)
quiet = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)


def check(path):
    fault = None
    try:
        scheme = read_scheme_file(path)
    except (GeoError, FileError) as error:
        fault = str(error)
    if fault is not None:
        assert str(path) in fault
        return
    codes = [code for region in scheme.regions.values() for code in region]
    assert codes
    assert len(codes) == len(set(codes))
    assert set(codes) <= set(load_countries())


@quiet
@given(document=documents)
def test_any_yaml_document_is_a_scheme_or_a_clear_error(tmp_path, document):
    path = tmp_path / "fuzz.yaml"
    path.write_text(yaml.safe_dump(document, allow_unicode=True), encoding="utf-8")
    check(path)


@quiet
@given(text=st.text(st.characters(codec="utf-8"), max_size=200))
@pytest.mark.parametrize("name", ["fuzz.yaml", "fuzz.csv", "fuzz.tsv"])
def test_any_text_is_a_scheme_or_a_clear_error(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    check(path)


@quiet
@given(data=st.binary(max_size=100))
def test_any_bytes_are_a_scheme_or_a_clear_error(tmp_path, data):
    path = tmp_path / "fuzz.csv"
    path.write_bytes(data)
    check(path)


cells = st.sampled_from(["Sweden", "NO", "Atlantis", "", "*", "North", "South, far", '"', "Korea", " fr "])


@quiet
@given(rows=st.lists(st.lists(cells, min_size=1, max_size=3), max_size=6))
def test_any_rows_under_a_header_are_a_scheme_or_a_clear_error(tmp_path, rows):
    path = tmp_path / "fuzz.csv"
    path.write_text("\n".join(["country,region", *(",".join(row) for row in rows)]), encoding="utf-8")
    check(path)

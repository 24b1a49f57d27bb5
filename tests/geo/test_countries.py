from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graticule.errors import GeoError
from graticule.geo.countries import find_codes, find_country, fold_name, load_countries

SPELLINGS = {
    "TUR": ["Turkey", "Türkiye", "turkiye", "TR", "tur", "Republic of Turkey"],
    "GBR": ["UK", "U.K.", "United_Kingdom", "Great Britain", "England", "gb", "Scotland"],
    "USA": ["USA", "U.S.A.", "US", "United States", "United States of America", "america", "The United States"],
    "KOR": ["South Korea", "South_Korea", "Republic of Korea", "Korea, Rep.", "Korea (South)", "ROK", "S. Korea"],
    "PRK": ["North Korea", "Korea, Dem. People's Rep.", "DPRK", "Democratic People's Republic of Korea"],
    "CIV": ["Ivory Coast", "Côte d'Ivoire", "Côte d’Ivoire", "Cote d'Ivoire", "COTE D IVOIRE"],
    "VNM": ["Viet Nam", "Vietnam", "Socialist Republic of Vietnam"],
    "CZE": ["Czech Republic", "Czechia", "Česko"],
    "ZAF": ["South Africa", "South_Africa", "SouthAfrica"],
    "COD": ["DR Congo", "Congo, Dem. Rep.", "Democratic Republic of the Congo", "Zaire", "Congo-Kinshasa"],
    "COG": ["Congo", "Congo, Rep.", "Republic of the Congo", "Congo-Brazzaville"],
    "RUS": ["Russia", "Russian Federation", "Россия"],
    "BHS": ["Bahamas, The", "The Bahamas", "bahamas"],
    "KNA": ["St. Kitts & Nevis", "Saint Kitts and Nevis", "St Kitts and Nevis"],
    "MMR": ["Burma", "Myanmar", "Myanmar (Burma)"],
    "SWZ": ["Swaziland", "Eswatini", "Kingdom of Eswatini"],
    "MKD": ["Macedonia", "North Macedonia", "FYROM"],
    "TWN": ["Taiwan", "Taiwan, China", "Republic of China", "Chinese Taipei"],
    "CHN": ["China", "People's Republic of China", "中国", "PRC"],
    "PSE": ["Palestine", "West Bank and Gaza", "State of Palestine"],
    "XKX": ["Kosovo", "XK", "XKX"],
    "DEU": ["Germany", "Deutschland", "Allemagne", "ドイツ", "Federal Republic of Germany"],
    "IRN": ["Iran", "Iran, Islamic Rep.", "Iran (Islamic Republic of)", "Persia"],
    "TZA": ["Tanzania", "Tanzania, United Republic of", "United Republic of Tanzania"],
    "HKG": ["Hong Kong", "Hong_Kong", "Hong Kong SAR, China"],
    "NAM": ["NA", "Namibia"],
    "NOR": ["NO", "Norway", "Kingdom of Norway"],
    "AND": ["AND", "Andorra"],
    "NLD": ["Holland", "the Netherlands", "Kingdom of the Netherlands"],
    "DMA": ["Dominica"],
    "DOM": ["Dominican Republic"],
    "GIN": ["Guinea"],
    "GNB": ["Guinea-Bissau", "Guinea Bissau"],
    "NER": ["Niger"],
    "NGA": ["Nigeria"],
    "STP": ["Sao Tome and Principe", "São Tomé & Príncipe"],
    "CPV": ["Cape Verde", "Cabo Verde"],
    "TLS": ["East Timor", "Timor-Leste"],
    "LAO": ["Laos", "Lao PDR"],
    "ARE": ["United_Arab_Emirates", "UAE"],
    "SAU": ["Saudi_Arabia", "Kingdom of Saudi Arabia", "KSA"],
    "GRC": ["Greece", "Hellas", "EL"],
    "BIH": ["Bosnia and Herzegovina", "Bosnia & Herzegovina", "Bosnia-Herzegovina"],
}


@pytest.mark.parametrize(("code", "text"), [(code, text) for code, texts in SPELLINGS.items() for text in texts])
def test_common_spellings_are_understood(code, text):
    assert find_country(text).alpha3 == code


def test_every_country_is_found_by_its_codes_and_its_name():
    countries = load_countries()
    assert len(countries) == 250
    for code, country in countries.items():
        assert len(code) == 3
        assert len(country.alpha2) == 2
        assert find_country(code.lower()).alpha3 == code
        assert find_country(country.alpha2).alpha3 == code
        assert find_country(country.name).alpha3 == code
        assert find_country(country.name.upper().replace(" ", "_")).alpha3 == code
    assert len({country.alpha2 for country in countries.values()}) == 250
    assert len({country.name for country in countries.values()}) == 250


@pytest.mark.parametrize("text", ["Korea", "Virgin Islands", "Yugoslavia", "Soviet Union", "Czechoslovakia"])
def test_a_name_of_several_countries_is_an_error_that_names_them(text):
    with pytest.raises(GeoError, match=r"write .*\([A-Z]{3}\) or"):
        find_country(text)


def test_an_unknown_name_is_an_error_with_the_nearest_name():
    with pytest.raises(GeoError, match="unknown country 'Germny' \\(did you mean 'Germany'\\?\\)"):
        find_country("Germny")


@pytest.mark.parametrize("text", ["", " ", "the", "Republic of", "???", "xx", "Atlantis", "-99", "Earth"])
def test_what_is_no_country_is_an_error(text):
    with pytest.raises(GeoError, match="unknown country"):
        find_country(text)


def test_all_unknown_names_of_a_column_are_reported_at_once():
    with pytest.raises(GeoError) as caught:
        find_codes(["Germany", "Atlantis", None, "Mordor", "Atlantis", "Narnia"], where="a.csv")
    message = str(caught.value)
    assert message.startswith("a.csv: unknown countries")
    assert all(message.count(name) == 1 for name in ("Atlantis", "Mordor", "Narnia"))
    assert "Germany" not in message


def test_many_unknown_names_are_counted():
    with pytest.raises(GeoError, match=r"and 35 more"):
        find_codes([f"Nowhere {number}" for number in range(40)])


def test_blank_names_have_no_code():
    assert find_codes(pl.Series(["  ", None, "", " fr "])).to_list() == [None, None, None, "FRA"]
    assert find_codes([]).to_list() == []


def test_a_column_of_nulls_has_no_codes():
    assert find_codes(pl.Series([None, None])).to_list() == [None, None]


@given(st.text(max_size=30))
def test_any_text_is_a_country_or_an_error(text):
    try:
        code = find_country(text).alpha3
    except GeoError:
        return
    assert code in load_countries()


@given(st.text(max_size=30))
def test_folding_twice_changes_nothing_more(text):
    assert fold_name(fold_name(text)) == fold_name(text)

from __future__ import annotations

import csv

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graticule.errors import GeoError
from graticule.geo.borders import BORDER, CELL_UNITS, load_borders
from graticule.geo.countries import find_country, load_countries
from graticule.geo.countries_at import find_areas, find_countries

HARD_POINTS = {
    # enclaves and small states
    "Lesotho, inside South Africa": (-29.31, 27.48, "LSO"),
    "Vatican City, inside Rome": (41.9022, 12.4533, "VAT"),
    "San Marino, inside Italy": (43.936, 12.446, "SMR"),
    "Monaco": (43.7325, 7.42, "MCO"),
    "Liechtenstein": (47.14, 9.52, "LIE"),
    "Singapore": (1.352, 103.82, "SGP"),
    "Malta": (35.9, 14.5, "MLT"),
    "Hong Kong": (22.3, 114.17, "HKG"),
    "Macao": (22.19, 113.54, "MAC"),
    "Gibraltar": (36.14, -5.35, "GIB"),
    # exclaves
    "Kaliningrad": (54.71, 20.51, "RUS"),
    "Nakhchivan": (39.21, 45.41, "AZE"),
    "Cabinda": (-5.55, 12.2, "AGO"),
    "Ceuta": (35.888, -5.316, "ESP"),
    "Melilla": (35.292, -2.938, "ESP"),
    "Llívia, a Spanish town in France": (42.465, 1.98, "ESP"),
    "Büsingen, a German town in Switzerland": (47.697, 8.69, "DEU"),
    "Campione, an Italian town in Switzerland": (45.97, 8.97, "ITA"),
    "Oecusse, Timor-Leste in Indonesia": (-9.2, 124.37, "TLS"),
    "Musandam, Oman beyond the Emirates": (26.2, 56.25, "OMN"),
    "Alaska": (64.84, -147.72, "USA"),
    "French Guiana": (4.93, -52.33, "GUF"),
    "Réunion": (-21.1, 55.5, "REU"),
    "Svalbard": (78.22, 15.65, "SJM"),
    "Bonaire": (12.15, -68.27, "BES"),
    "Canary Islands": (28.1, -15.4, "ESP"),
    # the antimeridian
    "Fiji, on 180°": (-16.8, 180.0, "FJI"),
    "Fiji, on -180°": (-16.8, -180.0, "FJI"),
    "Fiji, west of it": (-16.85, 179.99, "FJI"),
    "Fiji, east of it": (-16.85, -179.99, "FJI"),
    "Chukotka, beyond it": (66.0, -175.0, "RUS"),
    "Chukotka, before it": (64.73, 177.5, "RUS"),
    "Wrangel Island, on it": (71.2, 180.0, "RUS"),
    "Tarawa, Kiribati": (1.33, 172.98, "KIR"),
    "Kiritimati, Kiribati": (1.87, -157.4, "KIR"),
    # poles and oceans
    "south pole": (-90.0, 0.0, "ATA"),
    "south pole, another longitude": (-90.0, 123.4, "ATA"),
    "Antarctica": (-75.0, 0.0, "ATA"),
    "north pole": (90.0, 0.0, None),
    "Null Island": (0.0, 0.0, None),
    "middle of the Atlantic": (0.0, -30.0, None),
    "middle of the Pacific": (40.0, -160.0, None),
    "Caspian Sea, far from its shores": (41.8, 50.6, None),
    "Spratly Islands": (8.64, 111.92, None),
    # coasts and lakes
    "the pier of Brighton": (50.8147, -0.1365, "GBR"),
    "Bondi beach": (-33.8915, 151.2767, "AUS"),
    "Copacabana beach": (-22.97, -43.18, "BRA"),
    "the end of Key West": (24.546, -81.81, "USA"),
    "10 km off Lisbon": (38.69, -9.6, "PRT"),
    "middle of the Channel, British side": (50.3, -1.3, "GBR"),
    "Lake Victoria, Uganda": (-0.3, 32.8, "UGA"),
    "Malé, Maldives": (4.175, 73.509, "MDV"),
    "Yap, Micronesia": (9.51, 138.12, "FSM"),
    "Pitcairn": (-25.066, -130.1, "PCN"),
    "Easter Island": (-27.12, -109.37, "CHL"),
    "Tristan da Cunha": (-37.07, -12.31, "SHN"),
    # borders
    "Niagara Falls, Canadian side": (43.0896, -79.0849, "CAN"),
    "Niagara Falls, American side": (43.083, -79.06, "USA"),
    "Strasbourg": (48.573, 7.752, "FRA"),
    "Kehl, across the river": (48.573, 7.815, "DEU"),
    "Tijuana": (32.51, -117.03, "MEX"),
    "Tornio": (65.86, 24.2, "FIN"),
    "Haparanda": (65.835, 24.12, "SWE"),
    "Victoria Falls, Zimbabwe": (-17.93, 25.83, "ZWE"),
    "Livingstone, Zambia": (-17.85, 25.86, "ZMB"),
}

DISPUTED = {
    # place: (latitude, longitude, de facto, United Nations)
    "Simferopol, Crimea": (44.95, 34.1, "RUS", "UKR"),
    "Donetsk": (48.0, 37.8, "UKR", "UKR"),
    "Pristina, Kosovo": (42.66, 21.16, "XKX", "SRB"),
    "Taipei": (25.03, 121.56, "TWN", "CHN"),
    "Laayoune, Western Sahara west of the berm": (27.15, -13.2, "MAR", "ESH"),
    "Tifariti, Western Sahara east of the berm": (26.16, -10.57, "ESH", "ESH"),
    "Tan-Tan, Morocco": (28.43, -11.1, "MAR", "MAR"),
    "Srinagar, Kashmir": (34.08, 74.8, "IND", "IND"),
    "Muzaffarabad, Kashmir": (34.37, 73.47, "PAK", "PAK"),
    "Aksai Chin": (35.2, 79.2, "CHN", "CHN"),
    "Kyrenia, Northern Cyprus": (35.336, 33.319, "CYP", "CYP"),
    "Nicosia, south": (35.16, 33.36, "CYP", "CYP"),
    "Akrotiri, British base": (34.59, 32.99, "GBR", "GBR"),
    "Katzrin, Golan Heights": (32.99, 35.69, "ISR", "SYR"),
    "Majdal Shams, Golan Heights": (33.27, 35.77, "ISR", "SYR"),
    "Tiberias, Israel": (32.79, 35.53, "ISR", "ISR"),
    "Ein Gev, Israel": (32.782, 35.64, "ISR", "ISR"),
    "Quneitra, Syria": (33.126, 35.824, "SYR", "SYR"),
    "East Jerusalem": (31.785, 35.237, "ISR", "PSE"),
    "West Jerusalem": (31.78, 35.2, "ISR", "ISR"),
    "Ramallah": (31.9, 35.2, "PSE", "PSE"),
    "Gaza": (31.5, 34.46, "PSE", "PSE"),
    "Stanley, Falkland Islands": (-51.7, -57.85, "FLK", "FLK"),
    "Hala'ib": (22.22, 36.64, "EGY", "EGY"),
    "Bir Tawil": (21.87, 33.75, None, None),
    "Abyei": (9.6, 28.4, "SSD", "SSD"),
    "Sukhumi, Abkhazia": (43.0, 41.02, "GEO", "GEO"),
    "Tiraspol, Transnistria": (46.84, 29.63, "MDA", "MDA"),
    "Hargeisa, Somaliland": (9.56, 44.06, "SOM", "SOM"),
    "Senkaku Islands": (25.745, 123.47, "JPN", "JPN"),
    # Rocks that Natural Earth does not show have no waters.
    "Liancourt Rocks": (37.24, 131.87, None, None),
    "Iturup, Kuril Islands": (45.0, 147.9, "RUS", "RUS"),
    "Baikonur": (45.62, 63.31, "KAZ", "KAZ"),
    # The enclaves of Baarle are smaller than the borders are exact; the documentation says so.
    "Baarle-Hertog, a Belgian town in the Netherlands": (51.443, 4.93, "NLD", "NLD"),
}


@pytest.mark.parametrize(("latitude", "longitude", "code"), HARD_POINTS.values(), ids=HARD_POINTS)
def test_hard_points_have_their_documented_answer(latitude, longitude, code):
    assert find_countries(latitude, longitude).tolist() == [code]


@pytest.mark.parametrize(("latitude", "longitude", "de_facto", "united_nations"), DISPUTED.values(), ids=DISPUTED)
def test_disputed_places_follow_the_policy(latitude, longitude, de_facto, united_nations):
    assert find_countries(latitude, longitude).tolist() == [de_facto]
    assert find_countries(latitude, longitude, policy="united-nations").tolist() == [united_nations]


def test_every_country_can_be_found():
    """Each of the 250 codes has an area of its own in the borders."""
    assert set(load_countries()) <= set(load_borders().areas)


def test_points_without_a_place_have_no_country():
    found = find_countries([None, 48.86, np.nan, 48.86], [2.35, None, np.nan, 2.35])
    assert found.tolist() == [None, None, None, "FRA"]


def test_series_scalars_and_integers_are_taken():
    assert find_countries(pl.Series([48.86, None]), pl.Series([2.35, 1.0])).tolist() == ["FRA", None]
    assert find_countries(47, 8).tolist() == ["CHE"]
    assert find_countries([], []).tolist() == []


def test_coordinates_out_of_range_are_named_once_with_a_hint():
    with pytest.raises(GeoError) as caught:
        find_countries([139.7, 0.0, -97.0, *[95.0] * 9], [35.7, 190.0, 0.0, *[0.0] * 9])
    message = str(caught.value)
    assert "row 1: latitude is 139.7, row 3: latitude is -97" in message
    assert "and 6 more" in message
    assert "Were latitude and longitude swapped?" in message
    assert "row 2: longitude is 190; expected -180 to 180. Subtract 360" in message


def test_infinite_coordinates_are_out_of_range():
    with pytest.raises(GeoError, match="latitude is inf"):
        find_countries([np.inf], [0.0])


@pytest.mark.parametrize(
    ("latitude", "longitude"), [([1.0, 2.0], [1.0]), (np.ones((1, 1)), np.ones((1, 1))), (pl.Series(["north"]), [1.0])]
)
def test_what_is_not_a_list_of_points_is_an_error(latitude, longitude):
    with pytest.raises(GeoError):
        find_countries(latitude, longitude)


latitudes = st.floats(-90, 90)
longitudes = st.floats(-180, 180)


@given(st.lists(st.tuples(latitudes, longitudes), max_size=50))
def test_any_point_gives_a_code_or_none(points):
    found = find_countries([north for north, _ in points], [east for _, east in points])
    assert len(found) == len(points)
    assert all(code is None or code in load_countries() for code in found)


@given(latitudes)
def test_both_sides_of_the_antimeridian_are_one(latitude):
    west, east = find_countries([latitude, latitude], [-180.0, 180.0])
    assert west == east


@given(st.lists(st.tuples(latitudes, longitudes), min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_order_does_not_matter(points, random):
    order = list(range(len(points)))
    random.shuffle(order)
    found = find_areas([p[0] for p in points], [p[1] for p in points])
    shuffled = find_areas([points[i][0] for i in order], [points[i][1] for i in order])
    assert shuffled.tolist() == found[order].tolist()


def test_many_points_near_borders_are_answered_in_blocks(monkeypatch):
    """Splitting the work changes no answer."""
    rng = np.random.default_rng(5)
    rows, columns = np.nonzero(load_borders().grid == BORDER)
    pick = rng.integers(len(rows), size=3000)
    latitude = (rows[pick] + rng.random(3000)) * CELL_UNITS / 1e5 - 90
    longitude = (columns[pick] + rng.random(3000)) * CELL_UNITS / 1e5 - 180
    whole = find_areas(latitude, longitude)
    monkeypatch.setattr("graticule.geo.countries_at.PAIRS_AT_ONCE", 1000)
    assert find_areas(latitude, longitude).tolist() == whole.tolist()
    assert len(set(whole.tolist())) > 100


def test_real_photographs_lie_in_the_country_of_their_nearest_city(shared):
    """80 of 87 photos and more; the file's own country is that of the nearest city, which is wrong near borders."""
    with (shared("images/geotagged") / "index.csv").open(encoding="utf-8", newline="") as file:
        photos = list(csv.DictReader(file))
    found = find_countries([float(p["lat"]) for p in photos], [float(p["lon"]) for p in photos])
    wanted = [find_country(p["country_code"]).alpha3 for p in photos]
    wrong = [(p["file"], f, w) for p, f, w in zip(photos, found, wanted, strict=True) if f != w]
    # Crimea, 45.75° N 33.22° E, is the one place where the nearest city's country is a matter of policy.
    assert all((found, wanted) == ("RUS", "UKR") for _, found, wanted in wrong), wrong


def test_dollar_street_country_centres_lie_in_their_country(shared):
    table = pl.read_csv(shared("data/dollarstreet/metadata.csv"), infer_schema_length=0)
    places = (
        table.select("country", pl.col("lat").cast(pl.Float64), pl.col("lng").cast(pl.Float64)).unique().sort("country")
    )
    found = find_countries(places["lat"], places["lng"])
    for country, code, north, east in zip(places["country"], found, places["lat"], places["lng"], strict=True):
        assert code == find_country(country).alpha3, (country, code, north, east)

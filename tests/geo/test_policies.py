from __future__ import annotations

import pytest

from graticule.errors import ConfigError, GeoError
from graticule.geo.borders import load_borders
from graticule.geo.countries import load_countries
from graticule.geo.policies import AREAS, load_policy
from graticule.geo.yaml_files import list_packaged


def test_every_place_that_the_borders_draw_apart_is_named():
    assert set(load_borders().areas) == set(load_countries()) | set(AREAS)


@pytest.mark.parametrize("name", list_packaged("policies"))
def test_a_policy_decides_every_place_and_says_so_in_words(name):
    policy = load_policy(name)
    assert set(policy.areas) == set(AREAS)
    for place in (
        "Crimea",
        "Kosovo",
        "Taiwan",
        "Western Sahara",
        "Golan",
        "Jerusalem",
        "Cyprus",
        "Kashmir",
        "Bir Tawil",
    ):
        assert place in policy.text
    for place in ("Hala'ib", "Abyei", "Falkland", "Gibraltar", "Antarctica"):
        assert place in policy.text
    assert f"policy '{name}'" in policy.describe()
    for area in load_borders().areas:
        assert policy.country_of(area) in {*load_countries(), None}


def test_an_override_changes_one_place_and_is_printed():
    policy = load_policy("de-facto", overrides=["crimea=Ukraine", "Kosovo=srb", "bir_tawil=Egypt", "Hong Kong=CHN"])
    assert [policy.country_of(area) for area in ("crimea", "XKX", "bir_tawil", "HKG", "golan_heights")] == [
        "UKR", "SRB", "EGY", "CHN", "ISR"
    ]  # fmt: skip
    text = policy.describe()
    assert "Changed by the user: Crimea counts as UKR; Kosovo (XKX) counts as SRB" in text


def test_a_place_can_be_given_to_nobody():
    policy = load_policy("de-facto", overrides=["crimea=none", "ATA=none"])
    assert policy.country_of("crimea") is None
    assert policy.country_of("ATA") is None


@pytest.mark.parametrize("override", ["crimea", "=UKR", "Atlantis=UKR", "crimea=Atlantis", ""])
def test_an_override_that_cannot_be_read_is_an_error(override):
    with pytest.raises(GeoError, match="--override"):
        load_policy("de-facto", overrides=[override])


def test_a_users_policy_starts_from_another(tmp_path):
    path = tmp_path / "ours.yaml"
    path.write_text("title: Ours\ntext: As we see it.\nbased_on: de-facto\nareas:\n  crimea: UKR\n  bir_tawil: null\n")
    policy = load_policy(path)
    assert policy.name == "ours"
    assert policy.country_of("crimea") == "UKR"
    assert policy.country_of("northern_cyprus") == "CYP"
    assert policy.describe().startswith("Ours (policy 'ours'). As we see it.")


FAULTS = {
    "areas missing": ("areas: {crimea: UKR}\n", "no country for .* under 'areas'"),
    "unknown area": ("based_on: de-facto\nareas: {atlantis: UKR}\n", "unknown country 'atlantis'.*golan_heights"),
    "unknown country": ("based_on: de-facto\nareas: {crimea: Atlantis}\n", "unknown country 'Atlantis'"),
    "areas is a list": ("based_on: de-facto\nareas: [crimea]\n", "'areas' is"),
    "unknown key": ("based_on: de-facto\narea: {}\n", "unknown key 'area'"),
    "unknown base": ("based_on: us\n", "unknown policy 'us'"),
    "empty": ("", "holds nothing"),
}


@pytest.mark.parametrize(("text", "message"), FAULTS.values(), ids=FAULTS)
def test_a_faulty_policy_file_is_one_clear_error(tmp_path, text, message):
    path = tmp_path / "p.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises((GeoError, ConfigError), match=message):
        load_policy(path)


def test_an_unknown_policy_is_an_error_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"unknown policy 'un'\. Known: de-facto, united-nations"):
        load_policy("un")

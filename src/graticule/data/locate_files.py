"""An images table on disk, located and written again, whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from graticule.data.locate import LocateResult, forget_located, locate_images
from graticule.data.moved_paths import move_paths
from graticule.data.readers.images import read_images
from graticule.data.readers.rows import PARQUET, is_table
from graticule.data.store import describe_run, read_info, write_table
from graticule.data.tables import IMAGES
from graticule.errors import ConfigError, FileError
from graticule.geo.policies import load_policy
from graticule.geo.schemes import load_scheme


def locate_file(
    source: Path,
    output: Path | None,
    *,
    scheme: str = "geode",
    policy: str = "de-facto",
    overrides: Sequence[str] = (),
    assign: Sequence[str] = (),
    overwrite: bool = False,
) -> tuple[LocateResult, Path]:
    """Return an images table with countries and regions, and where it was written.

    Parameters
    ----------
    source
        The images table.
    output
        Where to write; None replaces a Parquet table, and writes beside any other.
    scheme, policy, overwrite
        See `graticule.data.locate.locate_images`.
    overrides
        Changes of the policy, as ``PLACE=COUNTRY``.
    assign
        Changes of the scheme, as ``COUNTRY=REGION``.

    Raises
    ------
    FileError
        The table cannot be read or written.
    ConfigError, GeoError, TableError
        See `graticule.data.locate.locate_images`; the file is as it was.
    """
    used_scheme, used_policy = load_scheme(scheme, assign=assign), load_policy(policy, overrides=overrides)
    is_parts = source.is_dir() and any(source.glob("*.parquet"))
    if not (source.is_file() and is_table(source)) and not is_parts:
        what = "a folder without Parquet parts" if source.is_dir() else "no such table"
        raise FileError(
            f"{source}: {what}, expected an images table (Parquet, CSV, JSON Lines). Make one with `graticule scan`."
        )
    place = _choose_output(source, output)
    info = read_info(source) if is_parts or source.suffix.lower() in PARQUET else {}
    images = move_paths(forget_located(read_images(source)), source if is_parts else source.parent, place.parent)
    result = locate_images(images, scheme=used_scheme, policy=used_policy, overwrite=overwrite)
    config = {
        "scheme": scheme,
        "policy": policy,
        "override": list(overrides),
        "assign": list(assign),
        "overwrite": overwrite,
    }
    provenance = describe_run("graticule locate", config=config, inputs={source.name: source})
    write_table(result.images, place, IMAGES, info={**info, **result.info}, provenance=provenance)
    return result, place


def _choose_output(source: Path, output: Path | None) -> Path:
    if output is not None:
        if output.suffix.lower() not in PARQUET:
            raise ConfigError(f"-o {output}: the table is written as Parquet, expected a name that ends in .parquet.")
        return output
    if source.is_dir():
        raise ConfigError(f"{source}: a folder of parts is not replaced. Say where to write with -o FILE.parquet.")
    if source.suffix.lower() in PARQUET:
        return source
    beside = (source.with_suffix("") if source.suffix.lower() == ".gz" else source).with_suffix(".parquet")
    if beside.exists():
        raise ConfigError(
            f"{beside}: exists already, and -o was not given. Say where to write: -o {beside} replaces it."
        )
    return beside

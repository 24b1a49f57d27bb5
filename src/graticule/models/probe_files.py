"""A probe from files to a file: features and images in, predictions out."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from graticule.data.readers.images import read_images
from graticule.data.store import describe_run, read_info, read_table, write_table
from graticule.data.tables import FEATURES, PREDICTIONS
from graticule.models.probe import ProbeConfig, ProbeResult, probe_features


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProbeFiles:
    """What a probe predicted, and the file that holds it."""

    result: ProbeResult
    output: Path


def probe_to_file(
    features: str | Path,
    output: str | Path,
    *,
    images: str | Path,
    train: str,
    config: ProbeConfig | None = None,
    seed: int = 0,
    name: str | None = None,
) -> ProbeFiles:
    """Write the predictions of a probe to a Parquet file, and return them.

    Parameters
    ----------
    features
        A features artefact.
    output
        File to write; replaced whole.
    images
        An images table, in any form that `graticule.data.readers.images` reads.
    train, config, seed, name
        As of `graticule.models.probe.probe_features`.

    Raises
    ------
    GraticuleError
        A file cannot be read or written, or as `graticule.models.probe.probe_features`; nothing is written.
    """
    settings = config or ProbeConfig()
    vectors = read_table(features, FEATURES)
    table = read_images(images)
    result = probe_features(
        vectors, table, train=train, config=settings, seed=seed, name=name, features_info=read_info(features)
    )
    provenance = describe_run(
        "probe",
        config={"train": train, **asdict(settings)},
        inputs={Path(file).name: Path(file) for file in (features, images)},
        seed=seed,
    )
    written = write_table(result.predictions, output, PREDICTIONS, info=result.info, provenance=provenance)
    return ProbeFiles(result=result, output=written)

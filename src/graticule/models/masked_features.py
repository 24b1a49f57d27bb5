"""Foreground and background features of images: a model's last feature map, averaged inside and outside of a mask.

What GeoNet's appendix B does with Mask R-CNN's masks. A feature map is coarse and each of its places has seen more of
the image than itself, so some of either part is in the other's features.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from graticule.data.decode import open_image
from graticule.data.sources import read_bytes
from graticule.data.store import describe_run, read_info, read_table, replace_atomically, write_table
from graticule.data.tables import FEATURES
from graticule.errors import FileError, ImageError, TableError, shown
from graticule.models.feature_map import FeatureMap, find_feature_map
from graticule.models.foreground import MaskFolder, crop_mask, read_mask
from graticule.models.network import Network
from graticule.progress import track

PART_IMAGES = 256
BATCH_IMAGES = 32
FOREGROUND, BACKGROUND = "foreground", "background"
SMALLEST_SHARE = 1e-3
"""Of the image: parts that are smaller have no features of their own."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MaskedFeatures:
    """Features of both parts, and the images that have none.

    Parameters
    ----------
    foreground, background
        Features tables of the same images.
    rejects
        ``path`` and ``reason`` of images without a mask, or whose mask is all or nothing.
    """

    foreground: pl.DataFrame
    background: pl.DataFrame
    rejects: pl.DataFrame


def extract_masked_features(
    images: pl.DataFrame,
    *,
    base: str | Path,
    network: Network,
    masks: str | Path,
    output: str | Path,
    shown_bar: bool = True,
) -> MaskedFeatures:
    """Write ``foreground.parquet`` and ``background.parquet`` into a folder, and return them.

    Parameters
    ----------
    images
        An images table with paths.
    base
        Folder that relative paths start from.
    network
        As `graticule.models.registry.load_network` gives it.
    masks
        Folder of masks; see `graticule.models.foreground.MaskFolder`.
    output
        The folder. A run that was stopped goes on from the parts that it has written there.
    shown_bar
        Whether to draw a progress bar.

    Raises
    ------
    GraticuleError
        The network has no feature map, there is no such folder, or no image has a mask.
    """
    folder = MaskFolder(folder=Path(masks))
    folder.check()
    if "path" not in images.columns:
        raise TableError("images: no column 'path', expected one to read the photos. Scan the photos' folder.")
    digest = _digest(images, network, Path(masks))
    done = _find_done(Path(output), digest)
    if done is not None:
        return done
    feature_map = find_feature_map(network)
    parts = Path(output) / f".masked-{digest}"
    starts = range(0, images.height, PART_IMAGES)
    for start in track(starts, total=len(starts), label="masked features", unit="part", shown=shown_bar):
        place = parts / f"{start:09d}.parquet"
        if not place.is_file():
            batch = images.slice(start, PART_IMAGES)
            table = _extract_part(batch, base=Path(base), network=network, feature_map=feature_map, masks=folder)
            with replace_atomically(place) as temporary:
                table.write_parquet(temporary)
    rows = pl.concat([pl.read_parquet(parts / f"{start:09d}.parquet") for start in starts])
    good = rows.filter(pl.col("reason").is_null())
    if good.is_empty():
        raise FileError(
            f"--masks {masks}: no image of {images.height} has a usable mask there ({rows['reason'][0]}); expected a "
            "file "
            f"for each, named as the image with the ending .png, as in {_example(images)}."
        )
    found = MaskedFeatures(
        foreground=good.select("image_id", features=pl.col(FOREGROUND)),
        background=good.select("image_id", features=pl.col(BACKGROUND)),
        rejects=rows.filter(pl.col("reason").is_not_null()).select(path=pl.col("image_id"), reason=pl.col("reason")),
    )
    info = {
        "model": network.name,
        "layer": feature_map.layer,
        "n_features": feature_map.n_channels,
        "made_of": digest,
        "rejects": found.rejects.rows(),
    }
    for name, table in ((FOREGROUND, found.foreground), (BACKGROUND, found.background)):
        made = describe_run("explain", config={"model": network.name, "part": name, "masks": Path(masks).name})
        write_table(table, Path(output) / f"{name}.parquet", FEATURES, info={**info, "part": name}, provenance=made)
    for part in parts.glob("*.parquet"):
        part.unlink()
    parts.rmdir()
    return found


def read_masked_features(output: str | Path) -> MaskedFeatures:
    """Return features that an earlier run has written."""
    place = Path(output)
    return MaskedFeatures(
        foreground=read_table(place / f"{FOREGROUND}.parquet", FEATURES),
        background=read_table(place / f"{BACKGROUND}.parquet", FEATURES),
        rejects=pl.DataFrame(
            read_info(place / f"{FOREGROUND}.parquet").get("rejects", []),
            schema={"path": pl.String, "reason": pl.String},
            orient="row",
        ),
    )


def _find_done(output: Path, digest: str) -> MaskedFeatures | None:
    """Return what an earlier run has made of the same images, network and masks; None where it has not."""
    files = [output / f"{name}.parquet" for name in (FOREGROUND, BACKGROUND)]
    if not all(file.is_file() and read_info(file).get("made_of") == digest for file in files):
        return None
    return read_masked_features(output)


def _extract_part(
    images: pl.DataFrame, *, base: Path, network: Network, feature_map: FeatureMap, masks: MaskFolder
) -> pl.DataFrame:
    pixels: list[np.ndarray] = []
    shares: list[np.ndarray] = []
    rows: list[int] = []
    reasons: list[str | None] = [None] * images.height
    for row, (image_id, path) in enumerate(images.select("image_id", "path").iter_rows()):
        try:
            mask, photo = _read(image_id, path, base=base, network=network, masks=masks)
        except (ImageError, FileError) as error:
            reasons[row] = str(error)
            continue
        pixels.append(photo)
        shares.append(mask)
        rows.append(row)
    width = feature_map.n_channels
    parts = np.zeros((2, images.height, width), dtype=np.float32)
    for start in range(0, len(rows), BATCH_IMAGES):
        stop = start + BATCH_IMAGES
        parts[:, rows[start:stop]] = pool_parts(
            np.stack(pixels[start:stop]), np.stack(shares[start:stop]), network=network, feature_map=feature_map
        )
    vectors = {
        name: pl.Series(name, part, dtype=pl.Array(pl.Float32, width))
        for name, part in zip((FOREGROUND, BACKGROUND), parts, strict=True)
    }
    return pl.DataFrame({"image_id": images["image_id"], "reason": pl.Series(reasons, dtype=pl.String), **vectors})


def pool_parts(pixels: np.ndarray, shares: np.ndarray, *, network: Network, feature_map: FeatureMap) -> np.ndarray:
    """Return foreground and background features of a batch, shape ``(2, b, c)``.

    Parameters
    ----------
    pixels
        Images as bytes, shape ``(b, h, w, 3)``.
    shares
        Share of foreground at each pixel, shape ``(b, h, w)``.
    network, feature_map
        The network and its last feature map.
    """
    import torch

    device = next(feature_map.module.parameters()).device
    given = torch.from_numpy(network.transform.normalise(pixels)).to(device)
    with torch.inference_mode(), feature_map.watching() as seen:
        feature_map.module(given)
        grid = seen[0].float()
    size = (feature_map.height, feature_map.width)
    inside = torch.nn.functional.adaptive_avg_pool2d(torch.from_numpy(shares).to(device)[:, None], size)
    pooled = [
        (grid * weight).sum(dim=(2, 3)) / weight.sum(dim=(2, 3)).clamp_min(1e-6) for weight in (inside, 1 - inside)
    ]
    return torch.stack(pooled).cpu().numpy()


def _read(
    image_id: str, path: str | None, *, base: Path, network: Network, masks: MaskFolder
) -> tuple[np.ndarray, np.ndarray]:
    if not path:
        raise ImageError("no path")
    place = masks.find(image_id, path)
    if place is None:
        raise FileError("no mask")
    image = open_image(read_bytes(path, base))
    share = crop_mask(read_mask(place), network.transform, size=image.size)
    inside = float(share.mean())
    if not SMALLEST_SHARE <= inside <= 1 - SMALLEST_SHARE:
        raise ImageError(f"the mask covers {inside:.1%} of what the model sees, expected some of both parts")
    return share, network.transform.crop(image)


def _digest(images: pl.DataFrame, network: Network, masks: Path) -> str:
    facts = "\n".join([network.name, network.weights.sha256, str(masks), *images["image_id"].to_list()])
    return hashlib.sha256(facts.encode()).hexdigest()[:12]


def _example(images: pl.DataFrame) -> str:
    return shown([Path(str(images["image_id"][0])).with_suffix(".png").as_posix()])

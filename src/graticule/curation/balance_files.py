"""Tables of images on disk → a balanced subset of one, or a mix of two."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from graticule.curation.balance import BalanceConfig, balance_images
from graticule.curation.curated_files import check_output, read_pile, write_selection
from graticule.curation.mix import MixConfig, mix_images
from graticule.data.moved_paths import move_paths


def balance_file(
    source: str | Path, output: str | Path, *, config: BalanceConfig | None = None, layout: str | None = None
) -> tuple[str, ...]:
    """Write a balanced subset and what it leaves out, and return what to print.

    Raises
    ------
    GraticuleError
        A file cannot be read or written, or as `graticule.curation.balance.balance_images`; nothing is written.
    """
    settings = config or BalanceConfig()
    place = check_output(Path(output))
    pile = read_pile(source, layout=layout)
    selection = balance_images(pile.images, config=settings)
    return write_selection(
        selection, place, pile=pile, command="curate balance", config=asdict(settings), seed=settings.seed
    )


def mix_files(
    first: str | Path,
    second: str | Path,
    output: str | Path,
    *,
    config: MixConfig | None = None,
    layout: str | None = None,
) -> tuple[str, ...]:
    """Write a mix of two sources and what it leaves out, and return what to print.

    Raises
    ------
    GraticuleError
        A file cannot be read or written, or as `graticule.curation.mix.mix_images`; nothing is written.
    """
    settings = config or MixConfig()
    place = check_output(Path(output))
    pile, other = read_pile(first, layout=layout), read_pile(second, layout=layout)
    selection = mix_images(pile.images, move_paths(other.images, other.base, pile.base), config=settings)
    return write_selection(
        selection,
        place,
        pile=pile,
        command="curate balance",
        config=asdict(settings),
        inputs={other.source.name: other.source},
        seed=settings.seed,
    )

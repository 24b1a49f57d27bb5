"""Images dealt to splits so that the sizes come out exactly, in every region, and evenly over its labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64, UInt64

from graticule.curation.split_sizes import SplitSizes, cut_total, spread_evenly

UNDECIDED = -1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cells:
    """Where each image counts.

    Parameters
    ----------
    cell
        Number of each image's region × label, shape ``(n,)``.
    block
        Number of each cell's region, shape ``(c,)``: the sizes are exact in each.
    names
        The cells' names, for messages.
    """

    cell: Int64[np.ndarray, " n"]
    block: Int64[np.ndarray, " c"]
    names: tuple[str, ...]


def find_targets(cells: Cells, sizes: SplitSizes) -> Int64[np.ndarray, "s c"]:
    """Return how many images each split is to have in each cell; with counts, what is missing in a cell is negative.

    Notes
    -----
    By shares, a region's total is cut first (`graticule.curation.split_sizes.cut_total`); what a cut holds out is then
    spread over the region's labels in proportion to their images, by the largest remainders.
    """
    n_images = np.bincount(cells.cell, minlength=len(cells.block)).astype(np.int64)
    targets = np.zeros((len(sizes.names), len(cells.block)), dtype=np.int64)
    if sizes.counts:
        targets[: len(sizes.counts)] = np.array(list(sizes.counts.values()))[:, None]
        if sizes.rest:
            targets[-1] = n_images - targets[:-1].sum(axis=0)
        return targets
    for block in range(int(cells.block.max(initial=-1)) + 1):
        inside = np.flatnonzero(cells.block == block)
        over = n_images[inside]
        totals = cut_total(int(over.sum()), sizes)
        for split in range(len(totals) - 1):
            held = spread_evenly(sum(totals[split + 1 :]), over)
            targets[split, inside] = over - held
            over = held
        targets[-1, inside] = over
    return targets


def deal_exactly(
    cells: Cells,
    targets: Int64[np.ndarray, "s c"],
    *,
    groups: Int64[np.ndarray, " n"],
    numbers: UInt64[np.ndarray, " n"],
    decided: Int64[np.ndarray, " n"],
) -> Int64[np.ndarray, " n"]:
    """Return the split of each image; -1 for those that no split asks for.

    Parameters
    ----------
    cells, targets
        Where images count, and how many are wanted there.
    groups
        Number of each image's group, shape ``(n,)``; images of a group get one split.
    numbers
        The random number that orders the images of a cell, shape ``(n,)``.
    decided
        Splits that are decided already, -1 elsewhere, shape ``(n,)``.

    Notes
    -----
    Groups of several images come first, the largest first, each into the split where it adds least to the squared
    distance from the targets, relative to the cells' sizes, and as much again for the regions' totals: with many small
    cells what each is off by would add up. Images on their own then fill what is missing, in the order
    of their numbers: without groups, and without splits that are decided, the sizes are the targets.
    """
    dealt = decided.copy()
    held = np.zeros_like(targets)
    known = np.flatnonzero(dealt != UNDECIDED)
    np.add.at(held, (dealt[known], cells.cell[known]), 1)
    sizes = np.bincount(groups)
    waiting = np.flatnonzero(dealt == UNDECIDED)
    together = waiting[sizes[groups[waiting]] > 1]
    _deal_groups(dealt, held, targets, cells=cells, groups=groups, numbers=numbers, rows=together)
    _fill(dealt, held, targets, cells=cells, numbers=numbers, rows=waiting[sizes[groups[waiting]] == 1])
    return dealt


def _deal_groups(
    dealt: Int64[np.ndarray, " n"],
    held: Int64[np.ndarray, "s c"],
    targets: Int64[np.ndarray, "s c"],
    *,
    cells: Cells,
    groups: Int64[np.ndarray, " n"],
    numbers: UInt64[np.ndarray, " n"],
    rows: Int64[np.ndarray, " m"],
) -> None:
    if not len(rows):
        return
    ordered = rows[np.argsort(groups[rows], kind="stable")]
    starts = np.flatnonzero(np.diff(groups[ordered], prepend=-1))
    members = np.split(ordered, starts[1:])
    sizes = np.array([len(rows) for rows in members])
    least = np.array([numbers[rows].min() for rows in members])
    weight = 1.0 / np.maximum(targets.sum(axis=0), 1)
    target_blocks, held_blocks = _sum_blocks(targets, cells.block), _sum_blocks(held, cells.block)
    n_cells = np.bincount(cells.block)
    block_weight = n_cells / np.maximum(target_blocks.sum(axis=0), 1)
    has_surplus = targets.sum(axis=0) < np.bincount(cells.cell, minlength=targets.shape[1])
    for place in np.lexsort((least, -sizes)):
        inside, added = np.unique(cells.cell[members[place]], return_counts=True)
        missing = held[:, inside] - targets[:, inside]
        cost = (added * (2 * missing + added) * weight[inside]).sum(axis=1)
        blocks, in_blocks = _add_up(cells.block[inside], added)
        missing_in_blocks = held_blocks[:, blocks] - target_blocks[:, blocks]
        cost += (in_blocks * (2 * missing_in_blocks + in_blocks) * block_weight[blocks]).sum(axis=1)
        if cost.min() > 0 and has_surplus[inside].all():
            continue  # counts are full, and no split takes the rest
        # Equally good splits: the one with the most room left, then the first.
        room = (targets - held)[:, inside].sum(axis=1)
        split = int(np.lexsort((-room, cost.round(12)))[0])
        dealt[members[place]] = split
        held[split, inside] += added
        held_blocks[split, blocks] += in_blocks


def _sum_blocks(values: Int64[np.ndarray, "s c"], block: Int64[np.ndarray, " c"]) -> Int64[np.ndarray, "s b"]:
    totals = np.zeros((len(values), int(block.max(initial=-1)) + 1), dtype=np.int64)
    np.add.at(totals.T, block, values.T)
    return totals


def _add_up(
    block: Int64[np.ndarray, " m"], added: Int64[np.ndarray, " m"]
) -> tuple[Int64[np.ndarray, " b"], Int64[np.ndarray, " b"]]:
    """Return the blocks of some cells and how many images each gets."""
    if len(block) == 1:
        return block, added
    blocks, place = np.unique(block, return_inverse=True)
    return blocks, np.bincount(place, weights=added).astype(np.int64)


def _fill(
    dealt: Int64[np.ndarray, " n"],
    held: Int64[np.ndarray, "s c"],
    targets: Int64[np.ndarray, "s c"],
    *,
    cells: Cells,
    numbers: UInt64[np.ndarray, " n"],
    rows: Int64[np.ndarray, " m"],
) -> None:
    """Give images on their own to the splits that miss some, in each cell in the order of their numbers."""
    ordered = rows[np.lexsort((numbers[rows], cells.cell[rows]))]
    inside = cells.cell[ordered]
    n_waiting = np.bincount(inside, minlength=targets.shape[1])
    missing = np.maximum(targets - held, 0)
    for cell in np.flatnonzero(missing.sum(axis=0) > n_waiting):
        missing[:, cell] = spread_evenly(int(n_waiting[cell]), missing[:, cell])
    first = np.cumsum(n_waiting) - n_waiting
    place = np.arange(len(ordered)) - first[inside]
    ends = np.cumsum(missing, axis=0)
    split = (place[None, :] >= ends[:, inside]).sum(axis=0)
    dealt[ordered] = np.where(split < len(targets), split, UNDECIDED)

"""Each choice's share of an item's votes, where every model starts."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from graticule.annotation.aggregation.votes import Votes


def share_votes(votes: Votes) -> Float[np.ndarray, "n k"]:
    """Return the share of an item's votes that each choice has; a "maybe" is a part of a vote for every choice.

    Items of known truth have it whole.
    """
    n, k = votes.n_items, votes.n_choices
    taken = votes.choice < k
    key = votes.item[taken].astype(np.int64)
    key *= k
    key += votes.choice[taken]
    shares = np.bincount(key, weights=np.ones(len(key)), minlength=n * k).reshape(n, k)
    if not taken.all():
        shares += np.bincount(votes.item[~taken], minlength=n)[:, None] / k
    shares /= np.einsum("nk->n", shares)[:, None]
    return clamp(shares, votes)


def clamp(posterior: Float[np.ndarray, "n k"], votes: Votes) -> Float[np.ndarray, "n k"]:
    """Set the items of known truth to it, in place, and return the same array."""
    items = np.flatnonzero(votes.known >= 0)
    posterior[items] = 0.0
    posterior[items, votes.known[items]] = 1.0
    return posterior

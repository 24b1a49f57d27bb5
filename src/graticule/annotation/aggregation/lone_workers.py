"""Workers who voted once, taken as one: a confusion matrix cannot be estimated from a single vote.

By maximum likelihood the matrix of such a worker has the one answer given for every truth, so the vote says nothing;
a crowd of them, in which every vote is a stranger's, would come out with no label better than its share. Together they
have a matrix that can be estimated: how often a stranger's answer is right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from graticule.annotation.aggregation.fit import Fit, blank_idle
from graticule.annotation.aggregation.votes import Votes, sort_votes


def fit_pooled(votes: Votes, fit: Callable[[Votes], Fit], *, more_than: int = 1) -> Fit:
    """Return a model's fit to the votes, with all workers of a single vote taken as one worker.

    Parameters
    ----------
    votes
        The votes.
    fit
        The model. It may meet several votes of one worker on an item.
    more_than
        Up to so many workers of a single vote are left as they are.

    Notes
    -----
    The skill of a worker who voted once is that of all of them.
    """
    n_votes = np.bincount(votes.worker, minlength=votes.n_workers)
    is_lone = n_votes == 1
    if np.count_nonzero(is_lone) <= more_than:
        return fit(votes)
    stands_for = np.where(is_lone, 0, np.cumsum(~is_lone)).astype(np.int32)
    pooled = sort_votes(replace(votes, worker=stands_for[votes.worker], n_workers=int(np.count_nonzero(~is_lone)) + 1))
    found = fit(pooled)
    return replace(found, skill=blank_idle(found.skill[stands_for], votes))

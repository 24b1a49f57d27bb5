"""How many processors there are to compute on, and how BLAS is kept from fighting over them.

Libraries of linear algebra start a thread a processor for every product and have them wait by spinning. For the many
middling products of a probe that gains little on an idle machine and costs a lot on a busy one. So work is cut into
pieces that threads of our own take up, and each piece is multiplied by one thread.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator

MOST_WORKERS = 8


def count_workers() -> int:
    """Return how many threads should compute at once."""
    try:
        available = len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        available = os.cpu_count() or 1
    return min(available, MOST_WORKERS)


@contextlib.contextmanager
def one_blas_thread() -> Generator[None]:
    """Have BLAS compute in the thread that calls it."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield

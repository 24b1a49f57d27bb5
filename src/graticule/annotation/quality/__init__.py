"""Checks of answers, one a file; `graticule.annotation.quality.filter` runs them in this order."""

CHECKS: dict[str, str] = {
    "duplicates": "graticule.annotation.quality.duplicates:find_duplicates",
    "invalid": "graticule.annotation.quality.invalid:find_invalid",
    "main_not_selected": "graticule.annotation.quality.main_not_selected:find_main_not_selected",
    "too_fast": "graticule.annotation.quality.too_fast:find_too_fast",
    "straight_lining": "graticule.annotation.quality.straight_lining:find_straight_lining",
    "worker_controls": "graticule.annotation.quality.worker_controls:find_worker_controls",
    "task_controls": "graticule.annotation.quality.task_controls:find_task_controls",
}
"""Check, as on the command line → where it is. Workers are judged by their controls before single tasks are dropped for
theirs: the other way round, a worker's worst tasks would no longer count against them."""

"""Tasks for workers, one kind a file."""

KINDS: dict[str, str] = {
    "contains": "graticule.annotation.tasks.contains:build_contains_tasks",
    "classify": "graticule.annotation.tasks.classify:build_classify_tasks",
}
"""Kind, as on the command line → where its builder is."""

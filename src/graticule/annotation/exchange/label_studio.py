"""Answers as Label Studio JSON: its export of a project, and what it imports.

A CONTAINS question is a task with one image and the query label in its data, answered by the choice ``yes`` or ``no``
of the control ``contains``. A CLASSIFY task has the image and the offered labels in its data, the selected ones as
choices of the control ``labels`` and the main one of ``main``. What Label Studio has no field for (worker, times,
object numbers, labels that were shown and not selected) goes into the result's ``meta``, which it keeps;
``completed_by`` is left out on export, since Label Studio refuses files that name people who are not its members.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl

from graticule.annotation.quality.answer_rows import CLASSIFY, CONTAINS, prepare_answers
from graticule.data.store import write_text
from graticule.data.tables import ANSWERS
from graticule.data.validate import validate_table
from graticule.errors import FileError, TableError, shown

SUFFIXES = ()
HOLDS = "answers"
YES, NO = "yes", "no"
ROW_FIELDS = ("answer_id", "object", "is_control", "is_main")
TIME_FIELDS = ("assigned_at", "answered_at")

Json = dict[str, Any]


def write(answers: pl.DataFrame, path: Path, *, images: pl.DataFrame | None = None) -> Path:
    """Write answers as tasks with annotations and return the path; columns that are not declared are left out.

    Parameters
    ----------
    answers
        An `ANSWERS` table.
    path
        Where to write.
    images
        Where the images are (image_id, path), for Label Studio to show them; None writes their ids in that place.
    """
    prepared = prepare_answers(answers)
    declared = validate_table(answers, ANSWERS, where="answers")
    names = [
        name for name in ("answer_id", "is_main", "object", "is_control", *TIME_FIELDS) if name in declared.columns
    ]
    rows = prepared.select("kind", "task_id", "worker_id", "image_id", "label", "selected").with_columns(
        declared.select(names)
    )
    shown_label = pl.when(pl.col("kind") == CONTAINS).then("label").otherwise(pl.lit(""))
    tasks: dict[tuple[str, ...], dict[str, list[Json]]] = {}
    places = _find_places(images)
    for row in rows.with_columns(shown_label.alias("query")).iter_rows(named=True):
        key = (row["kind"], row["task_id"], row["image_id"], row["query"])
        tasks.setdefault(key, {}).setdefault(row["worker_id"], []).append(row)
    listed = [
        _task(number, key, workers, place=places.get(key[2], key[2]), has_main="is_main" in names)
        for number, (key, workers) in enumerate(tasks.items(), 1)
    ]
    return write_text(json.dumps(listed, ensure_ascii=False, indent=1), path)


def read(path: Path, *, images: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return the answers in Label Studio's JSON (not JSON-MIN), checked.

    The worker is the one in the result's ``meta``, else ``completed_by``; the image is ``image_id`` in the task's data,
    else its ``image``. Any control of type choices counts, and one called ``main`` names the main label. Cancelled
    annotations and those marked as ground truth are no answers, and are left out.

    Raises
    ------
    FileError
        There is no such file.
    TableError
        It is not Label Studio's JSON, or an annotation has no worker.
    """
    del images
    rows: list[Json] = []
    for task in _read_tasks(path):
        for annotation in task["annotations"]:
            if not annotation.get("was_cancelled") and not annotation.get("ground_truth"):
                rows.extend(_rows(task, annotation, where=str(path)))
    if not rows:
        raise TableError(f"{path}: no annotation in it holds a choice; expected a project with Choices.")
    schema = {name: column.dtype for name, column in ANSWERS.columns.items()}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    unknown = [
        name for name in frame.columns if not ANSWERS.columns[name].required and frame[name].null_count() == len(frame)
    ]
    return validate_table(frame.drop(unknown), ANSWERS, where=str(path))


def _find_places(images: pl.DataFrame | None) -> dict[str, str]:
    if images is None or "path" not in images.columns:
        return {}
    return {name: path for name, path in images.select("image_id", "path").drop_nulls().iter_rows()}


def _task(number: int, key: tuple[str, ...], workers: dict[str, list[Json]], *, place: str, has_main: bool) -> Json:
    kind, task_id, image_id, query = key
    data: Json = {"image": place, "image_id": image_id, "task_id": task_id, "kind": kind}
    if kind == CONTAINS:
        data["label"] = query
    else:
        data["labels"] = list(dict.fromkeys(row["label"] for rows in workers.values() for row in rows))
    annotations = [_annotation(kind, worker, rows, has_main=has_main) for worker, rows in workers.items()]
    return {"id": number, "data": data, "annotations": annotations}


def _annotation(kind: str, worker: str, rows: list[Json], *, has_main: bool) -> Json:
    meta: Json = {"worker_id": worker, "shown": [row["label"] for row in rows]}
    for name in ROW_FIELDS:
        known = {row["label"]: row[name] for row in rows if row.get(name) is not None}
        if known and (name != "is_main" or kind == CONTAINS):
            meta[name] = known
    for name in TIME_FIELDS:
        if rows[0].get(name) is not None:
            meta[name] = {row["label"]: row[name].isoformat() for row in rows if row.get(name) is not None}
    selected = [row["label"] for row in rows if row["selected"]]
    if kind == CONTAINS:
        result = [_choices("contains", [YES if selected else NO], meta)]
    else:
        result = [_choices("labels", selected, meta)]
        if has_main and any(row["is_main"] is not None for row in rows):
            result.append(_choices("main", [row["label"] for row in rows if row["is_main"]], {}))
    annotation: Json = {"result": result, "was_cancelled": False, "ground_truth": False}
    start, end = rows[0].get("assigned_at"), rows[0].get("answered_at")
    if end is not None:
        annotation["created_at"] = end.isoformat()
        if start is not None:
            annotation["lead_time"] = (end - start).total_seconds()
    return annotation


def _choices(name: str, choices: list[str], meta: Json) -> Json:
    return {"from_name": name, "to_name": "image", "type": "choices", "value": {"choices": choices}, "meta": meta}


def _read_tasks(path: Path) -> list[Json]:
    try:
        tasks = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error}).") from error
    except ValueError as error:
        raise TableError(f"{path}: not JSON ({error}); expected Label Studio's export as JSON.") from error
    if not isinstance(tasks, list) or not tasks:
        raise TableError(f"{path}: not a list of tasks; expected Label Studio's export as JSON.")
    odd = [
        f"task {number}"
        for number, task in enumerate(tasks)
        if not isinstance(task, dict)
        or not isinstance(task.get("annotations"), list)
        or not isinstance(task.get("data"), dict)
    ]
    if odd:
        raise TableError(
            f"{path}: {len(odd)} entries have no 'data' or no 'annotations': {shown(odd)}. Export the project as JSON, "
            "not as JSON-MIN, which leaves out who answered."
        )
    return tasks


def _rows(task: Json, annotation: Json, *, where: str) -> Iterator[Json]:
    results: list[Json] = [item for item in annotation.get("result", []) if item.get("type") == "choices"]
    meta: Json = {name: value for item in results for name, value in (item.get("meta") or {}).items()}
    data: Json = task["data"]
    chosen = [str(label) for item in results if item.get("from_name") != "main" for label in _values(item)]
    mains = [str(label) for item in results if item.get("from_name") == "main" for label in _values(item)]
    has_main = any(item.get("from_name") == "main" for item in results)
    is_contains = data.get("kind") == CONTAINS
    selected = ([str(data["label"])] if YES in chosen else []) if is_contains else chosen
    labels = (
        [str(data["label"])]
        if is_contains
        else list(dict.fromkeys([*map(str, meta.get("shown", [])), *chosen, *mains]))
    )
    fixed = {
        "task_id": str(data.get("task_id") or task.get("id")),
        "kind": CONTAINS if is_contains else CLASSIFY,
        "worker_id": _worker(annotation, meta, task=task, where=where),
        "image_id": str(data.get("image_id") or data.get("image") or task.get("id")),
    }
    start, end = _times(annotation)
    for label in labels:
        extras = {name: (meta.get(name) or {}).get(label) for name in ROW_FIELDS}
        if has_main:
            extras["is_main"] = label in mains
        times = {name: _time((meta.get(name) or {}).get(label)) for name in TIME_FIELDS}
        yield {
            **fixed,
            "label": label,
            "selected": label in selected,
            **extras,
            "assigned_at": times["assigned_at"] or start,
            "answered_at": times["answered_at"] or end,
        }


def _values(item: Json) -> list[Any]:
    choices = (item.get("value") or {}).get("choices", [])
    return choices if isinstance(choices, list) else [choices]


def _worker(annotation: Json, meta: Json, *, task: Json, where: str) -> str:
    worker = meta.get("worker_id") or annotation.get("completed_by")
    if isinstance(worker, dict):
        worker = worker.get("email") or worker.get("id")
    if worker is None:
        raise TableError(
            f"{where}: an annotation of task {task.get('id')} has no 'completed_by'; expected who answered. "
            "Export with the annotators' ids."
        )
    return str(worker)


def _times(annotation: Json) -> tuple[datetime | None, datetime | None]:
    end = _time(annotation.get("created_at"))
    lead = annotation.get("lead_time")
    start = end - timedelta(seconds=float(lead)) if end is not None and lead is not None else None
    return start, end


def _time(text: str | None) -> datetime | None:
    if not text:
        return None
    time = datetime.fromisoformat(text)
    return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)

"""Finished work kept beside the output while a long run goes on, so that a killed run goes on where it stopped.

The rows of a run are worked through in a fixed order. Every few seconds the rows finished since are written to a part
in a folder ``<output>.partial``; the next run of the same plan reads the parts and starts behind them. At the end the
folder goes.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from graticule.data.store import replace_atomically, write_text
from graticule.errors import FileError

PLAN_FILE = "plan.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """The finished parts of one plan."""

    folder: Path
    plan: str
    """A hash of what is to be done; parts of another plan are thrown away."""

    def read(self) -> tuple[pl.DataFrame, float]:
        """Return the rows that an earlier run of this plan has finished, and when the first part was written."""
        if not (self.folder / PLAN_FILE).is_file() or self._read_plan() != self.plan:
            self.remove()
            return pl.DataFrame(), 0.0
        frames: list[pl.DataFrame] = []
        written_at = 0.0
        n_rows = 0
        for part in sorted(self.folder.glob("rows-*.parquet")):
            try:
                frame = pl.read_parquet(part)
            except (pl.exceptions.PolarsError, OSError):
                break
            if int(part.stem.removeprefix("rows-")) != n_rows:
                break
            frames.append(frame)
            n_rows += frame.height
            written_at = written_at or part.stat().st_mtime
        return (pl.concat(frames) if frames else pl.DataFrame()), written_at

    def append(self, frame: pl.DataFrame, *, first_row: int) -> None:
        """Keep finished rows, which follow on those kept before."""
        if not (self.folder / PLAN_FILE).is_file():
            write_text(json.dumps({"plan": self.plan}), self.folder / PLAN_FILE)
        with replace_atomically(self.folder / f"rows-{first_row:012d}.parquet") as temporary:
            frame.write_parquet(temporary)

    def remove(self) -> None:
        """Throw the parts away."""
        try:
            shutil.rmtree(self.folder)
        except FileNotFoundError:
            return
        except OSError as error:
            raise FileError(f"{self.folder}: cannot be removed ({error}). Remove it, and run again.") from error

    def _read_plan(self) -> str:
        try:
            return json.loads((self.folder / PLAN_FILE).read_text(encoding="utf-8"))["plan"]
        except (ValueError, KeyError, TypeError, OSError):
            return ""


def hash_plan(facts: Iterable[str]) -> str:
    """Return a hash of what a run is to do, from texts in a fixed order."""
    digest = hashlib.sha256()
    for fact in facts:
        digest.update(fact.encode("utf-8", "surrogatepass") + b"\x00")
    return digest.hexdigest()

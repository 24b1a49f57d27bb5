"""The half-finished result of a long run: parts in a folder beside the output, merged when all are there.

``features.parquet.partial/`` holds ``run.json`` (what the run is: images, model, settings), and for each stretch of the
images table a part and its rejects. A part is renamed into place when it is whole, so a killed run loses at most the
part that was being written. The next run with the same settings goes on after the last part.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from graticule.data.store import Provenance, make_metadata, replace_atomically, write_text
from graticule.data.tables import REJECTS
from graticule.errors import ConfigError, FileError

SUFFIX = ".partial"
PART = re.compile(r"part-(\d+)-(\d+)\.parquet")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The folder of parts of one output."""

    output: Path

    @property
    def folder(self) -> Path:
        """Where the parts lie."""
        return self.output.with_name(self.output.name + SUFFIX)

    @property
    def rejects_path(self) -> Path:
        """The table of rejects beside the output: ``features.rejects.parquet``."""
        return self.output.with_name(self.output.stem + ".rejects.parquet")

    def open(self, run: Mapping[str, Any], *, restart: bool) -> int:
        """Return how many images an earlier run with the same settings has finished; drop what is of no use.

        Parameters
        ----------
        run
            What the run is, as JSON can hold it.
        restart
            Drop whatever an earlier run left.

        Raises
        ------
        ConfigError
            An earlier run had other settings.
        FileError
            The folder cannot be written to.
        """
        if restart:
            shutil.rmtree(self.folder, ignore_errors=True)
        if self.output.is_dir():
            raise FileError(f"{self.output}: a folder, expected a file to write. Choose another place with -o.")
        record = self.folder / "run.json"
        text = json.dumps(run, sort_keys=True, default=str)
        if record.is_file():
            self._compare(record, json.loads(text))
        else:
            shutil.rmtree(self.folder, ignore_errors=True)
            write_text(text, record)
        return max(self._finished(), default=0)

    def write(self, frame: pl.DataFrame, rejects: pl.DataFrame, *, start: int, stop: int) -> None:
        """Write what came of the images ``start`` to ``stop``; the part is renamed into place last."""
        name = f"{start:010d}-{stop:010d}.parquet"
        with replace_atomically(self.folder / f"rejects-{name}") as temporary:
            rejects.write_parquet(temporary)
        with replace_atomically(self.folder / f"part-{name}") as temporary:
            frame.write_parquet(temporary)

    def merge(self, *, info: Mapping[str, Any], provenance: Provenance | None) -> pl.DataFrame:
        """Join all parts into the output and remove their folder; return the rejects, which stand beside it too.

        Notes
        -----
        Parts are streamed: memory does not grow with their number.
        """
        metadata = make_metadata(info=info, provenance=provenance)
        parts = sorted(self.folder.glob("part-*.parquet"))
        rejects = pl.concat([pl.read_parquet(self.folder / f"rejects-{path.name[5:]}") for path in parts])
        with replace_atomically(self.rejects_path) as temporary:
            rejects.write_parquet(temporary, metadata=make_metadata(info={}, provenance=provenance))
        with replace_atomically(self.output) as temporary:
            pl.scan_parquet(parts).sink_parquet(temporary, metadata=metadata)
        shutil.rmtree(self.folder)
        return rejects

    def _finished(self) -> list[int]:
        """Return where each finished stretch ends, in order; parts that do not join on are removed."""
        stops: list[int] = []
        at = 0
        for path in sorted(self.folder.glob("part-*.parquet")):
            match = PART.fullmatch(path.name)
            rejects = self.folder / f"rejects-{path.name[5:]}"
            if match is None or int(match[1]) != at or not rejects.is_file():
                path.unlink()
                continue
            at = int(match[2])
            stops.append(at)
        for path in self.folder.glob(".*.tmp"):
            path.unlink(missing_ok=True)
        return stops

    def _compare(self, record: Path, run: dict[str, Any]) -> None:
        try:
            before: dict[str, Any] = json.loads(record.read_text(encoding="utf-8"))
        except ValueError:
            before = {}
        differing = [key for key in {**before, **run} if before.get(key) != run.get(key)]
        if differing:
            n_done = max(self._finished(), default=0)
            changes = [f"{key} was {_brief(before.get(key))}, is {_brief(run.get(key))}" for key in sorted(differing)]
            raise ConfigError(
                f"{self.folder}: holds {n_done} images of an interrupted run with other settings: "
                f"{'; '.join(changes)}. Run the earlier command again to go on with it, give --restart to drop it, "
                "or choose another place with -o."
            )


def no_rejects() -> pl.DataFrame:
    """Return an empty table of rejects."""
    return pl.DataFrame(schema={name: column.dtype for name, column in REJECTS.columns.items()})


def _brief(value: object) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 60 else text[:57] + "…"

"""What Flickr has answered so far, kept beside the output, so that no question is asked twice after a kill.

A line an answer, with the question; the last line may be torn. Positions in the file are held, the answers are not.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graticule.data.store import write_text
from graticule.errors import FileError

START_FILE, ANSWERS_FILE = "start.json", "answers.jsonl"


@dataclass(slots=True, kw_only=True)
class Answers:
    """The answers in a folder; `open_answers` makes it."""

    folder: Path
    started_at: int
    """When the first run of this folder began (Unix time): photos that came to Flickr later do not count."""
    places: dict[bytes, int] = field(default_factory=dict[bytes, int])
    """Question, as a hash → where its line begins."""
    n_kept: int = 0
    """Answers that an earlier run has left."""

    def get(self, question: Mapping[str, str], ask: Callable[[], Any]) -> Any:
        """Return the kept answer to a question, or ask and keep what comes back.

        Raises
        ------
        FileError
            The folder cannot be read or written.
        """
        name = _name(question)
        try:
            if name in self.places:
                with (self.folder / ANSWERS_FILE).open("rb") as file:
                    file.seek(self.places[name])
                    return json.loads(file.readline())["answer"]
            answer = ask()
            line = json.dumps({"question": dict(question), "answer": answer}).encode() + b"\n"
            with (self.folder / ANSWERS_FILE).open("ab") as file:
                self.places[name] = file.tell()
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except FileError:
            raise
        except OSError as error:
            raise FileError(
                f"{self.folder}: answers cannot be kept ({error}). Free room, or choose another place with -o."
            ) from error
        return answer

    def remove(self) -> None:
        """Throw the answers away: the output is written."""
        shutil.rmtree(self.folder, ignore_errors=True)


def open_answers(folder: Path) -> Answers:
    """Return the answers that an earlier run has left in a folder, or none.

    Raises
    ------
    FileError
        The folder cannot be read or written.
    """
    try:
        started_at = int(json.loads((folder / START_FILE).read_text("utf-8"))["started_at"])
    except (OSError, ValueError, KeyError, TypeError):
        started_at = int(time.time())
        write_text(json.dumps({"started_at": started_at}), folder / START_FILE)
    answers = Answers(folder=folder, started_at=started_at)
    place = folder / ANSWERS_FILE
    if not place.is_file():
        return answers
    whole = 0
    try:
        with place.open("r+b") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):  # damaged: not there
                    answers.places[_name(json.loads(line)["question"])] = whole
                whole += len(line)
            file.truncate(whole)
    except OSError as error:
        raise FileError(f"{place}: cannot be read ({error}). Remove the folder to begin anew.") from error
    answers.n_kept = len(answers.places)
    return answers


def _name(question: Mapping[str, str]) -> bytes:
    return hashlib.blake2b(json.dumps(sorted(question.items())).encode(), digest_size=16).digest()

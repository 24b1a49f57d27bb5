"""Questions to Flickr's API, one at a time, no faster than it allows, asked again where it stumbles.

The key stands in the body of the request, never in an address, a file, a log or an error.
"""

from __future__ import annotations

import email.utils
import http.client
import json
import logging
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from graticule.errors import ConfigError, FileError

logger = logging.getLogger(__name__)

ADDRESS = "https://api.flickr.com/services/rest/"
KEY_VARIABLE = "FLICKR_API_KEY"
MOST_PER_HOUR = 3600
"""Questions an hour that Flickr allows a key (its developers' guide)."""
LOCAL_HOSTS = ("127.0.0.1", "::1", "localhost")
LARGEST_ANSWER_BYTES = 20_000_000
BLOCK_BYTES = 1 << 16
LONGEST_WAIT_S = 3600.0
HTTP_TOO_MANY, HTTP_SERVER_ERROR = 429, 500
HTTP_REFUSED = (401, 403)
KEY_CODES = (95, 96, 97, 98, 99, 100)
"""Flickr's codes for a key that is not valid, or not allowed to ask this."""
PASSING_CODES = (0, 10, 105, 106)
"""Flickr's codes for a service that is not there at the moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlickrConfig:
    """How Flickr is asked."""

    address: str = ADDRESS
    per_hour: int = MOST_PER_HOUR
    """Questions an hour, at most."""
    tries: int = 6
    """How often a question is asked before the run ends."""
    timeout_s: float = 60.0
    """How long an answer may take, to its last byte."""
    first_wait_s: float = 2.0
    """Wait before the second try; doubled before each further one, unless Flickr says how long."""

    def __post_init__(self) -> None:
        parts = urllib.parse.urlsplit(self.address)
        is_local = parts.hostname in LOCAL_HOSTS
        if parts.scheme != "https" and not (parts.scheme == "http" and is_local):
            raise ConfigError(
                f"--address {self.address}: expected an address that starts with https://, for the key is sent to it."
            )
        if not 1 <= self.per_hour <= MOST_PER_HOUR and not (is_local and self.per_hour >= 1):
            raise ConfigError(
                f"--per-hour {self.per_hour}: expected 1 to {MOST_PER_HOUR}, which is what Flickr allows a key."
            )
        if self.tries < 1 or self.timeout_s <= 0 or self.first_wait_s < 0:
            raise ConfigError("tries must be at least 1, timeout_s above 0 and first_wait_s not below 0.")


class _PassingError(Exception):
    """An answer that may be better the next time."""

    def __init__(self, what: str, *, wait_s: float | None = None) -> None:
        super().__init__(what)
        self.wait_s = wait_s


def read_key() -> str:
    """Return the API key from the environment.

    Raises
    ------
    ConfigError
        There is none, or it holds a space or a line break.
    """
    key = os.environ.get(KEY_VARIABLE, "").strip()
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        found = "not set" if not key else "not a key (it holds spaces or signs that are not ASCII)"
        raise ConfigError(
            f"environment variable {KEY_VARIABLE}: {found}; expected the key of your application. Ask for one at "
            f"https://www.flickr.com/services/api/keys/ and type: export {KEY_VARIABLE}=…"
        )
    return key


@dataclass(slots=True, kw_only=True)
class FlickrClient:
    """Asks one question after the other."""

    key: str = field(repr=False)
    config: FlickrConfig = field(default_factory=FlickrConfig)
    n_asked: int = 0
    """Requests sent so far, repeated ones counted."""
    _next_at: float = 0.0

    def ask(self, method: str, parameters: Mapping[str, str], *, accept: Collection[int] = ()) -> dict[str, Any]:
        """Return the answer to a question.

        Parameters
        ----------
        method
            As Flickr names it: ``flickr.photos.search``.
        parameters
            What the method takes.
        accept
            Codes of failures that are answers too (a photo that is gone); any other failure is an error.

        Raises
        ------
        ConfigError
            Flickr does not accept the key.
        FileError
            Flickr cannot be reached, answers with something else after every try, or refuses the question.
        """
        for attempt in range(1, self.config.tries + 1):
            self._wait_for_turn()
            try:
                return self._ask_once(method, parameters, accept)
            except _PassingError as error:
                wait_s = self.config.first_wait_s * 2 ** (attempt - 1) if error.wait_s is None else error.wait_s
                what = self._without_key(str(error))
                if attempt == self.config.tries or wait_s > LONGEST_WAIT_S:
                    asked = f"; it asks to wait {wait_s:.0f} seconds" if wait_s > LONGEST_WAIT_S else ""
                    raise FileError(
                        f"{self.config.address}: {method} failed, {what}{asked}; tried {attempt} times. What was found "
                        "so far is kept: type the same command later, and it goes on."
                    ) from None
                logger.warning("Flickr: %s; trying again in %.0f s", what, wait_s)
                time.sleep(wait_s)
        raise AssertionError("the last try returns or raises")

    def _wait_for_turn(self) -> None:
        now = time.monotonic()
        if now < self._next_at:
            time.sleep(self._next_at - now)
        self._next_at = max(now, self._next_at) + 3600 / self.config.per_hour

    def _ask_once(self, method: str, parameters: Mapping[str, str], accept: Collection[int]) -> dict[str, Any]:
        body = self._send(method, parameters)
        try:
            answer = json.loads(body)
            status = answer["stat"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise _PassingError("its answer is not the API's JSON") from None
        if status == "ok":
            return answer
        code, message = _read_failure(answer)
        if code in accept:
            return answer
        if code in KEY_CODES:
            raise ConfigError(
                f"{self.config.address}: Flickr does not accept the key ({self._without_key(message)}, code {code}). "
                f"Is {KEY_VARIABLE} the key of your application, as it stands on its page?"
            )
        if code in PASSING_CODES:
            raise _PassingError(f"{message} (code {code})")
        raise FileError(
            f"{self.config.address}: Flickr refused {method} ({self._without_key(message)}, code {code}); expected an "
            "answer. Change the words or the areas; what was found so far is kept."
        )

    def _send(self, method: str, parameters: Mapping[str, str]) -> bytes:
        from graticule import __version__

        form = {**parameters, "method": method, "format": "json", "nojsoncallback": "1", "api_key": self.key}
        request = urllib.request.Request(
            self.config.address,
            data=urllib.parse.urlencode(form).encode(),
            headers={"User-Agent": f"graticule/{__version__} (photos for evaluating image models)"},
        )
        self.n_asked += 1
        until = time.monotonic() + self.config.timeout_s
        try:
            with urllib.request.urlopen(request, timeout=self.config.timeout_s) as reply:
                return _read_body(reply, until)
        except urllib.error.HTTPError as error:
            with error:
                self._judge_status(error)
                raise FileError(
                    f"{self.config.address}: HTTP status {error.code}, expected 200. Is --address the API's?"
                ) from None
        except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
            reason = getattr(error, "reason", error)
            raise _PassingError(f"it cannot be reached ({reason or type(error).__name__})") from None

    def _judge_status(self, error: urllib.error.HTTPError) -> None:
        """Raise for a status that has a meaning of its own."""
        if error.code in HTTP_REFUSED:
            raise ConfigError(
                f"{self.config.address}: HTTP status {error.code}, the key is refused. Is {KEY_VARIABLE} the key of "
                "your application, and is it still allowed to ask?"
            )
        if error.code == HTTP_TOO_MANY or error.code >= HTTP_SERVER_ERROR:
            raise _PassingError(f"HTTP status {error.code}", wait_s=_read_wait(error.headers.get("Retry-After")))

    def _without_key(self, text: str) -> str:
        return text.replace(self.key, "…")


def _read_body(reply: http.client.HTTPResponse, until: float) -> bytes:
    body = b""
    while block := reply.read1(BLOCK_BYTES):
        body += block
        if len(body) > LARGEST_ANSWER_BYTES:
            raise _PassingError(f"its answer is longer than {LARGEST_ANSWER_BYTES} bytes")
        if time.monotonic() > until:
            raise _PassingError("its answer took too long")
    return body


def _read_failure(answer: Mapping[str, Any]) -> tuple[int, str]:
    try:
        code = int(answer.get("code", -1))
    except (TypeError, ValueError):
        code = -1
    return code, str(answer.get("message", "no reason given"))


def _read_wait(header: str | None) -> float | None:
    """Return the seconds that a ``Retry-After`` asks for, given as seconds or as a date; None where it says nothing."""
    if header is None:
        return None
    if header.strip().isdigit():
        return float(header)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    except (TypeError, ValueError):
        return None

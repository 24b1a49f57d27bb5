"""What goes wrong on the way to Flickr, and where the key does not go."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from graticule.data.flickr.client import FlickrClient, FlickrConfig
from graticule.data.store import read_provenance, read_table
from graticule.data.tables import IMAGES
from graticule.errors import ConfigError, FileError

HTML = b"<html>sign in first</html>"
BUSY = json.dumps({"stat": "fail", "code": 105, "message": "Service currently unavailable"}).encode()


@pytest.mark.parametrize(
    "fault",
    [
        (429, {"Retry-After": "0"}, b""),
        (503, {"Retry-After": "Thu, 01 Jan 2015 00:00:00 GMT"}, b""),
        (500, {"Retry-After": "soon"}, b""),
        (200, {}, HTML),
        (200, {}, b""),
        (200, {}, b'{"stat": "ok", "photos"'),
        (200, {}, b"[1, 2]"),
        (200, {}, BUSY),
        (200, {"Content-Length": "1000"}, b'{"stat"'),
    ],
)
def test_a_passing_fault_is_asked_again(api, tmp_path, fault, caplog):
    flickr, config = api.serve([api.photo(1)])
    flickr.faults = [fault, fault]
    api.run(tmp_path / "found.parquet", config)
    assert len(read_table(tmp_path / "found.parquet", IMAGES)) == 1
    assert len(flickr.asked) == 5
    assert "trying again" in caplog.text


def test_a_fault_that_stays_ends_the_run_and_the_next_one_goes_on(api, tmp_path):
    flickr, config = api.serve([api.photo(1), api.photo(2, tags="busstop")])
    output = tmp_path / "found.parquet"
    flickr.faults = [(200, {}, None), (200, {}, None)] + [(502, {}, b"")] * 4
    with pytest.raises(FileError, match=r"HTTP status 502; tried 4 times.*same command later"):
        api.run(output, config)
    assert not output.exists()
    n_asked = len(flickr.asked)
    api.run(output, config)
    assert len(flickr.asked) == n_asked + 1
    assert len(read_table(output, IMAGES)) == 2


def test_a_long_wait_that_is_asked_for_ends_the_run(api, tmp_path):
    flickr, config = api.serve([api.photo(1)])
    flickr.faults = [(429, {"Retry-After": "86400"}, b"")]
    with pytest.raises(FileError, match="wait 86400 seconds"):
        api.run(tmp_path / "found.parquet", config)


@pytest.mark.parametrize(
    ("fault", "error", "message"),
    [
        ((403, {}, b""), ConfigError, "HTTP status 403"),
        ((404, {}, b""), FileError, "HTTP status 404"),
        ((302, {"Location": "/elsewhere"}, b""), FileError, "HTTP status 404"),
        ((200, {}, b'{"stat": "fail", "code": 2, "message": "Too many tags"}'), FileError, "Too many tags"),
        ((200, {}, b'{"stat": "fail"}'), FileError, "no reason given"),
    ],
)
def test_a_refusal_is_one_clear_error_at_once(api, names, fault, error, message):
    flickr, config = api.serve([api.photo(1)])
    flickr.faults = [fault]
    with pytest.raises(error, match=message):
        api.run(names.parent / "found.parquet", config)
    assert len(flickr.asked) == 1
    assert api.key not in "".join(flickr.addresses)


def test_an_answer_without_photos_is_a_clear_error(api, tmp_path):
    flickr, config = api.serve([api.photo(1)])
    flickr.faults = [(200, {}, None), (200, {}, b'{"stat": "ok", "photos": {"photo": 3}}')]
    with pytest.raises(FileError, match="without photos or their total"):
        api.run(tmp_path / "found.parquet", config)


def test_a_slow_answer_is_given_up_and_asked_again(api, tmp_path):
    flickr, config = api.serve([api.photo(1)])
    flickr.lag_s = 0.5
    slow = FlickrConfig(address=config.address, per_hour=config.per_hour, tries=2, timeout_s=0.1, first_wait_s=0)
    with pytest.raises(FileError, match="tried 2 times"):
        api.run(tmp_path / "found.parquet", slow)


def test_a_killed_run_goes_on_where_it_stopped(api, names, tmp_path):
    flickr, config = api.serve([api.photo(i, tags="street busstop") for i in range(1, 1500)])
    flickr.lag_s = 0.1
    output = tmp_path / "found.parquet"
    typed = [sys.executable, "-m", "graticule.cli.main"]
    code = "import sys; from graticule.cli.main import main; main(sys.argv[1:])"
    typed = [sys.executable, "-c", code, "curate", "flickr", str(names), "-o", str(output), "--no-progress"]
    typed += ["--address", config.address, "--per-hour", "1000000000"]
    with subprocess.Popen(typed, env={**os.environ, "FLICKR_API_KEY": api.key}, stderr=subprocess.PIPE) as process:
        until = time.monotonic() + 60
        while len(flickr.asked) < 5 and time.monotonic() < until:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    assert not output.exists()
    n_before = len(flickr.asked)
    flickr.lag_s = 0.0
    with (tmp_path / "found.parquet.partial" / "answers.jsonl").open("ab") as file:
        file.write(b'{"question": {"torn')
    api.run(output, config)
    assert len(read_table(output, IMAGES)) == 1499
    n_needed = 1 + 2 * 6
    assert n_needed <= len(flickr.asked) <= n_needed + 1  # the answer under way at the kill may be asked for again
    assert n_before >= 5


def test_the_key_is_nowhere(api, tmp_path, monkeypatch, caplog):
    _, config = api.serve([api.photo(1)])
    api.run(tmp_path / "found.parquet", config)
    for path in tmp_path.rglob("*"):
        assert api.key.encode() not in path.read_bytes()
    assert api.key not in json.dumps(read_provenance(tmp_path / "found.parquet"))
    assert api.key not in repr(FlickrClient(key=api.key)) + caplog.text
    monkeypatch.setenv("FLICKR_API_KEY", "wrong-key")
    with pytest.raises(ConfigError, match=r"does not accept the key \(Invalid API Key \(…\), code 100\)"):
        api.run(tmp_path / "again.parquet", config)
    for bad in ("", "two words", "\N{SNOWMAN}"):
        monkeypatch.setenv("FLICKR_API_KEY", bad)
        with pytest.raises(ConfigError, match="FLICKR_API_KEY"):
            api.run(tmp_path / "again.parquet", config)


def test_questions_are_spaced(api):
    flickr, config = api.serve([])
    client = FlickrClient(key=api.key, config=FlickrConfig(address=config.address, per_hour=36_000))
    began = time.monotonic()
    for _ in range(4):
        client.ask("flickr.photos.licenses.getInfo", {})
    assert time.monotonic() - began >= 0.3
    assert len(flickr.asked) == 4

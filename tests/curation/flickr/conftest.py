"""An API that behaves as Flickr's, on this machine: pages, limits, and whatever faults a test asks for."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from urllib.parse import parse_qs

import pytest

from graticule.curation.flickr_files import FlickrRequest, search_flickr
from graticule.data.flickr import search
from graticule.data.flickr.client import FlickrConfig

KEY = "0123456789abcdef0123456789abcdef"
LICENSES = {"0": "All Rights Reserved", "4": "Attribution License"}


class Flickr:
    """Photos, the questions that were asked, and the faults that the next answers have."""

    def __init__(self, photos):
        self.photos = photos
        self.asked = []
        self.addresses = []
        self.faults = []
        self.lag_s = 0.0

    def answer(self, form):
        if form.get("api_key") != KEY:
            return {"stat": "fail", "code": 100, "message": f"Invalid API Key ({form.get('api_key')})"}
        method = form["method"].removeprefix("flickr.photos.")
        if method == "licenses.getInfo":
            listed = [{"id": int(number), "name": name, "url": ""} for number, name in LICENSES.items()]
            return {"licenses": {"license": listed}, "stat": "ok"}
        if method == "geo.getLocation":
            return self.locate(form["photo_id"])
        assert method == "search", method
        found = self.find(form)
        size, page = int(form["per_page"]), int(form["page"])
        listed = found[: search.MOST_RESULTS][(page - 1) * size : page * size]
        pages = -(-len(found) // size)
        return {
            "photos": {"page": page, "pages": pages, "perpage": size, "total": str(len(found)), "photo": listed},
            "stat": "ok",
        }

    def find(self, form):
        west, south, east, north = map(float, form["bbox"].split(","))
        tags = set(form["tags"].split(","))
        since, until = int(form.get("min_upload_date", 0)), int(form["max_upload_date"])
        allowed = set(form["license"].split(",")) if "license" in form else set(LICENSES)
        return [
            photo
            for photo in self.photos
            if west <= float(photo["longitude"]) <= east
            and south <= float(photo["latitude"]) <= north
            and since <= int(photo["dateupload"]) <= until
            and photo["license"] in allowed
            and tags & set(photo["tags"].split())
        ]

    def locate(self, identifier):
        for photo in self.photos:
            if photo["id"] == identifier:
                if not float(photo["latitude"]):
                    return {"stat": "fail", "code": 2, "message": "Photo has no location information."}
                place = {name: photo[name] for name in ("latitude", "longitude", "accuracy")}
                return {"photo": {"id": identifier, "location": place}, "stat": "ok"}
        return {"stat": "fail", "code": 1, "message": "Photo not found"}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        flickr = self.server.flickr
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        flickr.asked.append({name: values[0] for name, values in parse_qs(body).items()})
        flickr.addresses.append(self.path)
        assert self.headers["User-Agent"].startswith("graticule/")
        time.sleep(flickr.lag_s)
        status, headers, data = 200, {}, None
        if flickr.faults:
            status, headers, data = flickr.faults.pop(0)
        if data is None:
            data = json.dumps(flickr.answer(flickr.asked[-1])).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        with contextlib.suppress(OSError):  # whoever asked may have gone
            self.wfile.write(data)

    def do_GET(self):
        self.server.flickr.addresses.append(self.path)
        self.send_response(404)
        self.end_headers()

    def log_message(self, format, *args):
        """Keep quiet."""


def describe_photo(identifier, *, tags="street", latitude=20.0, longitude=80.0, uploaded=1_300_000_000, **other):
    return {
        "id": str(identifier),
        "owner": "7@N00",
        "ownername": "Ann",
        "title": "a street",
        "license": "4",
        "dateupload": str(uploaded),
        "datetaken": "2011-03-13 08:06:40",
        "datetakenunknown": "0",
        "latitude": str(latitude),
        "longitude": str(longitude),
        "accuracy": "16",
        "tags": tags,
        "url_c": f"https://live.staticflickr.com/{identifier}_c.jpg",
        "width_c": "800",
        "height_c": 600,
    } | other


@pytest.fixture
def serve(monkeypatch):
    """Return a function that serves photos, and gives the server's record and a configuration to ask it."""
    monkeypatch.setenv("FLICKR_API_KEY", KEY)
    servers = []

    def start(photos):
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        server.flickr = Flickr(photos)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        servers.append((server, thread))
        address = f"http://127.0.0.1:{server.server_port}/services/rest/"
        return server.flickr, FlickrConfig(address=address, per_hour=10**9, tries=4, timeout_s=5, first_wait_s=0)

    yield start
    for server, thread in servers:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def names(tmp_path):
    path = tmp_path / "names.csv"
    path.write_text("label,en,ko\nstreet,street|Main Road,거리\nbus_stop,bus stop,\n", encoding="utf-8")
    return path


@pytest.fixture
def few(monkeypatch):
    """Let the API list 40 photos of a search, 10 a page, so that small worlds divide."""
    monkeypatch.setattr(search, "MOST_RESULTS", 40)
    monkeypatch.setattr(search, "PER_PAGE", 10)


@pytest.fixture
def api(serve, names):
    """Return what a test needs of the API: how to serve photos, describe one, search for the names, and the key."""

    def run(output, config, **request):
        return search_flickr(names, output, request=FlickrRequest(config=config, **request), progress=False)

    return SimpleNamespace(serve=serve, photo=describe_photo, run=run, key=KEY)

import io
import json
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from PIL import Image

from graticule.data.commons import CATEGORIES, fetch_commons, list_photos
from graticule.errors import FileError


def _jpeg() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (32, 24), (200, 30, 30)).save(file, "JPEG")
    return file.getvalue()


class _Api(BaseHTTPRequestHandler):
    """Answers as the MediaWiki API does, for two files in each category, one of them a PDF."""

    def do_GET(self):
        parts = urllib.parse.urlsplit(self.path)
        if parts.path.startswith("/thumb"):
            body, kind = _jpeg(), "image/jpeg"
        elif parts.path.startswith("/broken"):
            body, kind = b"<html>sign in first</html>", "text/html"
        else:
            name = urllib.parse.parse_qs(parts.query)["gcmtitle"][0].removeprefix("Category:")
            host = f"http://{self.headers['Host']}"
            pages = [
                {
                    "title": f"File:{name} 1/2.jpg",
                    "imageinfo": [
                        {
                            "thumburl": f"{host}/thumb/1.jpg",
                            "descriptionurl": "https://example.org/page",
                            "extmetadata": {"Artist": {"value": "A. Person"}, "LicenseShortName": {"value": "CC0"}},
                        }
                    ],
                    "coordinates": [{"lat": 35.0, "lon": 139.0}],
                },
                {"title": f"File:{name}.pdf", "imageinfo": [{"thumburl": f"{host}/thumb/2.jpg"}]},
                {"title": f"File:{name} without thumbnail.jpg"},
            ]
            body, kind = json.dumps({"query": {"pages": pages}}).encode(), "application/json"
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *args):
        """Keep quiet."""


@pytest.fixture
def api():
    with HTTPServer(("127.0.0.1", 0), _Api) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_each_category_becomes_photos_with_country_label_and_licence(api, tmp_path):
    table = fetch_commons(tmp_path, address=f"{api}/w/api.php", per_category=2)
    assert len(table) == sum(len(labels) for labels in CATEGORIES.values())
    assert set(table["licence"]) == {"CC0"}
    assert all((tmp_path / path).is_file() for path in table["path"])
    assert (tmp_path / "photos.csv").is_file()
    assert not [path for path in tmp_path.rglob("*") if path.suffix == ".pdf"]


def test_an_answer_that_is_not_the_apis_is_a_clear_error(api):
    with pytest.raises(FileError, match="not the API's JSON"):
        list_photos("x", address=f"{api}/broken", limit=1, width=10)


def test_an_address_that_is_not_reached_is_a_clear_error(tmp_path):
    with pytest.raises(FileError, match=r"cannot be reached.*--photos"):
        fetch_commons(tmp_path, address="http://127.0.0.1:1/api")
    assert not list(tmp_path.iterdir())

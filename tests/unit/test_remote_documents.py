"""Documents of other servers: bounded in everything."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from lamina.errors import Unavailable
from lamina.remote.documents import fetch_document


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/dripping":
            self.drip()
            return
        status, headers, body = {
            "/ok": (200, {}, b'{"keys":[]}'),
            "/moved": (302, {"Location": "/ok"}, b""),
            "/missing": (404, {}, b"no"),
            "/large": (200, {}, b"x" * 5000),
            "/packed": (200, {"Content-Encoding": "gzip"}, b"x"),
        }[self.path]
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def drip(self) -> None:
        """A byte now and then, of the headers too: none of them comes late."""
        with contextlib.suppress(OSError):
            for byte in b"HTTP/1.0 200 OK\r\n\r\n" + b" " * 2_000:
                self.wfile.write(bytes([byte]))
                time.sleep(0.01)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture(scope="module", name="url")
def _url() -> Iterator[Callable[[str], str]]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield lambda path: f"http://127.0.0.1:{server.server_port}{path}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_document_is_read(url: Callable[[str], str]) -> None:
    assert fetch_document(url("/ok"), bytes_max=100, timeout_s=5) == b'{"keys":[]}'


@pytest.mark.parametrize(
    ("path", "reason"),
    [("/moved", "302"), ("/missing", "404"), ("/large", "larger"), ("/packed", "encoding")],
)
def test_anything_else_is_refused_with_the_reason(url: Callable[[str], str], path: str, reason: str) -> None:
    with pytest.raises(Unavailable, match=reason):
        fetch_document(url(path), bytes_max=1000, timeout_s=5)


def test_a_server_that_drips_is_given_up_in_time(url: Callable[[str], str]) -> None:
    began = time.monotonic()
    with pytest.raises(Unavailable):
        fetch_document(url("/dripping"), bytes_max=1000, timeout_s=0.2)
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("url_", ["http://127.0.0.1:1/x", "http://", "nonsense"])
def test_a_server_that_is_not_there_is_unavailable(url_: str) -> None:
    with pytest.raises(Unavailable):
        fetch_document(url_, bytes_max=1000, timeout_s=5)

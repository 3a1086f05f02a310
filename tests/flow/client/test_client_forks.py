"""A process that is forked has connections of its own, so that it and its parent read their own answers."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

FORKS = """
import os, sys
from lamina import Client
with Client(sys.argv[1], actor="user:maya") as client:
    before = client.version().version
    if os.fork():
        os.wait()
    print(before, client.version().version, flush=True)
"""


class Naming(BaseHTTPRequestHandler):
    """Answers with the number of the connection."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        said = {"name": "lamina", "version": str(self.client_address[1]), "api_version": "1", "python": "3"}
        body = json.dumps(said).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Naming) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_forked_process_asks_over_a_connection_of_its_own(url: str) -> None:
    command = [sys.executable, "-c", FORKS, url]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    (before, child), parent = (line.split() for line in ran.stdout.splitlines())
    assert parent == [before, before]
    assert child != before

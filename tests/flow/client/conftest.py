"""A real server on a port of its own, for clients and commands."""

from __future__ import annotations

import fcntl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
import uvicorn

from given import ManualClock
from issuing import issuers_file
from lamina.app import Server, build_server
from lamina.client import Client, asynchronous, synchronous
from lamina.client.session import Retries
from lamina.settings import Settings
from lamina.worker_app import build_worker


@dataclass
class Live:
    """A server that listens, and its derivation on demand."""

    url: str
    server: Server

    def drain(self) -> None:
        """Derive everything that is queued."""
        build_worker(self.server.settings, self.server.store).drain()

    @contextmanager
    def draining(self) -> Iterator[None]:
        """Derive what comes, until the block ends."""
        over = threading.Event()

        def drain() -> None:
            while not over.is_set():
                self.drain()
                time.sleep(0.05)

        thread = threading.Thread(target=drain)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


@contextmanager
def listening(server: Server) -> Iterator[Live]:
    """A server on a port of its own, until the block ends."""
    config = uvicorn.Config(server.application, port=0, log_level="warning", lifespan="off")
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run)
    thread.start()
    while not running.started:
        assert thread.is_alive(), "the server did not start"
    port = running.servers[0].sockets[0].getsockname()[1]
    yield Live(f"http://127.0.0.1:{port}", server)
    server.stop_streams()
    running.should_exit = True
    thread.join()
    server.close()


@pytest.fixture(name="listening", scope="session")
def _listening() -> Callable[[Server], AbstractContextManager[Live]]:
    """Lets a server of a test's own listen."""
    return listening


@pytest.fixture(scope="session")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with listening(build_server(Settings(data=tmp_path_factory.mktemp("live"), workers=0))) as live:
        yield live


@pytest.fixture
def worker_lives(live: Live) -> Iterator[None]:
    """What a worker that runs holds; the server of the tests has none, and is drained by the tests."""
    with (live.server.settings.data / "worker.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture
def signing(tmp_path: Path) -> Iterator[Live]:
    """A server that takes signed tokens, at noon."""
    settings = Settings(
        preset="on_prem_enterprise",
        issuers=issuers_file(tmp_path),
        data=tmp_path,
        operators="acme/user:alice",  # who may take tokens back
    )
    with listening(build_server(settings, clock=ManualClock())) as live:
        yield live


@pytest.fixture(autouse=True)
def _soon_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients ask again as often as ever, but soon."""
    for module in (synchronous, asynchronous):
        monkeypatch.setattr(module, "Retries", partial(Retries, base_s=0.01))


@pytest.fixture
def maya() -> str:
    """An actor that no other test knows, so that tests do not meet in one memory."""
    return f"user:maya-{uuid4().hex[:8]}"


@pytest.fixture
def client(live: Live, maya: str) -> Iterator[Client]:
    with Client(live.url, actor=maya) as client:
        yield client.allow_unstable()


class Losing(httpx.HTTPTransport):
    """Delivers every request, and loses as many of the answers as it is told."""

    def __init__(self, lost: int) -> None:
        super().__init__()
        self.lost = lost
        self.sent: list[bytes] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The answer, or its loss."""
        self.sent.append(request.content)
        response = super().handle_request(request)
        if self.lost > 0:
            self.lost -= 1
            response.close()
            raise httpx.ReadError("the connection broke")
        return response


@pytest.fixture
def losing() -> type[Losing]:
    """A transport that loses answers."""
    return Losing

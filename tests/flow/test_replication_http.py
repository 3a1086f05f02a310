"""Two servers, one of them on disk: what stands on the first is given to the second, over a connection."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from given import NOON, ManualClock
from lamina.access.relay_tokens import issue, owner_grant
from lamina.kernel.ids import RandomIds
from lamina.kernel.relay import TEMPLATES
from lamina.store.sqlite import SqliteStore
from neighbours import Neighbours

PULL = "/v1/replication/pull"
PUSH = "/v1/replication/push"
BO = "agent:bo"


class Server(Neighbours):
    """``bo`` has a token that owns, and one of a peer that replicates."""

    def __init__(self, folder: Path) -> None:
        store = SqliteStore(folder, clock=ManualClock(), durable=False)
        super().__init__("dev_local", store, relay_replication=True, data=folder)
        self.owner, self.peer = (
            issue(store.relay_tokens, RandomIds(), NOON, tenant_id="acme", peer_id="bo", grant=grant)
            for grant in (owner_grant(), TEMPLATES["replication_peer"])
        )

    def owns(self, verb: str, url: str, body: Any = None, /, **query: Any) -> Any:
        return self.said(verb, url, body, by=BO, tenant=self.owner, **query)


@pytest.fixture(name="here")
def _here(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path / "here")
    yield server
    server.close()


@pytest.fixture(name="there")
def _there(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path / "there")
    yield server
    server.close()


@pytest.fixture(name="address")
def _address(there: Server) -> Iterator[str]:
    class Door(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            token = self.headers["Authorization"].removeprefix("Bearer ")
            answer = there.call("POST", self.path, body, by=BO, tenant=token)
            self.send_response(answer.status_code)
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, *_: object) -> None:
            pass

    door = ThreadingHTTPServer(("127.0.0.1", 0), Door)
    thread = threading.Thread(target=door.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{door.server_port}"
    door.shutdown()
    door.server_close()
    thread.join()


def test_a_server_gives_another_its_files_and_both_agree(here: Server, there: Server, address: str) -> None:
    here.owns("POST", "/v1/write", {"path": "projects/plan.md", "content": "Freeze until Friday\n"})
    here.owns("POST", "/v1/peers/register", {"peer_id": "rita", "base_url": address})
    pushing = {"peer_id": "rita", "include_prefixes": ["projects"], "target_token": there.peer}
    done = here.owns("POST", PUSH, pushing)
    assert (done["dry_run"], done["remote"]["changed_count"]) == (False, 1)
    read = there.owns("GET", "/v1/read", path="projects/plan.md")
    assert read["content"] == "Freeze until Friday\n"
    assert here.owns("POST", PUSH, pushing)["remote"]["skipped_count"] == 1
    kept = here.owns("GET", "/v1/read", path="peers/replication_state.json")["content"]
    assert there.peer not in kept
    wrong = here.call("POST", PUSH, pushing | {"target_token": "cgr_nobody"}, by=BO, tenant=here.owner)
    assert (wrong.status_code, wrong.json()["error_code"]) == (502, "PEER_UNREACHABLE")
    abroad = pushing | {"base_url": "http://10.0.0.1"}
    assert here.code("POST", PUSH, abroad, by=BO, tenant=here.owner) == "PEER_ADDRESS_DENIED"


def test_a_key_that_was_used_brings_back_its_counts(there: Server) -> None:
    file = {"path": "projects/old.md", "deleted": True, "version": 2}
    bundle = {"source_peer": "bo", "files": [file], "idempotency_key": "k"}
    first = there.said("POST", PULL, bundle, by=BO, tenant=there.peer)
    again = there.said("POST", PULL, bundle, by=BO, tenant=there.peer)
    assert again == first | {"idempotent_replay": True}
    other = bundle | {"files": []}
    assert there.code("POST", PULL, other, by=BO, tenant=there.peer) == "IDEMPOTENCY_CONFLICT"


def test_jobs_give_and_take_files_as_the_routes_do(here: Server) -> None:
    here.owns("POST", "/v1/write", {"path": "projects/plan.md", "content": "Freeze\n"})

    def run(job: str, **arguments: Any) -> Any:
        return here.owns("POST", "/v1/ops/run", {"job_id": f"replication.{job}", "arguments": arguments})[
            "job_result"
        ]

    pushed = run("push", dry_run=True, include_prefixes=["projects"])
    assert (pushed["file_count"], pushed["sample_paths"]) == (1, ["projects/plan.md"])
    file = {"path": "projects/b.md", "content": "tea", "sha256": sha256(b"tea").hexdigest(), "version": 1}
    keyed = {"source_peer": "bo", "files": [file], "idempotency_key": "k"}
    assert run("pull", **keyed)["committed_files"] == ["projects/b.md", "peers/replication_state.json"]
    # A key stands for what was pulled, whichever way it came.
    again = here.owns("POST", PULL, keyed)
    assert (again["idempotent_replay"], again["changed_count"]) == (True, 1)
    changed = {"job_id": "replication.pull", "arguments": keyed | {"files": []}}
    assert here.code("POST", "/v1/ops/run", changed, by=BO, tenant=here.owner) == "IDEMPOTENCY_CONFLICT"

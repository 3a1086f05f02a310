"""What most servers never use is loaded by who uses it."""

from __future__ import annotations

import subprocess
import sys

_SEEN = """
import sys
from pathlib import Path
from starlette.testclient import TestClient
from lamina.app import build_server
from lamina.settings import Settings

server = build_server(Settings(data=Path(sys.argv[1]), workers=0))
with TestClient(server.application, base_url="http://127.0.0.1", headers={"X-Cortex-Actor": "user:ana"}) as client:
    told = {
        "scope": "org:home/user:ana", "modality": "conversation", "content": {"kind": "text", "text": "I like tea."},
        "context": {"observed_at": "2026-11-28T06:00:00Z"}, "idempotency_key": "told-1",
    }
    answered = client.post("/v1/experience", json=told)
    assert answered.status_code == 202, answered.text
    assert client.post("/v1/recall", json={"scope": "org:home/user:ana", "query": "tea"}).status_code == 200
    seldom = {"cryptography", "joserfc", "lamina.models.generator", "lamina.remote.peers", "pygit2", "pyseto"}
    loaded = seldom & set(sys.modules)
print(sorted(loaded))
"""


def test_a_server_of_ones_own_loads_no_git_no_client_and_no_signatures(tmp_path: object) -> None:
    found = subprocess.run(
        [sys.executable, "-c", _SEEN, str(tmp_path)], capture_output=True, text=True, timeout=120, check=False
    )
    assert found.stdout == "[]\n", found.stderr

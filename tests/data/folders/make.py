"""Writes ``0ed09b5.tar.xz`` beside this file: a data folder as the release at commit 0ed09b5 left it.

    git archive 0ed09b5 | tar x -C /tmp/old
    PYTHONPATH=/tmp/old/src python tests/data/folders/make.py

That release's own server and worker do the writing, so that nothing of a later one is in the folder: conversations,
corrections, a cancelled event, a fact that another scope consolidates, sessions with loops, and capsules in their git
repository. The folder holds invented words only.
"""

from __future__ import annotations

import io
import json
import lzma
import os
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
EXAMPLE = HERE.parents[2] / "examples" / "conversation.jsonl"
NAME = "0ed09b5"
LINES = 24


class Server:
    """The server of whichever release stands on the path."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        command = [sys.executable, "-m", "lamina", "serve", "--port", str(self.port), "--data", str(folder)]
        self.process = subprocess.Popen(command, start_new_session=True)
        for _ in range(600):
            try:
                self.ask("GET", "/v1/admin/version")
                return
            except OSError:
                time.sleep(0.2)
        raise SystemExit("the server does not answer")

    def ask(self, verb: str, path: str, body: Any = None, actor: str = "user:maya") -> Any:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            method=verb,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json", "X-Cortex-Actor": actor},
        )
        try:
            with urllib.request.urlopen(request, timeout=300) as response:
                text = response.read()
        except urllib.error.HTTPError as error:
            raise SystemExit(f"{verb} {path}: {error.code} {error.read().decode()}") from error
        return json.loads(text) if text else None

    def stop(self) -> None:
        os.kill(self.process.pid, signal.SIGINT)
        self.process.wait(300)


def say(server: Server, text: str, scope: str, actor: str, at: str, **directives: Any) -> str:
    """One event; its id."""
    envelope = {
        "scope": scope,
        "modality": "conversation",
        "observed_actor": {"id": actor, "session": f"{scope}-1"},
        "content": {"kind": "message", "role": "user", "text": text},
        "context": {"observed_at": at},
        "directives": directives,
        "idempotency_key": f"{scope} {at}",
    }
    return str(server.ask("POST", "/v1/experience", envelope, actor)["event_id"])


def write(server: Server) -> None:
    """Everything that derivation knows, a little of each."""
    for line in EXAMPLE.read_text(encoding="utf-8").splitlines()[:LINES]:
        server.ask("POST", "/v1/experience", {"scope": "user:maya", **json.loads(line)})
    say(server, "I moved to Hamburg on April 2.", "user:maya", "user:maya", "2026-04-08T18:00:00Z")
    wrong = say(server, "I moved to Bremen.", "user:maya", "user:maya", "2026-05-01T18:00:00Z")
    say(server, "I live in Porto.", "user:ana", "user:ana", "2026-03-01T09:00:00Z")
    say(server, "I moved to Lisbon.", "user:ana", "user:ana", "2026-04-01T09:00:00Z")
    say(
        server, "I live in Lisbon.", "user:ana/app:notes", "user:ana", "2026-04-02T09:00:00Z",
        consolidate_into="user:ana",
    )  # fmt: skip
    server.ask("POST", "/v1/admin/flush-views", {"timeout_s": 30})
    server.ask("POST", f"/v1/lifecycle/memory-event/{wrong}/cancel", {})
    turns = [
        ("user", "My name is Bo. I will send the report to Carla tomorrow."),
        ("assistant", "I will remind you on Friday."),
        ("user", "Did you ever hear back from the landlord?"),
        ("user", "I sent the report to Carla."),
        ("user", "I work at Fernhill and I am allergic to peanuts."),
    ]
    for number, (role, text) in enumerate(turns):
        turn = {"tenantId": "local", "userId": "bo", "personaId": "juno", "sessionId": "s1", "role": role}
        at = f"2026-05-13T12:0{number}:00Z"
        server.ask("POST", "/ingest", {**turn, "text": text, "timestamp": at}, "service:app")
    for number in range(3):
        capsule = {
            "subject_kind": "thread",
            "subject_id": "launch",
            "updated_at": f"2026-05-13T11:0{number}:00Z",
            "verified_at": "2026-05-13T11:00:00Z",
            "source": {"producer": "make", "update_reason": "manual"},
            "continuity": {
                "top_priorities": [f"ship part {number}"],
                "active_concerns": ["time"],
                "active_constraints": ["two cores"],
                "open_loops": ["tests"],
                "stance_summary": "Ship the capsule slice first, then everything else.",
                "drift_signals": [],
            },
            "confidence": {"continuity": 0.8, "relationship_model": 0.5},
        }
        body = {"subject_kind": "thread", "subject_id": "launch", "capsule": capsule}
        server.ask("POST", "/v1/continuity/upsert", body)
    for _ in range(300):
        server.ask("POST", "/v1/admin/flush-views", {"timeout_s": 30})
        worker = server.ask("GET", "/v1/admin/health")["worker"]
        if not worker["pending"] and not worker["running"]:
            break
        time.sleep(1)
    time.sleep(5)  # vectors and folds are behind the stages


def main() -> None:
    """Serve, write, stop, pack."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "data"
        server = Server(folder)
        try:
            write(server)
        finally:
            server.stop()
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            archive.add(folder, arcname=NAME)
        target = HERE / f"{NAME}.tar.xz"
        target.write_bytes(lzma.compress(packed.getvalue(), preset=9 | lzma.PRESET_EXTREME))
        print(target, target.stat().st_size)


if __name__ == "__main__":
    main()

"""Ids, paths and bodies that nobody should send, over HTTP and as tools, to coordination, tasks, patches, replication, messages, keys,
peers and operators: refused in words, and nothing stands where it should not.

``RELAY_CASES`` says how many, ``RELAY_SEED`` which; a case is drawn by its own number, which a failure names.
"""

from __future__ import annotations

import asyncio
import copy
import hashlib
import json
import os
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from capsules import body
from given import NOON, ManualClock
from lamina.access.relay_tokens import issue, owner_grant
from lamina.http.relay.contract import TOOLS
from lamina.kernel.ids import RandomIds
from lamina.kernel.time import SECOND_US
from lamina.store.ports.documents import Change, ChangeKind, Write
from lamina.store.sqlite import SqliteStore
from neighbours import Neighbours

CASES = int(os.environ.get("RELAY_CASES", "450"))
SEED = int(os.environ.get("RELAY_SEED", "20261123"))
RENEWED = 250
"""After so many cases callers are let in anew: what is sent takes tokens back, and trust."""
LAUNCH = {"subject_kind": "thread", "subject_id": "launch"}
LETTER = {"thread_id": "t", "sender": "bo", "recipient": "cy", "subject": "Plan", "body_md": "Shall we?"}
NAMES = ("bo", "cy")
ODD_IDS = (
    "..", "../../config/peer_tokens", "..%2f..%2fx", "%2e%2e%2f", "a/b", "/etc/passwd", "C:\\x", "con", "x\0y", "\u202e", "\ud800",
    "handoff_" + 31 * "0", "handoff_" + 32 * "G", "shared_" + 32 * "0" + "\n", "recon_" + 32 * "0" + "/..", "é" * 90, "x" * 5000, " ", "",
    "handoff_" + 32 * "٠", "handoff_" + 32 * "0" + ".json", "?", "#", "%", "%zz", "true", "null", "-1", "{handoff_id}", "query",
)  # fmt: skip
ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 2**53, 2**70, 1e308, "", " ", "x" * 300, "\0", "\u202e", "𝕏" * 130, [], [[]], {}, {"a": {"b": []}},
    ["x"] * 9, [None], "\udc80", "../../x", "nobody", "bo", "eve", {"$ref": "#"}, [{"source_kind": "handoff"}] * 3,
)  # fmt: skip
TEA = hashlib.sha256(b"tea").hexdigest()
FIELDS = (
    "constructor",
    "__class__",
    "idempotency_key",
    "handoff_id",
    "shared_id",
    "version",
    "owner_peer",
    "x" * 200,
)
HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}
PLACES = re.compile(
    r"memory/continuity/.+|memory/coordination/(handoffs/handoff|shared/shared|reconciliations/recon)_[0-9a-f]{32}\.json"
    r"|peers/(registry|replication_state|trust_policies)\.json|tasks/(open|done)/[^/]+\.json|patches/(proposals|applied)/[^/]+\.json|projects/[ab]\.md"
    r"|messages/(inbox|relay)/[^/]+/[0-9-]{10}/[^/]+\.json|messages/acks/[^/]+/[^/]+\.json|memory/summaries/weekly/compact_[^/]+\.(md|json)"
    r"|memory/episodic/(log\.jsonl|history/(index/|cold/)?episodic__log__[0-9TZ]+__000[1-9]\.(jsonl|json|jsonl\.gz))"
)
FILES = re.compile(r"lamina\.db(-wal|-shm)?|relay(\.key)?|backups|bells|locks|.*\.lock|checked\.json")
GONE = '"error_code":"PEER_UNREACHABLE"'
"""A bad gateway, 502: the server of another peer does not answer, and there is none here."""
LEAKS = re.compile(r"Traceback|File \"|\.py\b|site-packages|apsw|sqlite|\"INTERNAL\"", re.IGNORECASE)
"""Over MCP a fault of ours has status 200, and our code."""


class Target(Neighbours):
    """A server over a folder, with one artifact of each kind, and every route of coordination with a request that it takes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        store = SqliteStore(folder, clock=ManualClock(), durable=False)
        super().__init__(
            "dev_local",
            store,
            relay_token_rate_per_min=10**9,
            relay_ip_rate_per_min=10**9,
            relay_replication=True,
            data=folder,
            backup_folder=folder / "backups",
        )
        self.documents = self.store.documents
        self.tokens = self._let_in()
        made = [self._made(path, sent) for path, sent in self._beginnings()]
        self.ids = [next(value for name, value in each.items() if name.endswith("_id")) for each in made]
        self.said(
            "POST",
            "/v1/write",
            {"path": "projects/a.md", "content": "one\ntwo\n"},
            by="agent:bo",
            tenant=self.tokens[0],
        )
        self.ids.append(self._message())
        self._log()
        self.rows = [
            *self._rows(*self.ids[:2]),
            *self._messages(self.ids[2]),
            *self._keys_and_peers(),
            *self._jobs(),
        ]

    def _let_in(self) -> list[str]:
        self.know(bo="trusted", cy="trusted", eve="untrusted")
        return [
            issue(
                self.store.relay_tokens,
                RandomIds(),
                NOON,
                tenant_id="acme",
                peer_id=name,
                grant=owner_grant(),
            )
            for name in NAMES
        ]

    def renew(self) -> None:
        """Whoever calls holds a token again, and is trusted."""
        self.tokens = self._let_in()

    def _message(self) -> str:
        sent = LETTER | {"delivery": {"requires_ack": True}}
        made = self.said("POST", "/v1/messages/send", sent, by="agent:bo", tenant=self.tokens[0])
        return str(made["message"]["id"])

    def _log(self) -> None:
        """A log of yesterday, which is due for the history."""
        change = Change("memory/episodic/log.jsonl", ChangeKind.APPEND, b"{}\n")
        write = Write(tenant_id="acme", author="agent:bo", message="log", changes=[change])
        self.documents.write([write])
        self.clock.at += 86_400 * SECOND_US

    def _made(self, path: str, sent: Any) -> Any:
        answer = self.said("POST", path, sent, by="agent:bo", tenant=self.tokens[0])
        return answer.get("handoff") or answer.get("shared") or answer

    def _beginnings(self) -> Iterator[tuple[str, Any]]:
        self.said(
            "POST",
            "/v1/continuity/upsert",
            LAUNCH | {"capsule": body()},
            by="agent:bo",
            tenant=self.tokens[0],
        )
        yield "/v1/coordination/handoff/create", LAUNCH | {"recipient_peer": "cy"}
        yield (
            "/v1/coordination/shared/create",
            {"participant_peers": ["cy"], "title": "P", "constraints": ["c"]},
        )

    @staticmethod
    def _rows(handoff_id: str, shared_id: str) -> list[tuple[str, str, str, dict[str, Any]]]:
        root, recon_id = "/v1/coordination", "recon_" + 32 * "0"
        said = {
            "claimant_peer": "cy",
            "claim_summary": "s",
            "epistemic_status": "frame_present",
            "evidence_refs": ["e"],
        }
        state = {
            "title": "T",
            "summary": "s",
            "constraints": ["c"],
            "drift_signals": ["d"],
            "coordination_alerts": [],
        }
        links = {"task_id": "t", "thread_id": "th", "commit_message": "m"}
        page = {"offset": 0, "limit": 5}
        return [
            ("POST", f"{root}/handoff/create", "", LAUNCH | links | {"recipient_peer": "cy", "note": "n"}),
            ("GET", f"{root}/handoff/{{handoff_id}}", handoff_id, {}),
            ("GET", f"{root}/handoffs/query", "", page | {"recipient_peer": "cy", "sender_peer": "bo", "status": "pending"}),
            ("POST", f"{root}/handoff/{{handoff_id}}/consume", handoff_id, {"status": "deferred", "reason": "r"}),
            ("POST", f"{root}/shared/create", "", state | links | {"participant_peers": ["cy"]}),
            ("GET", f"{root}/shared/query", "", page | {"owner_peer": "bo", "participant_peer": "cy", "task_id": "t"}),
            ("GET", f"{root}/shared/{{shared_id}}", shared_id, {}),
            ("POST", f"{root}/shared/{{shared_id}}/update", shared_id, state | {"expected_version": 1}),
            ("POST", f"{root}/reconciliation/open", "", links | {
                "title": "T", "summary": "s", "classification": "contradictory", "trigger": "handoff_vs_shared",
                "claims": [
                    said | {"source_kind": "handoff", "source_id": handoff_id},
                    said | {"source_kind": "shared", "source_id": shared_id, "observed_version": 1},
                ],
            }),
            ("POST", "/v1/tasks", "", {
                "task_id": "t-1", "title": "T", "owner_peer": "bo", "description": "d", "status": "open", "collaborators": ["cy"],
                "thread_id": "th", "blocked_by": ["t-0"], "due_at": "2027-01-01", "metadata": {"a": 1}}),
            ("PATCH", "/v1/tasks/{task_id}", "t-1", {"status": "done", "title": "T", "collaborators": ["cy"], "metadata": {"a": 2}}),
            ("GET", "/v1/tasks/query", "", {"status": "open", "owner_peer": "bo", "collaborator": "cy", "thread_id": "th", "limit": 5}),
            *(("POST", f"/v1/{kind}/patch/propose", "", {
                "target_path": "projects/a.md", "base_ref": "HEAD", "format": "unified_diff", "reason": "r", "thread_id": "th",
                "diff": "--- a/projects/a.md\n+++ b/projects/a.md\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n"}) for kind in ("docs", "code")),
            ("POST", "/v1/docs/patch/apply", "", {"patch_id": "p-1", "commit_message": "m"}),
            ("POST", "/v1/code/merge", "", {"source_ref": "main", "target_ref": "HEAD", "required_checks": ["test"]}),
            ("POST", "/v1/replication/pull", "", {
                "source_peer": "bo", "mode": "upsert", "conflict_policy": "last_write_wins", "idempotency_key": "k",
                "files": [{"path": "projects/b.md", "content": "tea", "sha256": TEA, "version": 2, "deleted": False}]}),
            ("POST", "/v1/replication/push", "", {
                "include_prefixes": ["projects"], "max_files": 9, "dry_run": True, "base_url": "http://localhost:1", "target_token": "t"}),
            ("GET", f"{root}/reconciliation/{{reconciliation_id}}", recon_id, {}),
            ("GET", f"{root}/reconciliations/query", "", page | {"owner_peer": "bo", "status": "open", "thread_id": "th"}),
            ("POST", f"{root}/reconciliation/{{reconciliation_id}}/resolve", recon_id, {
                "expected_version": 1, "outcome": "rejected", "resolution_summary": "s"}),
        ]  # fmt: skip

    @staticmethod
    def _messages(message_id: str) -> list[tuple[str, str, str, dict[str, Any]]]:
        terms = {"requires_ack": True, "ack_timeout_seconds": 60, "max_retries": 1}
        envelope = {"key_id": "k", "nonce": "n", "signature": "0" * 64, "algorithm": "hmac-sha256"}
        more = {"priority": "normal", "attachments": ["a"]}
        relayed = {name: value for name, value in LETTER.items() if name != "recipient"}
        return [
            ("POST", "/v1/messages/send", "", LETTER | more | {"idempotency_key": "k", "delivery": terms}),
            ("POST", "/v1/messages/send", "", LETTER | {"signed_envelope": envelope}),
            ("POST", "/v1/messages/ack", "", {"message_id": message_id, "status": "accepted", "reason": "r", "ack_id": "a-1"}),
            ("POST", "/v1/replay/messages", "", {"message_id": message_id, "reason": "r", "force": True, "ack_timeout_seconds": 60}),
            ("POST", "/v1/relay/forward", "", relayed | {"relay_id": "r", "target_recipient": "cy", "envelope": {"by": "r"}}),
            ("POST", "/v1/messages/verify", "", envelope | {"payload": {"a": 1}, "consume_nonce": True}),
            ("GET", "/v1/messages/inbox", "", {"recipient": "cy", "limit": 5, "after": 0}),
            ("GET", "/v1/messages/thread", "", {"thread_id": "t", "limit": 5}),
            ("GET", "/v1/messages/pending", "", {"recipient": "cy", "status": "pending_ack", "include_terminal": True, "limit": 5}),
        ]  # fmt: skip

    @staticmethod
    def _keys_and_peers() -> list[tuple[str, str, str, dict[str, Any]]]:
        folders = {"read_namespaces": ["memory"], "write_namespaces": ["tasks"]}
        until = {"ttl_seconds": 60, "description": "d"}
        return [
            ("GET", "/v1/security/tokens", "", {"peer_id": "dee", "status": "active", "include_inactive": True}),
            ("POST", "/v1/security/tokens/issue", "", folders | until | {"peer_id": "dee", "scopes": ["read:files"], "token_id": "t-1"}),
            ("POST", "/v1/security/tokens/revoke", "", {"token_id": "t-1", "peer_id": "dee", "revoke_all_for_peer": True, "reason": "r"}),
            ("POST", "/v1/security/tokens/rotate", "", folders | until | {"token_id": "t-1", "new_token_id": "t-2", "scopes": ["search"]}),
            ("POST", "/v1/security/keys/rotate", "", {"key_id": "k", "activate": True, "retire_previous": False, "return_secret": True}),
            ("GET", "/v1/peers", "", {}),
            ("POST", "/v1/peers/register", "", {
                "peer_id": "dee", "base_url": "http://127.0.0.1:1", "public_key": "k", "capabilities_url": "/v1/manifest",
                "trust_level": "restricted", "allowed_scopes": ["read:files"], "transition_reason": "they are new"}),
            ("POST", "/v1/peers/{peer_id}/trust", "dee", {"trust_level": "trusted", "reason": "they work with us"}),
            ("GET", "/v1/peers/{peer_id}/manifest", "dee", {}),
        ]  # fmt: skip

    @staticmethod
    def _jobs() -> list[tuple[str, str, str, dict[str, Any]]]:
        unit = "tasks/history/done/task_done__20260513T120000Z__0001"
        segment = "episodic__log__20260514T120000Z__0001"
        jobs: list[tuple[str, dict[str, Any]]] = [
            ("index.rebuild_incremental", {}),
            ("metrics.poll_and_alarm_eval", {}),
            ("security.rotation_check", {"lookahead_hours": 2}),
            ("backup.create", {"include_prefixes": ["tasks"], "note": "n"}),
            ("backup.restore_test", {"verify_continuity": True}),
            (
                "replication.pull",
                {
                    "source_peer": "bo",
                    "files": [{"path": "projects/b.md", "content": "tea", "sha256": TEA, "version": 3}],
                },
            ),
            ("replication.push", {"dry_run": True, "include_prefixes": ["projects"]}),
            ("messages.replay_dead_letter_sweep", {"limit": 2, "force": True, "reason": "r"}),
            ("compact.plan", {"source_path": "memory", "note": "n"}),
            (
                "continuity_cold_store",
                {"source_archive_path": "memory/continuity/archive/thread-launch-20260513T120000Z.json"},
            ),
            (
                "continuity_cold_rehydrate",
                {"cold_stub_path": "memory/continuity/cold/index/thread-launch-20260513T120000Z.md"},
            ),
            (
                "continuity_retention_apply",
                {"source_archive_paths": ["memory/continuity/archive/thread-launch-20260513T120000Z.json"]},
            ),
            *(
                (f"{family}_history_cold_{what}", {"source_payload_path": f"{unit}.json"})
                for family in ("artifact", "registry")
                for what in ("store", "rehydrate")
            ),
            ("artifact_history_maintenance", {"family": "handoff", "batch_limit": 2}),
            ("segment_history_maintenance", {"family": "episodic", "batch_limit": 2}),
            (
                "segment_history_cold_store",
                {"family": "episodic", "batch_limit": 2, "segment_ids": [segment]},
            ),
            ("segment_history_cold_rehydrate", {"family": "episodic", "segment_id": segment}),
        ]
        return [
            ("GET", "/v1/metrics", "", {}),
            ("GET", "/v1/ops/catalog", "", {}),
            ("GET", "/v1/ops/status", "", {"limit": 5}),
            ("GET", "/v1/ops/schedule/export", "", {"format": "cron"}),
            ("POST", "/v1/compact/run", "", {"source_path": "memory", "note": "n"}),
            ("POST", "/v1/backup/create", "", {"include_prefixes": ["projects"], "note": "n"}),
            ("POST", "/v1/backup/restore-test", "", {"backup_path": "backups/backup_20260513T120000Z_00000000.tar.gz"}),
            *(("POST", "/v1/ops/run", "", {"job_id": job, "dry_run": False, "force": False, "arguments": given}) for job, given in jobs),
        ]  # fmt: skip


@pytest.fixture(scope="module", name="target")
def _target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lamina.http.server.openapi_document", lambda routes: b"{}")
        target = Target(tmp_path_factory.mktemp("around") / "data")
        yield target
        target.close()


def spoilt(value: Any, chance: random.Random) -> Any:
    """A request with one to three things wrong, somewhere."""
    given = copy.deepcopy(value)
    for _ in range(chance.randint(1, 3)):
        inside = given
        while isinstance(inside, dict | list) and inside:
            key = chance.choice(sorted(inside) if isinstance(inside, dict) else range(len(inside)))
            if isinstance(inside[key], dict | list) and inside[key] and chance.random() < 0.6:
                inside = inside[key]
                continue
            if isinstance(inside, dict) and chance.random() < 0.2:
                del inside[key]
            else:
                inside[key] = copy.deepcopy(chance.choice(ODD_VALUES))
            break
        if chance.random() < 0.2:
            given[chance.choice(FIELDS)] = chance.choice(ODD_VALUES)
    return given


def written(value: Any, chance: random.Random) -> bytes:
    """It as JSON, now and then with its bytes spoilt too."""
    text = json.dumps(value).encode()
    if chance.random() < 0.15 and text:
        place = chance.randrange(len(text))
        return (
            text[:place]
            + bytes(chance.randrange(256) for _ in range(chance.randint(0, 4)))
            + text[place + 1 :]
        )
    return text


def call(target: Target, number: int) -> httpx.Request:
    chance = random.Random(f"{SEED} {number}")
    verb, path, artifact_id, sent = chance.choice(target.rows)
    if artifact_id and chance.random() < 0.6:
        artifact_id = chance.choice((*ODD_IDS, *target.ids))
    given = spoilt(sent, chance) if chance.random() < 0.85 else sent
    headers = {"Authorization": f"Bearer {chance.choice(target.tokens)}", "Content-Type": "application/json"}
    if chance.random() < 0.3:
        parameter = re.search(r"{(\w+)}", path)
        arguments = given | ({parameter[1]: artifact_id} if parameter else {})
        use = {"name": TOOLS[f"{verb} {path}"].name, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": use}
        return httpx.Request(
            "POST", "http://localhost/v1/mcp", content=written(message, chance), headers=headers
        )
    safe = "/" if chance.random() < 0.3 else ""
    filled = re.sub(r"{\w+}", lambda _: quote(artifact_id, safe=safe, errors="surrogatepass"), path)
    url = f"http://localhost{filled}"
    if verb != "GET":
        return httpx.Request(verb, url, content=written(given, chance), headers=headers)
    query = "&".join(
        f"{quote(name)}={quote(str(value), errors='surrogatepass')}" for name, value in given.items()
    )
    return httpx.Request("GET", f"{url}?{query}", headers=headers)


def test_nothing_that_is_sent_breaks_it_or_leaves_its_folder(target: Target) -> None:
    codes: dict[int, int] = {}

    async def run() -> None:
        transport = httpx.ASGITransport(target.server.application)
        async with httpx.AsyncClient(transport=transport) as client:
            for number in range(CASES):
                if number % RENEWED == 0:
                    target.renew()
                    for token in target.tokens:
                        greeted = {"Authorization": f"Bearer {token}"}
                        await client.post("http://localhost/v1/mcp", json=HELLO, headers=greeted)
                response = await client.send(call(target, number))
                codes[response.status_code] = codes.get(response.status_code, 0) + 1
                assert response.status_code < 500 or GONE in response.text, f"case {number}: {response.text}"
                assert not LEAKS.search(response.text), f"case {number}: {response.text}"

    asyncio.run(run())
    assert {200, 400, 422} <= codes.keys(), codes
    stands = [each.path for each in target.documents.below("acme", "")]
    assert [path for path in stands if not PLACES.fullmatch(path)] == []
    assert [each.name for each in target.folder.parent.iterdir()] == [target.folder.name]
    assert [each.name for each in target.folder.iterdir() if not FILES.fullmatch(each.name)] == []

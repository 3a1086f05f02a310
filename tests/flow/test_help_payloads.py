"""The help has an entry for every tool that is served, and what an entry sends as its smallest payload works."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from given import NOON, TENANT, ManualClock
from lamina.access.relay_tokens import issue, owner_grant
from lamina.app import build_server
from lamina.http.relay.contract import TOOLS
from lamina.kernel.ids import RandomIds
from lamina.kernel.time import SECOND_US
from lamina.settings import Settings
from lamina.store.memory import MemoryStore

Answers = dict[str, Any]
LINES = {tool.name: line.split(" ") for line, tool in TOOLS.items()}
LATE = ("continuity.archive", "continuity.delete")
"""After which there is no capsule for the others."""
REFUSED = {"code.merge": 409, "peers.fetch_manifest": 400}
"""What cannot work here: the repository is a view, and the peer has no server."""
BY_BO = ("coordination.handoff_consume", "messages.ack", "replication.pull", "messages.relay_forward")
SECRET = "a secret that both sides know, of some length"


def signed(payload: Any, key_id: str, nonce: str) -> str:
    said = {"expires_at": None, "key_id": key_id, "nonce": nonce, "payload": payload}
    text = json.dumps(said, sort_keys=True, separators=(",", ":")).encode()
    return hmac.new(SECRET.encode(), text, hashlib.sha256).hexdigest()


def _made(tool: str, *path: str) -> Callable[[Answers], Any]:
    def of(answers: Answers) -> Any:
        value = answers[tool]
        for name in path:
            value = value[name]
        return value

    return of


_HANDOFF = _made("coordination.handoff_create", "handoff", "handoff_id")
_SHARED = _made("coordination.shared_create", "shared", "shared_id")
_RECON = _made("coordination.reconciliation_open", "reconciliation", "reconciliation_id")
GIVEN: dict[str, dict[str, Callable[[Answers], Any]]] = {
    "schedule.get": {"schedule_id": _made("schedule.create", "item", "schedule_id")},
    "context.snapshot_get": {"snapshot_id": _made("context.snapshot_create", "snapshot_id")},
    "coordination.handoff_read": {"handoff_id": _HANDOFF},
    "coordination.handoff_consume": {"handoff_id": _HANDOFF},
    "coordination.shared_read": {"shared_id": _SHARED},
    "coordination.shared_update": {"shared_id": _SHARED},
    "coordination.reconciliation_read": {"reconciliation_id": _RECON},
    "coordination.reconciliation_resolve": {"reconciliation_id": _RECON},
    "docs.patch_apply": {"patch_id": _made("docs.patch_propose", "patch", "patch_id")},
    "security.tokens_rotate": {"token_id": _made("security.tokens_issue", "token_meta", "token_id")},
    "messages.verify": {"key_id": _made("security.keys_rotate", "key", "key_id")},
    "messages.ack": {"message_id": _made("messages.send", "message", "id")},
    "messages.replay": {"message_id": _made("messages.send", "message", "id")},
}
"""The ids that a server gives, in place of those that a payload shows."""


class House:
    """A server that offers everything, of which ``owner`` administers peers."""

    def __init__(self, settings: Settings) -> None:
        self.clock = ManualClock()
        self.store = MemoryStore(clock=self.clock)
        self.server = build_server(settings, store=self.store, clock=self.clock)

    def ask(self, verb: str, path: str, by: str = "owner", **more: Any) -> httpx.Response:
        self.clock.at += SECOND_US
        token = issue(
            self.store.relay_tokens, RandomIds(), NOON, tenant_id=TENANT, peer_id=by, grant=owner_grant()
        )

        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(self.server.application)
            headers = {"Authorization": f"Bearer {token}"}
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                return await client.request(verb, path, headers=headers, **more)

        return asyncio.run(send())

    def use(self, tool: str, payload: dict[str, Any]) -> httpx.Response:
        verb, path = LINES[tool]
        rest = {name: value for name, value in payload.items() if f"{{{name}}}" not in path}
        sent = {"params": rest} if verb == "GET" else {"json": rest}
        return self.ask(verb, path.format_map(payload), "bo" if tool in BY_BO else "owner", **sent)


@pytest.fixture(name="house")
def _house(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    monkeypatch.setattr("lamina.http.server.openapi_document", lambda routes: b"{}")
    house = House(
        Settings(
            data=tmp_path,
            tenant=TENANT,
            relay_replication=True,
            relay_checks="test=true",
            backup_folder=tmp_path / "b",
        )
    )
    yield house
    house.server.pool.shutdown()
    house.server.close()


def test_every_tool_that_is_served_has_an_entry_and_its_smallest_payload_works(house: House) -> None:
    index = house.ask("GET", "/v1/help").json()
    topics = [*index["tool_topics"], *index["further_tool_topics"]]
    served = {f"{row.verb} {row.path}" for row in house.server.routes}
    assert sorted(topics) == sorted(tool.name for line, tool in TOOLS.items() if line in served)
    order = [
        "continuity.upsert",
        *(each for each in topics if each not in ("continuity.upsert", *LATE)),
        *LATE,
    ]
    answers: Answers = {}
    failed: dict[str, tuple[int, str]] = {}
    for tool in order:
        entry = house.ask("GET", f"/v1/help/tools/{tool}").json()
        assert all(
            entry[part] for part in ("purpose", "when_to_use", "common_mistakes", "correction_hints")
        ), tool
        shown = entry["minimal_payload"]
        if tool in ("schedule.update", "schedule.acknowledge", "schedule.retire"):
            shown |= {"schedule_id": _new_item(house, tool)}
        try:
            payload = _payload(tool, shown, answers)
        except KeyError as missing:
            failed[tool] = (0, f"{missing} is in no answer before it")
            continue
        if tool == "continuity.lifecycle":
            _gives_it_a_descriptor(house)
        answer = house.use(tool, payload)
        answers[tool] = answer.json()
        if answer.status_code >= 300 and answer.status_code != REFUSED.get(tool):
            failed[tool] = (answer.status_code, answer.text)
    assert failed == {}
    assert answers["coordination.reconciliation_resolve"]["reconciliation"]["status"] == "resolved"
    assert answers["code.checks_run"]["run"]["status"] in ("passed", "failed")
    assert answers["replication.pull"]["changed_count"] == 1
    _an_envelope_proves(house)


def _payload(tool: str, shown: dict[str, Any], answers: Answers) -> dict[str, Any]:
    """A payload with the ids that this server gave."""
    text = json.dumps(shown | {name: of(answers) for name, of in GIVEN.get(tool, {}).items()})
    if tool == "coordination.reconciliation_open":
        text = re.sub(r"handoff_[0-9a-f]{32}", _HANDOFF(answers), text)
        text = re.sub(r"shared_[0-9a-f]{32}", _SHARED(answers), text)
    payload: dict[str, Any] = json.loads(text)
    return payload


def _new_item(house: House, title: str) -> str:
    """An item of version 1: each of the payloads is about one that nothing happened to."""
    sent = house.ask("GET", "/v1/help/tools/schedule.create").json()["minimal_payload"] | {"title": title}
    return str(house.use("schedule.create", sent).json()["item"]["schedule_id"])


def _gives_it_a_descriptor(house: House) -> None:
    """Only what has one is moved along its lifecycle."""
    sent = house.ask("GET", "/v1/help/tools/continuity.upsert").json()["minimal_payload"]
    sent["capsule"] |= {"thread_descriptor": {"label": "Release"}, "updated_at": "2026-12-01T00:00:00Z"}
    assert house.use("continuity.upsert", sent).status_code == 200


def _an_envelope_proves(house: House) -> None:
    """The payload of ``messages.verify`` with a signature that is one."""
    house.use("security.keys_rotate", {"key_id": "k", "secret": SECRET})
    shown = house.ask("GET", "/v1/help/tools/messages.verify").json()["minimal_payload"]
    shown |= {
        "key_id": "k",
        "signature": signed(shown["payload"], "k", shown["nonce"] + "-2"),
        "nonce": shown["nonce"] + "-2",
    }
    assert house.use("messages.verify", shown).json()["valid"] is True

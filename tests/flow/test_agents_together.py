"""Three agents and one story, through HTTP and through the contract's own MCP: both leave the same repository, and it comes back whole.

Clock and ids are the test's. Each door has a server of its own, and every step of the story says the same through both.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import httpx
import pygit2
import pytest

from capsules import body
from given import NOON, TENANT, CountedIds, ManualClock
from lamina.access.relay_tokens import issue, owner_grant
from lamina.app import Server, build_server
from lamina.cli.restore import run_restore
from lamina.http.relay.contract import TOOLS
from lamina.kernel.ids import Prefix, derived_id
from lamina.kernel.time import SECOND_US, rfc3339
from lamina.settings import Settings
from lamina.store.documents.repository import folder_name
from lamina.store.sqlite import SqliteStore

LAUNCH = {"subject_kind": "thread", "subject_id": "launch"}
FOLDERS = ["memory", "messages", "patches", "projects", "tasks"]
GRANT = {
    "scopes": ["read:files", "search", "write:messages", "write:projects"],
    "read_namespaces": FOLDERS,
    "write_namespaces": FOLDERS,
}
PLAN = "projects/plan.md"
SUBJECTS = [
    *("peers: register", "peers: trust transition") * 3,
    "continuity: upsert",
    "handoff: create",
    "handoff: consume",
    "coordination: create",
    "coordination: update",
    "coordination: open",
    "coordination: resolve",
    "messages: send",
    "messages: ack",
    "tasks: create",
    "write:",
    "patches: propose",
    "patches: apply",
    "patches: archive applied",
    "tasks: update and move",
]
"""How the commits of the story begin, as the contract has it (7.3)."""
LINES = {tool.name: line.split(" ") for line, tool in TOOLS.items()}


class Ids:
    """Ids of what is asked follow the clock, since a door may ask more than once for one step; others are counted."""

    def __init__(self) -> None:
        self._counted = CountedIds()

    def stamped(self, prefix: Prefix, at_us: int) -> str:
        if prefix is Prefix.REQUEST:
            return derived_id(prefix, at_us, at_us)
        return self._counted.stamped(prefix, at_us)


class House:
    """A server in a folder, whose owner is ``kim``, and who holds which token."""

    def __init__(self, folder: Path, at: int = NOON) -> None:
        self.folder = folder
        self.clock = ManualClock(at)
        ids = Ids()
        self.store = SqliteStore(folder, clock=self.clock, ids=ids, durable=False)
        self.server: Server = build_server(
            Settings(data=folder, tenant=TENANT), store=self.store, clock=self.clock, ids=ids
        )
        owner = issue(self.store.relay_tokens, ids, at, tenant_id=TENANT, peer_id="kim", grant=owner_grant())
        self.tokens = {"kim": owner}

    def do(self, by: str, tool: str, /, **arguments: Any) -> Any:
        """What a tool answers, a second after the one before."""
        self.clock.at += SECOND_US
        return self._asked(by, tool, arguments)

    def _asked(self, by: str, tool: str, arguments: dict[str, Any]) -> Any:
        raise NotImplementedError

    def _sent(self, by: str, verb: str, path: str, **more: Any) -> Any:
        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(self.server.application)
            headers = {"Authorization": f"Bearer {self.tokens[by]}"}
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                return await client.request(verb, path, headers=headers, **more)

        answer = asyncio.run(send())
        assert answer.status_code == 200, answer.text
        return answer.json()

    def close(self) -> None:
        self.server.pool.shutdown()
        self.server.close()


class OverHttp(House):
    """Tools by their routes."""

    def _asked(self, by: str, tool: str, arguments: dict[str, Any]) -> Any:
        verb, path = LINES[tool]
        in_path = set(re.findall(r"{(\w+)}", path))
        rest = {name: value for name, value in arguments.items() if name not in in_path}
        sent = {"params": rest} if verb == "GET" else {"json": rest}
        return self._sent(by, verb, path.format_map(arguments), **sent)


class OverMcp(House):
    """Tools by their names, each caller after ``initialize``."""

    def __init__(self, *of: Any, **more: Any) -> None:
        super().__init__(*of, **more)
        self._ready: set[str] = set()

    def _asked(self, by: str, tool: str, arguments: dict[str, Any]) -> Any:
        if by not in self._ready:
            self._ready.add(by)
            self._rpc(by, "initialize", {"protocolVersion": "2025-11-25"})
        return self._rpc(by, "tools/call", {"name": tool, "arguments": arguments})["structuredContent"]

    def _rpc(self, by: str, method: str, params: dict[str, Any]) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = self._sent(by, "POST", "/v1/mcp", json=message)
        assert "result" in answer, answer
        return answer["result"]


def without_token(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without what no two servers answer alike: a token's text, and its hash."""
    shown = {name: value for name, value in answer.items() if name != "token"}
    if "token_meta" in shown:
        shown["token_meta"] = shown["token_meta"] | {"token_sha256": ""}
    return shown


def story(house: House) -> list[Any]:
    """``kim`` lets ``bo``, ``cy`` and ``dee`` in, and they work on one launch. What each step answers, but for the tokens."""
    told: list[Any] = []

    def do(by: str, tool: str, /, **arguments: Any) -> Any:
        answer = house.do(by, tool, **arguments)
        told.append(without_token(answer))
        return answer

    _let_in(house, do)
    _hand_over(house, do)
    _dispute(do)
    _write_to_each_other(do)
    _work(do)
    assert do("kim", "backup.create")["committed_files"] == []
    return told


def _let_in(house: House, do: Any) -> None:
    for peer in ("bo", "cy", "dee"):
        issued = do("kim", "security.tokens_issue", peer_id=peer, **GRANT)
        house.tokens[peer] = issued["token"]
        do("kim", "peers.register", peer_id=peer, base_url="", public_key=f"key of {peer}")
        do("kim", "peers.trust_transition", peer_id=peer, trust_level="trusted", reason="they work with us")
    assert [peer["trust_level"] for peer in do("kim", "peers.list")["peers"]] == ["trusted"] * 3


def _hand_over(house: House, do: Any) -> None:
    now = rfc3339(house.clock.now())
    state = {"active_constraints": ["two cores", "no schema change"], "drift_signals": ["scope grows"]}
    capsule = body(continuity=state, updated_at=now, verified_at=now)
    do("bo", "continuity.upsert", **LAUNCH, capsule=capsule)
    made = do("bo", "coordination.handoff_create", **LAUNCH, recipient_peer="cy", note="yours now")
    handoff_id = made["handoff"]["handoff_id"]
    read = do("cy", "coordination.handoff_read", handoff_id=handoff_id)
    assert read["handoff"]["shared_continuity"] == state
    used = do(
        "cy", "coordination.handoff_consume", handoff_id=handoff_id, status="accepted_advisory", reason="seen"
    )
    assert used["handoff"]["recipient_status"] == "accepted_advisory"


def _dispute(do: Any) -> None:
    (handoff,) = do("cy", "coordination.handoffs_query", recipient_peer="cy")["handoffs"]
    shown = do(
        "bo",
        "coordination.shared_create",
        participant_peers=["cy", "dee"],
        title="Plan",
        constraints=["none"],
        thread_id="launch",
    )
    shared_id = shown["shared"]["shared_id"]
    again = do(
        "bo",
        "coordination.shared_update",
        shared_id=shared_id,
        expected_version=1,
        title="Plan 2",
        constraints=["two cores"],
    )
    assert again["shared"]["version"] == 2
    said = {"claimant_peer": "cy", "epistemic_status": "frame_present"}
    opened = do(
        "cy",
        "coordination.reconciliation_open",
        thread_id="launch",
        title="Which constraints hold?",
        classification="contradictory",
        trigger="handoff_vs_shared",
        claims=[
            {"source_kind": "handoff", "source_id": handoff["handoff_id"], "claim_summary": "No schema change", **said},
            {"source_kind": "shared", "source_id": shared_id, "observed_version": 2, "claim_summary": "It may change", **said},
        ],
    )  # fmt: skip
    ended = do(
        "cy",
        "coordination.reconciliation_resolve",
        reconciliation_id=opened["reconciliation"]["reconciliation_id"],
        expected_version=1,
        outcome="advisory_only",
        resolution_summary="The handoff is newer",
    )
    assert (ended["reconciliation"]["status"], ended["reconciliation"]["version"]) == ("resolved", 2)


def _write_to_each_other(do: Any) -> None:
    sent = do(
        "cy",
        "messages.send",
        thread_id="launch",
        sender="cy",
        recipient="dee",
        subject="Review",
        body_md="Would you look at the plan?",
        idempotency_key="review-1",
        delivery={"requires_ack": True},
    )
    (waiting,) = do("dee", "messages.inbox", recipient="dee")["messages"]
    assert waiting["id"] == sent["message"]["id"]
    done = do("dee", "messages.ack", message_id=waiting["id"], status="accepted", ack_id="ack-1")
    assert done["delivery_state"]["effective_status"] == "acked"


def _work(do: Any) -> None:
    do("dee", "tasks.create", task_id="plan", title="Write the plan", owner_peer="dee", thread_id="launch")
    do("dee", "memory.write", path=PLAN, content="one\ntwo\n")
    diff = f"--- a/{PLAN}\n+++ b/{PLAN}\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n"
    proposed = do("cy", "docs.patch_propose", target_path=PLAN, diff=diff, thread_id="launch")
    do("dee", "docs.patch_apply", patch_id=proposed["patch"]["patch_id"])
    do("dee", "tasks.update", task_id="plan", status="done")
    assert do("bo", "memory.read", path=PLAN)["content"] == "one\nthree\n"


def repository(folder: Path) -> pygit2.Repository:
    return pygit2.Repository(str(folder / "relay" / folder_name(TENANT)))


def tree_hash(folder: Path) -> str:
    """The hash of all that the repository's newest commit holds."""
    return str(repository(folder).head.peel(pygit2.Tree).id)


def commits(folder: Path) -> list[tuple[str, str]]:
    """Who changed what, from the first."""
    git = repository(folder)
    walked = git.walk(git.head.target, pygit2.enums.SortMode.REVERSE | pygit2.enums.SortMode.TOPOLOGICAL)
    return [(each.author.name, each.message) for each in walked]


@pytest.fixture(scope="module", name="played")
def _played(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, list[Any]]]:
    """The folder in which the story ended, and what its steps answered, by door."""
    played = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lamina.http.server.openapi_document", lambda routes: b"{}")
        for kind in (OverHttp, OverMcp):
            folder = tmp_path_factory.mktemp(kind.__name__)
            house = kind(folder)
            answers = story(house)
            house.close()
            played[kind.__name__] = folder, answers
    return played


def test_both_doors_answer_each_step_alike_and_leave_the_same_tree(played: Any) -> None:
    (http, over_http), (mcp, over_mcp) = played["OverHttp"], played["OverMcp"]
    for one, other in zip(over_http, over_mcp, strict=True):
        assert one == other
    assert tree_hash(http) == tree_hash(mcp)
    assert commits(http) == commits(mcp)
    assert all(
        message.startswith(f"{subject} ")
        for subject, (_, message) in zip(SUBJECTS, commits(http), strict=True)
    )
    files = {entry.name for entry in repository(http).head.peel(pygit2.Tree)}
    assert files == {*FOLDERS, "peers"}


@pytest.mark.parametrize("kind", [OverHttp, OverMcp])
def test_an_empty_server_has_all_of_it_again(kind: type[House], played: Any, tmp_path: Path) -> None:
    folder, answers = played[kind.__name__]
    clone = tmp_path / "clone"
    pygit2.clone_repository(str(folder / "relay" / folder_name(TENANT)), str(clone))
    data = tmp_path / "empty"
    restored = run_restore(Settings(data=data, tenant=TENANT), clone, TENANT)
    assert (restored.same_hashes, restored.unreadable, restored.left_out) == (True, [], [])
    assert tree_hash(data) == tree_hash(folder)

    # Tokens stand in no repository: who was let in is let in anew, and finds everything where it was.
    house = kind(data, NOON + 3600 * SECOND_US)
    try:
        assert house.do("kim", "security.tokens_list", include_inactive=True)["count"] == 1
        assert _shown(house, answers) == _last(answers)
    finally:
        house.close()


def _last(answers: list[Any]) -> dict[str, Any]:
    """What the last step about each thing answered."""
    return {
        name: [each[name] for each in answers if name in each][-1]
        for name in ("handoff", "shared", "reconciliation", "task", "peers", "content", "delivery_state")
    }


def _shown(house: House, answers: list[Any]) -> dict[str, Any]:
    ids = _last(answers)
    read: dict[str, Any] = {}
    for kind in ("handoff", "shared", "reconciliation"):
        read |= house.do("kim", f"coordination.{kind}_read", **{f"{kind}_id": ids[kind][f"{kind}_id"]})
    (task,) = house.do("kim", "tasks.query", status="done")["tasks"]
    (delivered,) = house.do("kim", "messages.pending", include_terminal=True)["messages"]
    read |= {"task": task, "delivery_state": delivered}
    read |= house.do("kim", "peers.list")
    read |= house.do("kim", "memory.read", path=PLAN)
    return {name: read[name] for name in ids}

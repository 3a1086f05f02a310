"""Nothing of what was erased is left: random words are put in by every door, erased, and looked for in every byte of the folder.

``CANARIES=200`` puts in so many of each kind; a few are enough to see that each place is cleared.
"""

from __future__ import annotations

import contextlib
import fnmatch
import gzip
import hashlib
import json
import os
import random
import re
import string
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pygit2
import pytest

from capsules import body, later
from lamina import limits
from lamina.coordination.owned import documents_about_people
from lamina.coordination.replication.state import without_paths
from lamina.forget.runner import Eraser
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US
from lamina.language.entities import entity_id, normalise_name
from lamina.session.drain import Drain
from lamina.store.bodies import unpacked
from lamina.store.owners import FILES, TABLES
from lamina.store.ports.documents import Change, ChangeKind, Write
from lamina.store.ports.index import VectorRow
from lamina.store.sqlite.connection import open_connection
from rpc import message, posted
from told import Memory

TENANT, HOME, BOBS = "acme", Scope("org:acme/user:alice"), Scope("org:acme/user:bob")
THEIRS = (HOME, Scope("user:alice"))
COUNT = int(os.environ.get("CANARIES", "1"))
ALICE, BOB = {"X-Cortex-Actor": "user:alice"}, {"X-Cortex-Actor": "user:bob"}
WHO = {"tenantId": "acme", "userId": "alice", "personaId": "p"}
_NOTE = "memory/notes/of-mine.md"
_PEERS = "peers/registry.json"
_MARK = "qzxj"
_SEEN = 7
"""So many letters behind the mark are looked at."""


class Canaries:
    """Words that stand nowhere else. A mark in their middle is looked for: the text index cuts the beginning that a word shares
    with the one before it, and an analysis may cut an end."""

    def __init__(self) -> None:
        self._random = random.Random(7)
        self.sung: dict[str, str] = {}
        self._ends: dict[bytes, str] = {}

    def __call__(self, place: str) -> str:
        beginning, end = (
            "".join(self._random.choices(string.ascii_lowercase, k=count)) for count in (5, _SEEN + 3)
        )
        word = f"{beginning}{_MARK}{end}"
        self.sung[word] = place
        self._ends[end[:_SEEN].encode()] = place
        return word

    def name(self, place: str) -> str:
        return self(place).capitalize()

    def in_bytes(self, data: bytes) -> set[str]:
        """Where the canaries were put that stand in some bytes, as text or in hexadecimal."""
        lowered = data.lower()
        found = {
            self._ends.get(end) for end in re.findall(_MARK.encode() + b"(.{%d})" % _SEEN, lowered, re.DOTALL)
        }
        spelt = re.findall(_MARK.encode().hex().encode() + b"([0-9a-f]{%d})" % (2 * _SEEN), lowered)
        found |= {self._ends.get(bytes.fromhex(end.decode())) for end in spelt}
        return {place for place in found if place is not None}


def _bytes_of(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every file under a folder, every object of a repository, and what is packed inside of either."""
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        yield path.relative_to(folder).as_posix(), path.read_bytes()
    for path in sorted(folder.glob("relay/*.git")):
        git = pygit2.Repository(str(path))
        for id_ in git:
            data = git.odb.read(id_)[1]
            yield f"{path.name}:{id_}", data
            if data[:2] == b"\x1f\x8b":
                yield f"{path.name}:{id_} inflated", gzip.decompress(data)


def _tables_with(folder: Path, canaries: Canaries) -> set[str]:
    """The tables that hold a canary, packed or not."""
    connection = open_connection(folder / "lamina.db", durable=False, read_only=True)
    found = set()
    for table in TABLES:
        for row in connection.execute(f'SELECT * FROM "{table}"'):
            if any(canaries.in_bytes(each) for value in row for each in _forms(value)):
                found.add(table)
                break
    connection.close()
    return found


def _forms(value: Any) -> Iterator[bytes]:
    if isinstance(value, str):
        yield value.encode("utf-8", "surrogatepass")
    elif isinstance(value, bytes):
        yield value
        for unpack in (zlib.decompress, gzip.decompress):
            try:
                yield unpack(value)
            except (zlib.error, OSError, EOFError):
                continue
        with contextlib.suppress(zlib.error, KeyError, IndexError, UnicodeDecodeError):
            yield unpacked(value).encode()


class Aviary:
    """A server into which canaries are put, by every door, and out of which they are taken."""

    def __init__(self, world: Any, folder: Path) -> None:
        self.world, self.folder = world, folder
        self.canaries = Canaries()
        self.memory = Memory(world.store, world.clock)
        self.eraser = Eraser(
            world.store,
            world.clock,
            "test",
            about=documents_about_people(world.store),
            unnaming=without_paths(world.store.documents),
        )
        self.session = ""
        self.gone: list[str] = []

    def sing(self) -> None:
        for number in range(COUNT):
            self.tell(number)
            self.tell(number, Scope(f"{HOME}/project:tea"))
            self._relay(number)
            self._mem0_and_mcp(number)
        self._history()
        self.converse()
        self.settle()
        word = next(iter(self.canaries.sung))
        self.post(
            "/v1/recall", {"scope": HOME, "query": f"what of {word}"}, {"Idempotency-Key": "asked-once"}
        )

    def settle(self) -> None:
        """All is derived, folded and embedded."""
        self.memory.derive()
        self._embed()
        Drain(self.world.store, self.world.clock).drain()
        self.world.clock.at += SECOND_US

    def post(self, path: str, sent: dict[str, Any], more: dict[str, str] | None = None) -> Any:
        self.world.clock.at += SECOND_US
        response = self.world.call("POST", path, headers=ALICE | (more or {}), body=sent)
        assert response.status_code < 300, (path, response.text)
        return response.json()

    def tell(self, number: int, scope: Scope = HOME) -> None:
        word = self.canaries
        said = (
            f"I work at {word.name('a name')}. My sister {word.name('a sister')} likes {word('an object')}."
        )
        content = {"kind": "message", "role": "user", "text": said, "mood": word("a field of content")}
        sent = {
            "scope": scope,
            "modality": "conversation",
            "content": content,
            "observed_actor": {
                "id": "user:alice",
                "type": "user",
                "name": f"Alice {word.name('display name')}",
                "session": f"s-{word('a session')}",
            },
            "context": {"observed_at": "2026-05-13T11:00:00Z"},
        }
        self.post("/v1/experience", sent | {"idempotency_key": f"k-{word('a key')}"})

    def converse(self) -> None:
        session = self.session = f"chat-{self.canaries('a session of turns')}"
        for turn in range(max(COUNT, limits.SESSION_WINDOW_TURNS + 2)):
            text = (
                f"Remind me to call {self.canaries.name('a loop')} tomorrow about {self.canaries('a turn')}."
            )
            at = f"2026-05-13T1{turn // 60 % 2}:{turn % 60:02}:00Z"
            sent = {**WHO, "role": "user", "text": text, "timestamp": at, "sessionId": session}
            self.post("/ingest", sent)

    def _embed(self) -> None:
        """Vectors of her events stand for what was said: a mark is in them, too."""
        word = self.canaries("a vector").encode()
        events = self.world.store.log.walk(TENANT, 0, 1_000_000)
        self.world.store.index.embed(
            [
                VectorRow(
                    tenant_id=TENANT,
                    record_id=each.id,
                    scope=each.scope,
                    model="test",
                    pooled=word * 16,
                    tokens=word,
                )
                for each in events
                if each.observed_actor.id == "user:alice" and not each.is_entry
            ]
        )

    def _relay(self, number: int) -> None:
        word = self.canaries
        for path in (f"memory/notes/{word('a path')}.md", _NOTE):
            self.post("/v1/write", {"path": path, "content": f"# {word('a body')}\n"})
        log = f"memory/episodic/{word('a log')}.jsonl"
        for path in (log, log, f"memory/episodic/{word('another log')}.jsonl"):
            self.post("/v1/append", {"path": path, "record": {"said": word("a line"), "drawn": "-" * 1024}})
        about = {"subject_kind": "user", "subject_id": f"alice-{number}"}
        capsule = body(
            "user",
            f"alice-{number}",
            continuity={"stance_summary": f"Alice thinks of {word('a capsule')} first."},
        )
        self.post("/v1/continuity/upsert", {**about, "capsule": capsule})
        changed = body(
            "user",
            f"alice-{number}",
            updated_at=later(1),
            continuity={"open_loops": [word("a second capsule")]},
        )
        self.post(
            "/v1/continuity/upsert", {**about, "capsule": changed, "commit_message": f"of {word('a commit')}"}
        )
        self._together(number)
        self.post("/v1/continuity/archive", {**about, "reason": f"since {word('a reason')}"})
        item = {
            "kind": "reminder",
            "title": word("a title"),
            "note": word("a note"),
            "due_at": "2026-05-14T12:00:00Z",
        }
        self.post("/v1/schedule/items", {**item, "metadata": {"of": word("metadata")}})
        self._messages()
        self._replicated()

    def _replicated(self) -> None:
        """Another server sends files in her name: their paths stand in what is remembered of that, too."""
        for _ in range(2):
            content, path = self.canaries("a replicated file"), self.canaries("a replicated path")
            file = {"path": f"memory/notes/{path}.md", "content": content, "version": 3}
            file |= {"sha256": hashlib.sha256(content.encode()).hexdigest()}
            self.post("/v1/replication/pull", {"source_peer": "bo", "files": [file]})
        self.post("/v1/replication/pull", {"source_peer": "bo", "files": []}, BOB)

    def _history(self) -> None:
        """An operator moves her logs into the history, half of them on to cold storage, and one of these back."""
        rolled = self._ran("segment_history_maintenance")["rolled_segment_ids"]
        cold = {"family": "episodic", "segment_ids": rolled[: max(2, len(rolled) // 2)]}
        assert self._ran("segment_history_cold_store", **cold)["cold_stored_count"] >= 2
        self._ran("segment_history_cold_rehydrate", family="episodic", segment_id=rolled[0])

    def _ran(self, job: str, **arguments: Any) -> Any:
        return self.post("/v1/ops/run", {"job_id": job, "arguments": arguments}, BOB)["job_result"]

    def _messages(self) -> None:
        """What Alice sends, what Bob sends her, what each answers, and what a relay says that she sent."""
        word = self.canaries
        promised = {"requires_ack": True}
        sent = {"thread_id": word("a thread"), "subject": word("a subject"), "body_md": word("a message")}
        mine = {"sender": "user:alice", "recipient": "user:bob", "attachments": [word("an attachment")]}
        key = {"idempotency_key": word("a message's key")}
        made = self.post("/v1/messages/send", sent | mine | key | {"delivery": promised})
        message_id = made["message"]["id"]
        answer = {"message_id": message_id, "status": "rejected", "reason": word("an answer to Alice")}
        self.post("/v1/messages/ack", answer | {"ack_id": word("an answer's id")}, BOB)
        self.post("/v1/replay/messages", {"message_id": message_id, "reason": word("a reason to send anew")})
        sent = {"thread_id": "t", "subject": "Hi", "body_md": word("a message to Alice")}
        theirs = {"sender": "user:bob", "recipient": "user:alice", "delivery": promised}
        made = self.post("/v1/messages/send", sent | theirs, BOB)
        answer = {"message_id": made["message"]["id"], "status": "accepted", "reason": word("Alice's answer")}
        self.post("/v1/messages/ack", answer)
        claimed = {"sender": "user:alice", "target_recipient": "user:bob", "thread_id": "t", "subject": ""}
        more = {"body_md": word("a forwarded message"), "envelope": {"by": word("a relay's envelope")}}
        self.post("/v1/relay/forward", claimed | more, BOB)

    def _together(self, number: int) -> None:
        word, documents = self.canaries, self.world.store.documents
        if documents.read(TENANT, _PEERS) is None:
            known = {name: {"trust_level": "trusted"} for name in ("bo", "user:alice")}
            change = Change(_PEERS, ChangeKind.PUT, json.dumps({"peers": known}).encode())
            documents.write([Write(tenant_id=TENANT, author="user:op", message="peers", changes=[change])])
        about = {"subject_kind": "user", "subject_id": f"alice-{number}"}
        note = {"recipient_peer": "user:alice", "note": word("a handoff")}
        made = self.post("/v1/coordination/handoff/create", about | note)["handoff"]
        consume = f"/v1/coordination/handoff/{made['handoff_id']}/consume"
        self.post(consume, {"status": "deferred", "reason": word("an answer to a handoff")})
        shared = {"participant_peers": ["bo"], "title": word("a shared title"), "constraints": ["one"]}
        made = self.post("/v1/coordination/shared/create", shared)["shared"]
        claim = {
            "source_kind": "shared",
            "source_id": made["shared_id"],
            "claim_summary": word("a claim"),
            "epistemic_status": "frame_present",
            "observed_version": 1,
        }
        dispute = {
            "task_id": word("a task of a dispute"),
            "title": "Which?",
            "classification": "contradictory",
            "trigger": "shared_vs_shared",
            "claims": [claim | {"claimant_peer": each} for each in ("bo", "user:alice")],
        }
        self.post("/v1/coordination/reconciliation/open", dispute)
        task = {"task_id": word("a task"), "title": "Cut", "owner_peer": "user:alice"}
        self.post("/v1/tasks", task | {"description": word("a description")})
        path = f"projects/{word('a patched file')}.md"
        diff = f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{word('a patch')}\n"
        patch = self.post("/v1/docs/patch/propose", {"target_path": path, "diff": diff})["patch"]
        self.post("/v1/docs/patch/apply", {"patch_id": patch["patch_id"]})

    def _mem0_and_mcp(self, number: int) -> None:
        word = self.canaries
        told = {
            "user_id": "alice",
            "messages": [{"role": "user", "content": f"I live in {word.name('a place')}."}],
        }
        self.post("/v3/memories/add/", {**told, "metadata": {"from": word("mem0 metadata")}})
        params = {"name": "remember", "arguments": {"text": f"The code is {word('a tool')}.", "scope": HOME}}
        sent, headers = message("2026-07-28", "tools/call", params)
        answer = posted(self.world, sent, **headers, **ALICE)
        assert "error" not in answer.json(), answer.text

    def served(self) -> dict[str, bool]:
        """What answers, and whether a canary is in it: from memory, too, since it is asked before and after."""
        place = "/v1/continuity/read"
        asked: dict[str, tuple[str, str, dict[str, Any] | None]] = {
            "recall": ("POST", "/v1/recall", {"scope": HOME, "query": "where do I work"}),
            "brief": ("POST", "/brief", {**WHO, "sessionId": self.session, "now": "2026-05-13T12:10:00Z"}),
            "events": ("GET", f"/v1/events?scope={HOME}", None),
            "facts": ("GET", f"/v1/facts?scope={HOME}", None),
            "archive": (
                "POST",
                place,
                {"subject_kind": "user", "subject_id": "alice-0", "allow_fallback": True},
            ),
            "file": ("GET", f"/v1/read?path={_NOTE}", None),
            "search": ("POST", "/v1/search", {"query": "memory notes"}),
            "reminders": ("GET", "/v1/schedule/items", None),
            "inbox": ("GET", "/v1/messages/inbox?recipient=user:alice", None),
            "thread": ("GET", "/v1/messages/thread?thread_id=t", None),
            "pending": ("GET", "/v1/messages/pending?include_terminal=true", None),
            "mem0": ("POST", "/v3/memories/", {"filters": {"user_id": "alice"}}),
        }
        found = {}
        for name, (verb, path, sent) in asked.items():
            self.world.clock.at += SECOND_US
            answer = self.world.call(verb, path, headers=ALICE, body=sent)
            found[name] = bool(self.canaries.in_bytes(answer.content))
        return found

    def of_others(self) -> str:
        """Bob says something, which stays."""
        self.world.clock.at += SECOND_US
        word = "quillwort" + "x" * 8
        sent = {
            "idempotency_key": "bob",
            "scope": BOBS,
            "modality": "conversation",
            "context": {"observed_at": "2026-05-13T11:00:00Z"},
            "content": {"kind": "message", "role": "user", "text": f"I like {word}."},
        }
        for path, given in (
            ("/v1/experience", sent),
            ("/v1/write", {"path": "memory/notes/bob.md", "content": word}),
        ):
            assert self.world.call("POST", path, headers=BOB, body=given).status_code < 300
        return word

    def erase(self) -> None:
        """Everything of Alice, as she would ask for it."""
        for scope in THEIRS:
            began = self.post("/v1/erasures", {"scope": scope, "audit_note": "case 1"})
            assert self.eraser.step()
            assert self.world.store.erasures.get(TENANT, began["erasure_id"]).status == "completed"
            marks = self.world.store.traces.remains(TENANT, began["erasure_id"]).marks
            self.gone += [mark.id for mark in marks]


@pytest.fixture(name="aviary")
def _aviary(make_world: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Aviary:
    monkeypatch.setattr("lamina.limits.WAIT_S_MAX", 0.01)
    return Aviary(
        make_world(doors="mem0", relay_episodic_rollover_bytes=1024, relay_replication=True), tmp_path
    )


def test_no_canary_is_left_in_any_file_page_or_object(aviary: Aviary) -> None:
    aviary.sing()
    word = aviary.of_others()
    canaries = aviary.canaries
    served = aviary.served()
    assert all(served.values()), served
    before = _tables_with(aviary.folder, canaries)
    assert before >= {
        *(
            "event",
            "record",
            "text_row",
            "entity",
            "mention",
            "session",
            "outbox",
            "idempotency",
        ),
        *(
            "vector_row",
            "pack",
            "document",
            "document_version",
            "document_commit",
            "document_event",
            "schedule_item",
        ),
        *("message", "message_ack"),
    }, "each place is to be cleared of something"
    named = {
        name: place for name, place in canaries.sung.items() if place in ("a name", "a sister", "a place")
    }
    guesses = [entity_id(TENANT, normalise_name(name.capitalize())) for name in named]
    derived = _guessable(aviary.folder)
    aviary.erase()
    assert not any(aviary.served().values())
    left = {name: found for name, data in _bytes_of(aviary.folder) if (found := canaries.in_bytes(data))}
    assert left == {}
    assert _tables_with(aviary.folder, canaries) == set()
    confirmed = [
        id_
        for id_ in (*guesses, *derived)
        if any(id_.encode() in data for _, data in _bytes_of(aviary.folder))
    ]
    assert confirmed == [], "an id that is a hash of a name confirms a guess of it"
    assert aviary.world.store.traces.look() == ()
    assert len(aviary.gone) > COUNT
    assert aviary.world.store.traces.look_for(TENANT, aviary.gone) == {}
    stays = aviary.world.call("GET", "/v1/read?path=memory/notes/bob.md", headers=BOB)
    assert stays.json()["content"] == word
    asked = {"scope": BOBS, "query": "what do I like"}
    assert word in aviary.world.call("POST", "/v1/recall", headers=BOB, body=asked).text


def test_forgetting_the_words_of_a_scope_leaves_none_of_them(aviary: Aviary) -> None:
    """``POST /v1/forget`` redacts; the pages are cleared behind the call."""
    for number in range(COUNT):
        aviary.tell(number)
    aviary.converse()
    aviary.settle()
    before = _tables_with(aviary.folder, aviary.canaries)
    assert before >= {
        "event",
        "record",
        "text_row",
        "entity",
        "session",
        "outbox",
        "idempotency",
    }
    asked = {"scope": HOME, "layers": [], "cascade": "redact_events", "confirm_all": True}
    assert aviary.post("/v1/forget", asked)["deleted"]["events"] > COUNT
    assert _tables_with(aviary.folder, aviary.canaries) == set()
    assert aviary.eraser.step()
    assert not aviary.eraser.step()
    assert {name for name, data in _bytes_of(aviary.folder) if aviary.canaries.in_bytes(data)} == set()


def _guessable(folder: Path) -> list[str]:
    """The ids of derived rows that are a hash of names or claims."""
    connection = open_connection(folder / "lamina.db", durable=False, read_only=True)
    ids = connection.execute("SELECT DISTINCT id FROM record WHERE scope GLOB ?", (f"{HOME}*",)).fetchall()
    connection.close()
    return [id_ for (id_,) in ids if re.match("concept_|belief_", id_)]


def _without_owner(folder: Path) -> list[str]:
    names = [each.relative_to(folder).as_posix() for each in folder.rglob("*") if not each.is_dir()]
    return [name for name in names if not any(fnmatch.fnmatch(name, pattern) for pattern in FILES)]

"""Replication: what arrives lands by its version, as any write does, or not at all."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Sequence
from typing import Any

import pytest

from capsules import NOW, body
from lamina.continuity.shelf.envelopes import archive_bytes
from lamina.coordination.replication.deciding import Arrival, Fate, Here, decided
from lamina.coordination.replication.state import without_paths
from lamina.errors import LaminaError, Unavailable
from lamina.kernel.history_settings import HistorySettings
from lamina.kernel.relay import RelayGrant, RelayRight
from lamina.kernel.time import rfc3339
from lamina.store.ports.documents import Change, ChangeKind, LandedWrite, Write
from shelves import EVERYWHERE, TENANT
from tables import every_row
from together import Agents

SYNC = RelayGrant(frozenset({RelayRight.REPLICATION_SYNC}), EVERYWHERE, EVERYWHERE)
PLAN = "projects/plan.md"
OLD, NEW = b"old", b"new"


@every_row(
    ("arrival", "here", "fate", "conflict"),
    [
        ((1, NEW), (0, 0, None), Fate.LAND, False),  # nothing stood here
        ((None, NEW), (0, 0, None), Fate.LAND, False),
        ((3, NEW), (2, 2, OLD), Fate.LAND, False),  # nobody wrote here since
        ((None, NEW), (2, 2, OLD), Fate.LAND, False),
        ((3, None), (2, 2, OLD), Fate.LAND, False),
        ((1, NEW), (2, 2, OLD), Fate.KEEP, False),  # late
        ((2, NEW), (3, 2, OLD), Fate.KEEP, False),  # what was agreed on before
        ((4, NEW), (3, 2, OLD), Fate.LAND, True),  # both wrote, the source more often
        ((3, NEW), (4, 2, OLD), Fate.KEEP, True),
        ((None, NEW), (3, 2, OLD), Fate.KEEP, True),  # nothing says which is later
        ((3, None), (3, 2, OLD), Fate.KEEP, True),  # of two as late, a text goes before a removal
        ((3, NEW), (3, 2, None), Fate.LAND, True),
        ((9, OLD), (3, 2, OLD), Fate.SAME, False),
    ],
)
def test_the_later_write_stays(
    arrival: tuple[int | None, bytes | None],
    here: tuple[int, int, bytes | None],
    fate: Fate,
    conflict: bool,
) -> None:
    decision = decided(Arrival(*arrival), Here(*here), "last_write_wins", "upsert")
    assert (decision.fate, decision.conflict) == (fate, conflict)


@every_row(
    ("version", "here", "clock"),
    [
        (9, (3, 2, OLD), 9),
        (2, (5, 0, OLD), 2),  # more writes led to the same here, and the source counts on from its own
        (1, (5, 2, OLD), 5),  # older than what was agreed on
        (None, (5, 2, OLD), 5),
    ],
)
def test_of_the_same_words_the_source_and_the_target_count_alike(
    version: int | None, here: tuple[int, int, bytes], clock: int
) -> None:
    decision = decided(Arrival(version, OLD), Here(*here), "last_write_wins", "upsert")
    assert (decision.fate, decision.clock) == (Fate.SAME, clock)


def test_two_servers_keep_the_same_of_two_states() -> None:
    contents = (None, b"a", b"b", b"c")
    for left, right, one, two in itertools.product(range(1, 4), range(1, 4), contents, contents):
        there = decided(Arrival(left, one), Here(right, 0, two), "last_write_wins", "upsert")
        back = decided(Arrival(right, two), Here(left, 0, one), "last_write_wins", "upsert")
        kept = one if there.fate is Fate.LAND else two
        assert kept == (two if back.fate is Fate.LAND else one), (left, right, one, two)


@every_row(
    ("policy", "fate"),
    [("source_wins", Fate.LAND), ("target_wins", Fate.KEEP), ("error", Fate.REFUSE)],
)
def test_a_policy_decides_where_both_sides_wrote(policy: Any, fate: Fate) -> None:
    both, one = Here(3, 2, OLD), Here(2, 2, OLD)
    assert decided(Arrival(3, NEW), both, policy, "upsert").fate is fate
    assert decided(Arrival(3, NEW), one, policy, "upsert").fate is Fate.LAND
    assert decided(Arrival(1, NEW), both, policy, "overwrite").clock == 4


@pytest.fixture(name="agents")
def _agents() -> Agents:
    agents = Agents()
    agents.grants["bo"] = SYNC
    return agents


def file(path: str, text: str | None = "tea\n", version: int | None = 1, **more: Any) -> dict[str, Any]:
    if text is None:
        return {"path": path, "deleted": True, "version": version} | more
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    return {"path": path, "content": text, "sha256": sha256, "version": version} | more


def pull(agents: Agents, *files: dict[str, Any], by: str = "bo", **sent: Any) -> dict[str, Any]:
    return agents.call(by, "replication_pull", **{"source_peer": "bo", "files": list(files)} | sent)


def code(agents: Agents, *files: dict[str, Any], **sent: Any) -> str:
    with pytest.raises(LaminaError) as refused:
        pull(agents, *files, **sent)
    return refused.value.code


def text(agents: Agents, path: str = PLAN) -> str | None:
    document = agents.store.documents.read(TENANT, path)
    return None if document is None else document.content.decode()


def put(agents: Agents, words: str, path: str = PLAN) -> None:
    change = Change(path, ChangeKind.PUT, words.encode())
    agents.store.documents.write([Write(tenant_id=TENANT, author="x", message="m", changes=[change])])


def test_files_are_taken_over_in_one_commit_that_is_told_of(agents: Agents) -> None:
    done = pull(agents, file(PLAN), file("journal/2026-01-01.md", "rain\n"))
    assert (done["changed_count"], done["skipped_count"], done["conflict_count"]) == (2, 0, 0)
    assert done["committed_files"] == [PLAN, "journal/2026-01-01.md", "peers/replication_state.json"]
    assert text(agents) == "tea\n"
    assert agents.store.documents.told_by(TENANT, PLAN) is not None
    again = pull(agents, file(PLAN))
    assert (again["changed_count"], again["skipped_count"]) == (0, 1)
    state = json.loads(text(agents, "peers/replication_state.json") or "")
    assert state["last_pull_by_source"]["bo"]["received_count"] == 1
    assert state["documents"][PLAN] == {"version": 1, "local": 1}


def test_the_time_of_a_file_decides_nothing(agents: Agents) -> None:
    pull(agents, file(PLAN, "two", 2))
    late = pull(agents, file(PLAN, "one", 1, modified_at="2199-01-01T00:00:00Z"))
    assert (text(agents), late["skipped_count"], late["conflict_count"]) == ("two", 1, 0)
    put(agents, "mine")  # the clock is at 3
    assert pull(agents, file(PLAN, "theirs", 4))["conflict_count"] == 1
    assert text(agents) == "theirs"


def test_a_removal_is_taken_over_and_an_older_text_does_not_come_back(agents: Agents) -> None:
    pull(agents, file(PLAN, "one", 1))
    assert pull(agents, file(PLAN, None, 2))["deleted_count"] == 1
    assert pull(agents, file(PLAN, "one", 1))["skipped_count"] == 1
    assert text(agents) is None
    assert pull(agents, file(PLAN, "three", 3))["changed_count"] == 1
    assert pull(agents, file("projects/never.md", None))["skipped_count"] == 1


def test_a_key_brings_back_the_counts_of_then_and_another_body_under_it_is_refused(agents: Agents) -> None:
    sent = {"idempotency_key": "k"}
    first = pull(agents, file(PLAN), **sent)
    assert pull(agents, file(PLAN), **sent) == first | {"idempotent_replay": True}
    assert code(agents, file(PLAN, "else"), **sent) == "IDEMPOTENCY_CONFLICT"
    assert pull(agents, file(PLAN, "else", 2), idempotency_key="other")["changed_count"] == 1


def test_a_key_is_known_for_as_many_days_as_an_operator_says() -> None:
    day = 86_400_000_000
    for days in (14, 2):
        agents = Agents(histories=HistorySettings(relay_replication_pull_idempotency_retention_days=days))
        agents.grants["bo"] = SYNC
        sent = {"idempotency_key": "k"}
        pull(agents, file(PLAN), **sent)
        agents.store.idempotency.prune(agents.clock.at - day)  # as a worker does
        agents.clock.at += days * day - 60_000_000
        agents.store.idempotency.prune(agents.clock.at - day)
        assert pull(agents, file(PLAN), **sent)["idempotent_replay"]
        agents.clock.at += 120_000_000
        assert not pull(agents, file(PLAN), **sent)["idempotent_replay"]


def test_nothing_lands_where_one_file_is_refused(agents: Agents) -> None:
    put(agents, "mine", "projects/b.md")
    bad = file("projects/b.md", "theirs", 1)
    assert code(agents, file(PLAN), bad, conflict_policy="error") == "REPLICATION_CONFLICT"
    assert code(agents, file(PLAN), file(PLAN)) == "INVALID_REPLICATION"
    assert code(agents, file(PLAN, sha256="0" * 64)) == "INVALID_REPLICATION"
    assert code(agents, {"path": PLAN, "content": "x"}) == "INVALID_REPLICATION"
    assert (text(agents), text(agents, "projects/b.md")) == (None, "mine")


@every_row(
    ("path", "refused"),
    [
        ("config/peer_tokens.json", "SECRET_FILE"),
        ("config/Security_Keys.json", "SECRET_FILE"),
        ("peers/registry.json", "NAMESPACE_DENIED"),
        ("config/governance_policy.json", "NAMESPACE_DENIED"),
        ("peers/replication_state.json", "INVALID_REPLICATION"),
        ("logs/audit.jsonl", "INVALID_REPLICATION"),
        ("projects/../../x", "NAMESPACE_DENIED"),
        ("projects/a\u0001b", "INVALID_FILE_PATH"),
        ("projects/.git/config", "INVALID_FILE_PATH"),
    ],
)
def test_no_secret_no_registry_and_nothing_outside_arrives(path: str, refused: str) -> None:
    agents = Agents()
    agents.grants["bo"] = SYNC
    assert code(agents, file(path)) == refused


def test_a_capsule_is_checked_and_stands_as_if_it_had_been_written(agents: Agents) -> None:
    at = "memory/continuity/thread-launch.json"
    capsule = body("thread", "launch", updated_at=rfc3339(NOW), verified_at=rfc3339(NOW))
    content = json.dumps(capsule)
    derived = file("memory/continuity/fallback/thread-launch.json", "{}")
    assert pull(agents, file(at, content), derived)["skipped_count"] == 1
    read = agents.call("kim", "continuity_read", subject_kind="thread", subject_id="launch")
    assert read["capsule"]["subject_id"] == "launch"
    assert text(agents, "memory/continuity/fallback/thread-launch.json") not in (None, "{}")
    assert code(agents, file(at, "{}", 2)) == "STORED_CAPSULE_INVALID"
    other = "memory/continuity/thread-other.json"
    assert code(agents, file(other, content)) == "SUBJECT_MISMATCH"
    taken = content.replace('"launch"', '"Launch"')
    assert code(agents, file(at, taken, 2)) == "SUBJECT_TAKEN"
    pull(agents, file(at, None, 2))
    assert text(agents, "memory/continuity/fallback/thread-launch.json") is None


def test_a_source_is_who_sends_and_is_trusted(agents: Agents) -> None:
    agents.grants |= {"cy": SYNC, "eve": SYNC}
    assert code(agents, file(PLAN), by="cy") == "REPLICATION_SOURCE_DENIED"
    assert code(agents, file(PLAN), by="eve", source_peer="eve") == "UNTRUSTED_PEER"
    assert pull(agents, file(PLAN), by="kim")["changed_count"] == 1
    narrow = RelayGrant(SYNC.rights, EVERYWHERE, frozenset({"peers", "journal"}))
    agents.grants["bo"] = narrow
    assert code(agents, file(PLAN, "x", 2)) == "NAMESPACE_DENIED"


def test_it_is_off_where_nobody_switched_it_on_and_merging_says_why_not() -> None:
    agents = Agents(replicates=False)
    agents.grants["bo"] = SYNC
    with pytest.raises(LaminaError, match="LAMINA_RELAY_REPLICATION=1") as refused:
        pull(agents)
    assert refused.value.code == "FEATURE_OFF"
    with pytest.raises(LaminaError, match="no branches"):
        agents.call("cy", "code_merge", source_ref="main")


class Pair:
    """Two servers: ``kim`` owns ``left``, which knows the other as ``right``, where its token is that of ``bo``."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left, self.right = Agents(), Agents()
        self.right.grants["bo"] = SYNC
        self.keys: list[str] = []
        known = {"right": {"base_url": "http://right", "trust_level": "trusted"}}
        known["shut"] = {"base_url": "http://shut", "trust_level": "untrusted"}
        put(self.left, json.dumps({"peers": known}), "peers/registry.json")
        monkeypatch.setattr(self.left, "send", self.arrives)

    def arrives(self, url: str, body: bytes, token: str | None) -> bytes:
        assert (url, token) == ("http://right/v1/replication/pull", "secret")
        assert len(body) <= 8192
        self.keys.append(json.loads(body)["idempotency_key"])
        return json.dumps(self.right.call("bo", "replication_pull", **json.loads(body))).encode()

    def push(self, **sent: Any) -> dict[str, Any]:
        target = {"peer_id": "right", "source_peer": "bo", "target_token": "secret"}
        return self.left.call("kim", "replication_push", **target | sent)


def test_what_one_server_has_another_takes_over_and_so_what_it_took_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pair = Pair(monkeypatch)
    for number in range(12):
        put(pair.left, f"{number % 10}" * 1500, f"projects/{number:02}.md")
    put(pair.left, "hidden", "projects/.index.json")
    put(pair.left, "{}", "memory/continuity/fallback/thread-launch.json")
    done = pair.push(include_prefixes=["projects", "memory"])
    assert (done["file_count"], done["by_prefix"]) == (12, {"projects": 12, "memory": 0})
    assert (done["remote"]["changed_count"], done["dry_run"]) == (12, False)
    assert len(pair.keys) == 3
    assert pair.keys[0].startswith("push_")
    assert text(pair.right, "projects/11.md") == "1" * 1500
    remove = Change("projects/03.md", ChangeKind.REMOVE)
    pair.left.store.documents.write([Write(tenant_id=TENANT, author="x", message="m", changes=[remove])])
    put(pair.right, "theirs", "projects/04.md")
    put(pair.left, "mine", "projects/04.md")
    put(pair.left, "mine again", "projects/04.md")
    remote = pair.push(include_prefixes=["projects"])["remote"]
    assert (remote["deleted_count"], remote["changed_count"], remote["conflict_count"]) == (1, 1, 1)
    assert text(pair.right, "projects/03.md") is None
    assert text(pair.right, "projects/04.md") == "mine again"


def test_without_a_target_a_push_says_what_it_would_send(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = Pair(monkeypatch)
    put(pair.left, "tea")
    for sent in ({"peer_id": None}, {"dry_run": True}):
        told = pair.push(**sent)
        assert (told["dry_run"], told["file_count"], told["sample_paths"]) == (True, 1, [PLAN])
    assert (pair.keys, text(pair.left, "peers/replication_state.json")) == ([], None)


def test_a_push_goes_where_somebody_vouched_for_and_takes_what_may_be_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pair = Pair(monkeypatch)
    put(pair.left, "tea")
    put(pair.left, "x" * 9000, "essays/long.md")
    pair.left.grants["cy"] = RelayGrant(SYNC.rights, frozenset({"journal"}), EVERYWHERE)

    def refused(by: str = "kim", **sent: Any) -> str:
        with pytest.raises(LaminaError) as error:
            pair.left.call(by, "replication_push", **sent)
        return error.value.code

    assert refused(peer_id="nobody") == "PEER_NOT_FOUND"
    assert refused(peer_id="shut") == "UNTRUSTED_PEER"
    assert refused(by="cy", base_url="http://elsewhere") == "PEER_ADDRESS_DENIED"
    assert refused(by="cy", peer_id="right", include_prefixes=["projects"]) == "NAMESPACE_DENIED"
    assert refused(include_prefixes=["config"]) == "INVALID_REPLICATION"
    assert refused(include_prefixes=["peers/x"]) == "INVALID_REPLICATION"
    assert refused(include_prefixes=["essays"]) == "PAYLOAD_TOO_LARGE"
    assert refused(max_files=1) == "PAYLOAD_TOO_LARGE"
    assert pair.keys == []


def test_what_follows_on_words_that_both_had_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = Pair(monkeypatch)
    for words in ("draft", "better", "tea"):
        put(pair.right, words)
    put(pair.left, "tea")
    assert pair.push()["remote"]["skipped_count"] == 1
    put(pair.left, "tea with milk")
    remote = pair.push()["remote"]
    assert (remote["changed_count"], remote["conflict_count"]) == (1, 0)
    assert text(pair.right) == "tea with milk"


def test_what_arrives_while_a_push_is_on_its_way_stays_agreed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = Pair(monkeypatch)
    pair.left.grants["bo"] = SYNC
    put(pair.left, "one")
    pair.push()
    for words in ("two", "three"):
        put(pair.right, words)

    def crossing(url: str, body: bytes, token: str | None) -> bytes:
        pull(pair.left, file(PLAN, "three", 3))
        return pair.arrives(url, body, token)

    monkeypatch.setattr(pair.left, "send", crossing)
    pair.push()
    state = json.loads(text(pair.left, "peers/replication_state.json") or "")
    assert (text(pair.left), state["documents"][PLAN]) == ("three", {"version": 3, "local": 2})


def test_what_is_erased_while_a_push_is_on_its_way_is_not_named_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pair = Pair(monkeypatch)
    put(pair.left, "tea")

    def erasing(url: str, body: bytes, token: str | None) -> bytes:
        answer = pair.arrives(url, body, token)
        renewed = without_paths(pair.left.store.documents)(TENANT, [PLAN])
        pair.left.store.traces.erase_documents(TENANT, [PLAN], renewed=renewed)
        return answer

    monkeypatch.setattr(pair.left, "send", erasing)
    pair.push()
    assert PLAN not in (text(pair.left, "peers/replication_state.json") or "")


@pytest.mark.parametrize("before", [1, 2])
def test_what_is_erased_before_a_push_is_noted_is_not_named_after_it(
    monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    pair = Pair(monkeypatch)
    put(pair.left, "tea")
    documents, write, times = pair.left.store.documents, pair.left.store.documents.write, 0

    def erasing(writes: Sequence[Write]) -> list[LandedWrite]:
        nonlocal times
        times += 1
        if times == before:
            renewed = without_paths(documents)(TENANT, [PLAN])
            pair.left.store.traces.erase_documents(TENANT, [PLAN], renewed=renewed)
        return write(writes)

    monkeypatch.setattr(documents, "write", erasing)
    pair.push()
    assert times >= before
    assert PLAN not in (text(pair.left, "peers/replication_state.json") or "")


def test_a_file_that_is_erased_as_it_is_pulled_arrives_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    agents = Agents()
    agents.grants["bo"] = SYNC
    put(agents, "tea")
    traces = agents.store.traces
    agents.before_next_write(monkeypatch, lambda: traces.erase_documents(TENANT, [PLAN]))
    pull(agents, file(PLAN, "tea", 1))
    assert text(agents) == "tea"


def test_what_an_earlier_state_named_is_named_no_more_once_anything_is_erased(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pair = Pair(monkeypatch)
    documents, state = pair.left.store.documents, "peers/replication_state.json"
    for path in (PLAN, "projects/ana.md", "projects/bo.md"):
        put(pair.left, "tea", path)
    assert without_paths(documents)(TENANT, ["projects/ana.md"]) == []
    pair.push()
    # As an earlier release erased: the state named the path no more, and its history went on to.
    unnamed = without_paths(documents)(TENANT, ["projects/ana.md"])
    documents.write([Write(tenant_id=TENANT, author="x", message="m", changes=unnamed)])
    pair.left.store.traces.erase_documents(TENANT, ["projects/ana.md"])
    kept = text(pair.left, state)
    assert without_paths(documents)(TENANT, []) == []
    for path in ("memory/a.md", "projects/ana.md"):  # whatever goes, and once more
        renewed = without_paths(documents)(TENANT, [path])
        pair.left.store.traces.erase_documents(TENANT, [path], renewed=renewed)
        assert (text(pair.left, state), len(documents.history(TENANT, state))) == (kept, 1)
    assert renewed == []
    assert pair.push()["remote"]["changed_count"] == 0


def test_what_went_to_cold_storage_was_not_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = Pair(monkeypatch)
    history, name = "memory/episodic/history", "episodic__notes__20260513T120000Z__0001"
    capsule = body("thread", "launch", updated_at=rfc3339(NOW), verified_at=rfc3339(NOW))
    archive = "memory/continuity/archive/thread-launch-20260513T120000Z.json"
    put(pair.left, archive_bytes(capsule, now=NOW, actor="agent:kim", reason="done").decode(), archive)
    payload, stub = f"{history}/{name}.jsonl", f"{history}/index/{name}.json"
    put(pair.left, "{}\n", payload)
    put(pair.left, json.dumps({"payload_path": payload}), stub)
    put(pair.left, "{}\n", PLAN)
    pair.push()
    cold = f"{history}/cold/{name}.jsonl.gz"
    for path in (cold, "memory/continuity/cold/thread-launch-20260513T120000Z.json.gz"):
        put(pair.left, "packed", path)
    put(pair.left, json.dumps({"payload_path": cold}), stub)
    removed = [Change(path, ChangeKind.REMOVE) for path in (archive, payload, PLAN)]
    pair.left.store.documents.write([Write(tenant_id=TENANT, author="x", message="m", changes=removed)])
    assert pair.push()["remote"]["deleted_count"] == 1
    assert text(pair.right, archive) is not None
    assert (text(pair.right, payload), text(pair.right, PLAN)) == ("{}\n", None)
    assert payload in (text(pair.right, stub) or "")


def test_what_travelled_beside_a_conflict_is_taken_away_later(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = Pair(monkeypatch)
    for words in ("theirs", "theirs again"):
        put(pair.right, words)
    put(pair.left, "mine")
    put(pair.left, "soon gone", "projects/gone.md")
    assert pair.push()["remote"]["conflict_count"] == 1
    remove = Change("projects/gone.md", ChangeKind.REMOVE)
    pair.left.store.documents.write([Write(tenant_id=TENANT, author="x", message="m", changes=[remove])])
    remote = pair.push()["remote"]
    assert (remote["deleted_count"], remote["conflict_count"]) == (1, 1)
    assert (text(pair.right), text(pair.right, "projects/gone.md")) == ("theirs again", None)


def test_what_travelled_in_a_push_that_failed_is_taken_away_later(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = Pair(monkeypatch)
    put(pair.left, "soon gone")

    def lost(url: str, body: bytes, token: str | None) -> bytes:
        pair.arrives(url, body, token)
        raise Unavailable("PEER_UNREACHABLE", "the answer was lost")

    monkeypatch.setattr(pair.left, "send", lost)
    with pytest.raises(Unavailable):
        pair.push()
    monkeypatch.setattr(pair.left, "send", pair.arrives)
    remove = Change(PLAN, ChangeKind.REMOVE)
    pair.left.store.documents.write([Write(tenant_id=TENANT, author="x", message="m", changes=[remove])])
    assert pair.push()["remote"]["deleted_count"] == 1
    assert text(pair.right) is None

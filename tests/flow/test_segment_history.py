"""Append logs move into a history, to cold storage and back, by jobs; what moves is still its writer's, and found by its words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lamina.kernel.time import SECOND_US
from told import Memory

DAY = 86_400 * SECOND_US
KIM, LEE = {"X-Cortex-Actor": "agent:kim"}, {"X-Cortex-Actor": "agent:lee"}
LOG = "memory/episodic/notes.jsonl"
PAGE = "journal/2026/2026-05-13.md"


def append(world: Any, text: str, *, path: str = LOG, by: dict[str, str] = KIM) -> None:
    world.clock.at += SECOND_US
    sent = {"path": path, "record": {"said": text}}
    assert world.call("POST", "/v1/append", headers=by, body=sent).status_code == 200


def write(world: Any, path: str, content: str, *, by: dict[str, str] = KIM) -> None:
    world.clock.at += SECOND_US
    sent = {"path": path, "content": content}
    assert world.call("POST", "/v1/write", headers=by, body=sent).status_code == 200


def run(world: Any, job: str, **arguments: Any) -> Any:
    world.clock.at += SECOND_US
    job_id = f"segment_history_{job}"
    answer = world.call("POST", "/v1/ops/run", body={"job_id": job_id, "arguments": arguments})
    return answer.json()["job_result"] if answer.status_code == 200 else refusal(answer)


def refusal(answer: Any) -> tuple[int, str, str | None]:
    said = answer.json()
    detail = said["detail"]
    return answer.status_code, said["error_code"], detail["code"] if isinstance(detail, dict) else None


def rolled(world: Any, family: str = "episodic") -> str:
    (segment_id,) = run(world, "maintenance", family=family)["rolled_segment_ids"]
    return str(segment_id)


def content(world: Any, path: str) -> str | None:
    document = world.store.documents.read("acme", path)
    return None if document is None else document.content.decode()


def stub(world: Any, segment_id: str) -> Any:
    return json.loads(content(world, f"memory/episodic/history/index/{segment_id}.json") or "")


def author(world: Any, path: str) -> str:
    return str(world.store.documents.history("acme", path)[0].commit.author)


def found(world: Any, words: str) -> list[str]:
    Memory(world.store, world.clock).derive()
    answer = world.call("POST", "/v1/search", body={"query": words})
    return [each["path"] for each in answer.json()["results"]]


def test_what_is_of_earlier_days_leaves_and_what_is_of_today_stays(world: Any) -> None:
    append(world, "wisteria")
    assert run(world, "maintenance", family="episodic")["rolled_segment_ids"] == []
    world.clock.at += DAY
    append(world, "larkspur", by=KIM)
    done = run(world, "maintenance", family="episodic")
    (segment_id,) = done["rolled_segment_ids"]
    assert (done["selection_count"], done["rolled_count"], done["batch_limit_reached"]) == (1, 1, False)
    assert segment_id == "episodic__notes__20260514T120004Z__0001"
    payload = f"memory/episodic/history/{segment_id}.jsonl"
    assert content(world, payload) == '{"said": "wisteria"}\n'
    assert content(world, LOG) == '{"said": "larkspur"}\n'
    said = stub(world, segment_id)
    assert (said["schema_type"], said["source_path"], said["stream_key"]) == (
        "segment_history_stub",
        LOG,
        "notes",
    )
    assert (said["payload_path"], said["summary"]["line_count"]) == (payload, 1)
    assert "cold_stored_at" not in said
    # Each is found where it stands, and told of in one place.
    assert (found(world, "wisteria")[:1], found(world, "larkspur")[:1]) == ([payload], [LOG])
    append(world, "foxglove")
    assert content(world, LOG) == '{"said": "larkspur"}\n{"said": "foxglove"}\n'
    assert run(world, "maintenance", family="episodic")["selection_count"] == 0


def test_what_leaves_and_what_stays_are_each_of_who_wrote_them(world: Any) -> None:
    append(world, "wisteria", by=KIM)
    world.clock.at += DAY
    append(world, "larkspur", by=LEE)
    payload = f"memory/episodic/history/{rolled(world)}.jsonl"
    assert (author(world, payload), author(world, LOG)) == ("agent:kim", "agent:lee")
    owned = world.store.traces.owned("acme", ["agent:kim"])
    assert payload in owned.paths
    assert LOG not in owned.paths
    world.clock.at += DAY
    append(world, "foxglove", by=LEE)
    assert author(world, f"memory/episodic/history/{rolled(world)}.jsonl") == "agent:lee"


def test_a_log_that_was_written_anew_today_is_todays(world: Any) -> None:
    append(world, "wisteria")
    world.clock.at += DAY
    write(world, LOG, '{"said": "another"}\n')
    assert run(world, "maintenance", family="episodic")["rolled_count"] == 0


def test_a_large_log_leaves_as_a_whole_and_a_small_one_does_not(make_world: Any) -> None:
    world = make_world(relay_episodic_rollover_bytes=1024)
    for name in ("a", "b", "c"):
        append(world, name * 1024, path=f"memory/episodic/{name}.jsonl")
    append(world, "short", path="memory/episodic/d.jsonl")
    first = run(world, "maintenance", family="episodic", batch_limit=2)
    assert (first["rolled_count"], first["batch_limit_reached"]) == (2, True)
    second = run(world, "maintenance")  # of every family
    assert (second["rolled_count"], second["batch_limit_reached"]) == (1, False)
    assert (content(world, "memory/episodic/a.jsonl"), content(world, "memory/episodic/d.jsonl")) == (
        "",
        '{"said": "short"}\n',
    )


def test_each_family_has_its_place_and_its_rest(world: Any) -> None:
    write(world, PAGE, "# Thursday\n")
    write(world, "messages/inbox/bo.jsonl", "{}\n")
    write(world, "messages/threads/t.jsonl", "{}\n")
    write(world, "messages/inbox/bo/2026-05-13/kept.json", "{}\n")
    places = {}
    for days in (0, 1, 13, 16):
        world.clock.at += days * DAY
        for family in ("journal", "message_stream", "message_thread"):
            for segment_id in run(world, "maintenance", family=family)["rolled_segment_ids"]:
                places[segment_id.split("__2026052")[0].split("__2026051")[0].split("__2026061")[0]] = days
    assert places == {
        "journal__2026__2026-05-13": 1,
        "message_stream__inbox__bo": 13,
        "message_thread__threads__t": 16,
    }
    stands = [
        each.path.rpartition("/")[0]
        for each in world.store.documents.below("acme", "")
        if "index" not in each.path
    ]
    assert {"journal/history/2026", "messages/history/inbox", "messages/history/threads"} <= set(stands)
    assert content(world, PAGE) is None
    assert content(world, "messages/inbox/bo.jsonl") == ""
    said = run(world, "maintenance", family="api_audit")
    assert (said["selection_count"], len(said["warnings"])) == (0, 1)


def test_a_segment_goes_to_cold_storage_and_comes_back_to_the_byte(world: Any) -> None:
    append(world, "wisteria")
    world.clock.at += DAY
    segment_id = rolled(world)
    hot, cold = (
        f"memory/episodic/history/{segment_id}.jsonl",
        f"memory/episodic/history/cold/{segment_id}.jsonl.gz",
    )
    assert run(world, "cold_store", family="episodic")["cold_stored_count"] == 0  # too young
    world.clock.at += 30 * DAY
    done = run(world, "cold_store")
    assert (done["cold_segment_ids"], done["hot_payloads_removed"]) == ([segment_id], [hot])
    assert (stub(world, segment_id)["payload_path"], stub(world, segment_id)["cold_stored_at"][:10]) == (
        cold,
        "2026-06-13",
    )
    assert found(world, "wisteria") == []
    again = run(world, "cold_store", family="episodic", segment_ids=[segment_id])
    assert again == (409, "HISTORY_CONFLICT", "segment_history_already_cold")
    back = run(world, "cold_rehydrate", family="episodic", segment_id=segment_id)
    assert (back["rehydrated_payload_path"], back["removed_cold_payload_path"]) == (hot, cold)
    assert content(world, hot) == '{"said": "wisteria"}\n'
    assert "cold_stored_at" not in stub(world, segment_id)
    assert found(world, "wisteria")[:1] == [hot]
    assert run(world, "cold_rehydrate", family="episodic", segment_id=segment_id) == (
        409,
        "HISTORY_CONFLICT",
        "segment_history_not_cold",
    )


@pytest.mark.parametrize(
    ("job", "arguments", "refused"),
    [
        ("maintenance", {"family": "letters"}, (400, "INVALID_JOB_ARGUMENTS", None)),
        ("maintenance", {"batch_limit": 501}, (400, "INVALID_JOB_ARGUMENTS", None)),
        ("cold_store", {"segment_ids": ["episodic__a__20260513T120000Z__0001"]}, (400, "INVALID_JOB_ARGUMENTS", None)),
        ("cold_store", {"family": "episodic", "segment_ids": ["episodic__../a__20260513T120000Z__0001"]},
         (400, "INVALID_HISTORY", "segment_history_invalid_segment_id")),
        ("cold_rehydrate", {"family": "journal", "segment_id": "episodic__a__20260513T120000Z__0001"},
         (400, "INVALID_HISTORY", "segment_history_invalid_segment_id")),
        ("cold_rehydrate", {"family": "episodic", "segment_id": "episodic__a__20261399T120000Z__0001"},
         (400, "INVALID_HISTORY", "segment_history_invalid_segment_id")),
        ("cold_rehydrate", {"family": "episodic", "segment_id": "episodic__a__20260513T120000Z__0001"},
         (409, "HISTORY_CONFLICT", "segment_history_stub_not_found")),
    ],
)  # fmt: skip
def test_what_is_no_segment_is_refused(
    world: Any, job: str, arguments: dict[str, Any], refused: tuple[int, str, str | None]
) -> None:
    assert run(world, job, **arguments) == refused
    assert world.store.documents.below("acme", "") == []


def test_damage_is_named_and_nothing_moves(world: Any) -> None:
    append(world, "wisteria")
    world.clock.at += DAY
    segment_id = rolled(world)
    run(world, "cold_store", family="episodic", segment_ids=[segment_id])
    write(
        world, f"memory/episodic/history/index/{segment_id}.json", '{"schema_type": "segment_history_stub"}'
    )
    wanted = {"family": "episodic", "segment_id": segment_id}
    assert run(world, "cold_rehydrate", **wanted) == (400, "INVALID_HISTORY", "segment_history_invalid_stub")
    assert content(world, f"memory/episodic/history/{segment_id}.jsonl") is None


def test_what_one_wrote_moves_in_their_name_and_what_several_did_in_the_operators(world: Any) -> None:
    append(world, "wisteria")
    append(world, "one", path="memory/episodic/ours.jsonl")
    append(world, "two", path="memory/episodic/ours.jsonl", by=LEE)
    world.clock.at += DAY
    mine, ours = run(world, "maintenance", family="episodic")["rolled_segment_ids"]
    run(world, "cold_store", family="episodic", segment_ids=[mine, ours])
    folder = "memory/episodic/history"
    operator = author(world, f"{folder}/index/{ours}.json")
    assert (author(world, f"{folder}/cold/{mine}.jsonl.gz"), operator) == ("agent:kim", "user:local")
    owned = world.store.traces.owned("acme", ["agent:kim"])
    assert {
        f"{folder}/cold/{mine}.jsonl.gz",
        f"{folder}/index/{mine}.json",
        f"{folder}/{mine}.jsonl",
        LOG,
    } <= set(owned.paths)
    assert "memory/episodic/ours.jsonl" in owned.shared_paths

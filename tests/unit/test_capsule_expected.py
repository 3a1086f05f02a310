"""A write that says what its caller has read is done over that and nothing else; one that only appends needs no clock."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from capsules import BEFORE, NOW, body, later, stored
from lamina.errors import Conflict, Malformed
from lamina.kernel.time import SECOND_US, instant
from lamina.mcp.arguments import CapsuleWrite
from lamina.mcp.running import run_tool
from shelves import Continuity

ABOUT = {"subject_kind": "thread", "subject_id": "launch"}
ACTIVE = "memory/continuity/thread-launch.json"


@pytest.fixture
def continuity() -> Continuity:
    return Continuity()


def upsert(continuity: Continuity, seconds: int, priority: str, **more: Any) -> dict[str, Any]:
    capsule = body(updated_at=later(seconds), continuity={"top_priorities": [priority]})
    return continuity("upsert", **ABOUT, capsule=capsule, **more)


def append(text: str) -> dict[str, Any]:
    return {"target": "continuity.open_loops", "action": "append", "value": text}


def sha(continuity: Continuity) -> str | None:
    found: str | None = continuity("read", **ABOUT)["capsule_sha256"]
    return found


def test_a_reading_has_the_hash_of_what_stands(continuity: Continuity) -> None:
    written = upsert(continuity, 0, "one")["capsule_sha256"]
    assert sha(continuity) == written
    content = json.dumps(stored(), indent=4).encode()  # as another program writes it
    continuity.documents.put(ACTIVE, content)
    assert sha(continuity) == hashlib.sha256(content).hexdigest()
    continuity("archive", **ABOUT, reason="done")
    assert continuity("read", **ABOUT, allow_fallback=True)["capsule_sha256"] is None


@pytest.mark.parametrize("merge_mode", ["replace", "preserve"])
def test_nobody_overwrites_what_they_have_not_read(continuity: Continuity, merge_mode: str) -> None:
    both_read = upsert(continuity, 0, "one")["capsule_sha256"]
    first = upsert(continuity, 1, "from a", expected_sha256=both_read)["capsule_sha256"]
    with pytest.raises(Conflict) as refused:
        upsert(continuity, 2, "from b", expected_sha256=both_read, merge_mode=merge_mode)
    assert (refused.value.code, refused.value.details) == ("CAPSULE_CHANGED", {"capsule_sha256": first})
    assert (sha(continuity), first in refused.value.message) == (first, True)
    upsert(continuity, 2, "from b", expected_sha256=first, merge_mode=merge_mode)


def test_a_write_whose_answer_was_lost_may_be_sent_again(continuity: Continuity) -> None:
    read = upsert(continuity, 0, "one")["capsule_sha256"]
    sent = upsert(continuity, 1, "two", expected_sha256=read)
    again = upsert(continuity, 1, "two", expected_sha256=read)
    assert (again["updated"], again["capsule_sha256"]) == (False, sent["capsule_sha256"])


def test_an_older_date_is_the_lesser_news(continuity: Continuity) -> None:
    upsert(continuity, 5, "one")
    with pytest.raises(Conflict) as refused:
        upsert(continuity, 1, "two", expected_sha256="0" * 64)
    assert refused.value.code == "CAPSULE_CHANGED"


def test_what_is_gone_or_damaged_is_not_what_was_read(continuity: Continuity) -> None:
    read = upsert(continuity, 0, "one")["capsule_sha256"]
    continuity.documents.put(ACTIVE, b"{")
    damaged = hashlib.sha256(b"{").hexdigest()
    for present in (damaged, None):
        if present is None:
            continuity("delete", **ABOUT, reason="a mistake", delete_active=True, delete_fallback=True)
        with pytest.raises(Conflict) as refused:
            upsert(continuity, 1, "two", expected_sha256=read)
        assert refused.value.details == {"capsule_sha256": present}


def test_of_two_who_write_a_first_one_the_second_is_refused(continuity: Continuity) -> None:
    none = hashlib.sha256(b"").hexdigest()
    first = upsert(continuity, 0, "from a", expected_sha256=none)
    assert first["created"]
    with pytest.raises(Conflict) as refused:
        upsert(continuity, 1, "from b", expected_sha256=none)
    assert refused.value.details == {"capsule_sha256": first["capsule_sha256"]}


def test_a_tool_that_found_no_capsule_replaces_none(continuity: Continuity) -> None:
    class Agent:
        actor, agent, scope, key, now = "agent:b", None, "user:b", "k", NOW

        def ask(self, operation: str, request: Mapping[str, Any]) -> Any:
            if operation == "continuity_upsert":
                upsert(continuity, 0, "from a")
            return SimpleNamespace(**continuity(operation.removeprefix("continuity_"), **request))

    with pytest.raises(Conflict) as refused:
        run_tool(
            "capsule_write", CapsuleWrite.model_validate({**ABOUT, "top_priorities": ["from b"]}), Agent()
        )
    assert refused.value.code == "CAPSULE_CHANGED"
    assert continuity("read", **ABOUT)["capsule"]["continuity"]["top_priorities"] == ["from a"]


def test_a_patch_may_name_what_it_builds_upon(continuity: Continuity) -> None:
    read = upsert(continuity, 0, "one")["capsule_sha256"]
    patched = continuity("patch", **ABOUT, operations=[append("a")], expected_sha256=read)
    with pytest.raises(Conflict) as refused:
        continuity("patch", **ABOUT, operations=[append("b")], expected_sha256=read)
    assert refused.value.details == {"capsule_sha256": patched["capsule_sha256"]}
    assert continuity("read", **ABOUT)["capsule"]["continuity"]["open_loops"] == ["tests", "a"]


def test_appends_take_the_servers_time_which_never_goes_back(continuity: Continuity) -> None:
    upsert(continuity, 0, "one")
    times = [instant(BEFORE)]
    for number, step_s in enumerate((1, 0, -50, 3)):
        continuity.at += step_s * SECOND_US
        continuity("patch", **ABOUT, operations=[append(f"l{number}")])
        times.append(instant(continuity("read", **ABOUT)["capsule"]["updated_at"]))
    assert times[1:] == [NOW + SECOND_US, NOW + SECOND_US + 1, NOW + SECOND_US + 2, NOW + SECOND_US + 3]
    loops = continuity("read", **ABOUT)["capsule"]["continuity"]["open_loops"]
    assert loops == ["tests", "l0", "l1", "l2", "l3"]


@pytest.mark.parametrize(
    "other",
    [
        {"target": "continuity.open_loops", "action": "remove", "match": "tests"},
        {"target": "continuity.open_loops", "action": "replace_at", "index": 0, "value": "x"},
    ],
)
def test_what_removes_or_replaces_says_when(continuity: Continuity, other: dict[str, Any]) -> None:
    upsert(continuity, 0, "one")
    with pytest.raises(Malformed) as refused:
        continuity("patch", **ABOUT, operations=[append("a"), other])
    assert (refused.value.code, refused.value.details) == ("INVALID_PATCH", {"field": "updated_at"})

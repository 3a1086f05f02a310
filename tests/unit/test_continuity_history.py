"""Looking back: the versions of a capsule, and what changed between two of them."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from capsules import body, later, signal
from lamina.errors import Forbidden, Malformed, NotFound
from lamina.kernel.relay import RelayGrant, RelayRight
from lamina.kernel.time import SECOND_US
from shelves import EVERYWHERE, Continuity

ACTIVE = "memory/continuity/thread-launch.json"
ABOUT = {"subject_kind": "thread", "subject_id": "launch"}
FIRST, SECOND = "continuity: upsert thread launch", "continuity: patch thread launch"


@pytest.fixture(name="continuity")
def _continuity() -> Continuity:
    """A capsule that was written and patched."""
    made = Continuity()
    made("upsert", **ABOUT, capsule=body())
    _append(made, 1, "call back")
    return made


def _append(continuity: Continuity, second: int, loop: str) -> None:
    operation = {"target": "continuity.open_loops", "action": "append", "value": loop}
    continuity("patch", **ABOUT, updated_at=later(second), operations=[operation])


def _diff(continuity: Continuity, **asked: Any) -> dict[str, Any]:
    return continuity("diff", **ABOUT, **asked)


def test_a_history_is_newest_first_with_commit_author_and_time(continuity: Continuity) -> None:
    found = continuity("history", **ABOUT)
    head = continuity.documents.head("acme")
    assert (found["path"], found["count"], found["next_before"]) == (ACTIVE, 2, None)
    newest, first = found["versions"]
    assert set(newest) == {"version", "kind", "size", "commit", "author", "message", "committed_at"}
    assert (newest["version"], newest["commit"], newest["kind"]) == (2, head.sha, "put")
    assert (first["version"], first["author"], first["message"]) == (1, "agent:kim", FIRST)
    assert first["committed_at"].startswith("2026-05-13T12:00:00")
    assert newest["size"] > first["size"] > 0


def test_a_history_goes_on_below_a_version(continuity: Continuity) -> None:
    _append(continuity, 2, "write")
    page = continuity("history", **ABOUT, limit=2)
    assert ([each["version"] for each in page["versions"]], page["next_before"]) == ([3, 2], 2)
    rest = continuity("history", **ABOUT, before=2)
    assert ([each["version"] for each in rest["versions"]], rest["next_before"]) == ([1], None)
    assert continuity("history", **ABOUT, before=1)["versions"] == []


@pytest.mark.parametrize("asked", [{"limit": 0}, {"limit": 101}, {"before": 0}, {"before": 2**53}])
def test_a_history_has_bounds(continuity: Continuity, asked: dict[str, int]) -> None:
    with pytest.raises(ValidationError):
        continuity("history", **ABOUT, **asked)


def test_a_capsule_that_is_gone_keeps_its_history(continuity: Continuity) -> None:
    continuity("archive", **ABOUT, reason="done")
    newest = continuity("history", **ABOUT)["versions"][0]
    assert (newest["version"], newest["kind"], newest["size"]) == (3, "remove", 0)
    gone = _diff(continuity)
    assert "continuity.open_loops" in gone["changed_fields"]
    assert {change["new"] for change in gone["changes"]} == {None}


def test_the_newest_version_is_compared_with_the_one_before(continuity: Continuity) -> None:
    found = _diff(continuity)
    assert (found["from_version"]["message"], found["to_version"]["version"]) == (FIRST, 2)
    assert found["changed_fields"] == ["updated_at", "continuity.open_loops"]
    assert found["changes"][1] == {
        "field": "continuity.open_loops",
        "old": ["tests"],
        "new": ["tests", "call back"],
    }
    assert (found["identical"], found["uncompared_fields"]) == (False, [])


def test_two_versions_are_compared_either_way_round(continuity: Continuity) -> None:
    _append(continuity, 2, "write")
    forth, back = _diff(continuity, from_version=1), _diff(continuity, from_version=3, to_version=1)
    assert forth["changed_fields"] == back["changed_fields"]
    assert [(each["old"], each["new"]) for each in forth["changes"]] == [
        (each["new"], each["old"]) for each in back["changes"]
    ]
    assert _diff(continuity, from_version=2, to_version=2)["identical"]


def test_before_the_first_version_there_was_nothing(continuity: Continuity) -> None:
    found = _diff(continuity, to_version=1)
    assert found["from_version"] is None
    assert {change["old"] for change in found["changes"]} == {None}
    assert "source.producer" in found["changed_fields"]


def test_what_a_comparison_does_not_count_is_named_beside_it(continuity: Continuity) -> None:
    continuity("revalidate", **ABOUT, outcome="confirm", signals=[signal()])
    found = _diff(continuity)
    assert (found["changed_fields"], found["identical"]) == ([], False)
    assert "verification_state" in found["uncompared_fields"]
    assert [each["field"] for each in found["changes"]] == found["uncompared_fields"]


def test_a_key_of_metadata_may_have_dots() -> None:
    continuity = Continuity()
    continuity("upsert", **ABOUT, capsule=body(metadata={"a.b": 1}))
    continuity("upsert", **ABOUT, capsule=body(metadata={"a.b": 2}, updated_at=later(1)))
    changes = {each["field"]: (each["old"], each["new"]) for each in _diff(continuity)["changes"]}
    assert changes["metadata.a.b"] == (1, 2)


@pytest.mark.parametrize("asked", [{"from_version": 9}, {"to_version": 9}])
def test_a_version_that_is_not_there_is_not_found(continuity: Continuity, asked: dict[str, int]) -> None:
    with pytest.raises(NotFound, match="has no version 9"):
        _diff(continuity, **asked)


@pytest.mark.parametrize("name", ["history", "diff"])
def test_a_subject_without_a_capsule_is_not_found(name: str) -> None:
    with pytest.raises(NotFound, match="has no capsule"):
        Continuity()(name, **ABOUT)


@pytest.mark.parametrize("name", ["history", "diff"])
def test_who_may_not_read_the_folder_is_told_nothing(continuity: Continuity, name: str) -> None:
    elsewhere = RelayGrant(frozenset({RelayRight.READ_FILES}), frozenset({"tasks"}), EVERYWHERE)
    with pytest.raises(Forbidden):
        Continuity(continuity.documents, elsewhere)(name, **ABOUT)


@pytest.fixture(name="taken_over")
def _taken_over() -> Continuity:
    """A path that was Ana B's, then another person's whose id has the same normal form."""
    made = Continuity()
    for second, subject_id in enumerate(("Ana B", "Ana B", "ana-b", "ana-b")):
        about = {"subject_kind": "user", "subject_id": subject_id}
        if subject_id == "ana-b" and second == 2:
            gone = {"delete_active": True, "delete_fallback": True, "reason": "over"}
            made("delete", subject_kind="user", subject_id="Ana B", **gone)
        state = {"top_priorities": [f"secret {second} of {subject_id}"]}
        made("upsert", **about, capsule=body("user", subject_id, updated_at=later(second), continuity=state))
    return made


@pytest.mark.parametrize(
    ("asked", "versions", "own", "other"),
    [
        ("ana-b", [5, 4], "of ana-b", "Ana B"),
        ("Ana B", [3, 2, 1], "of Ana B", "ana-b"),
        ("ANA b", [5, 4], "of ana-b", "Ana B"),
    ],
)
def test_versions_of_another_id_are_not_there(
    taken_over: Continuity, asked: str, versions: list[int], own: str, other: str
) -> None:
    about = {"subject_kind": "user", "subject_id": asked}
    found = taken_over("history", **about)
    assert [each["version"] for each in found["versions"]] == versions
    assert taken_over("history", **about, limit=1)["next_before"] == versions[0]
    answers = [taken_over("diff", **about), taken_over("diff", **about, to_version=versions[-1])]
    answers.append(taken_over("diff", **about, from_version=versions[-1], to_version=versions[0]))
    assert own in str(answers)
    assert f"of {other}" not in str([found, answers])
    assert answers[1]["from_version"] is None
    for version in set(range(1, 6)) - set(versions):
        for place in ("from_version", "to_version"):
            with pytest.raises(NotFound, match="has no version"):
                taken_over("diff", **about, **{place: version})


def test_a_damaged_version_is_that_of_what_stood_before_it(taken_over: Continuity) -> None:
    taken_over.documents.put("memory/continuity/user-ana-b.json", b"{}")
    for asked, versions in (("ana-b", [6, 5, 4]), ("Ana B", [3, 2, 1])):
        found = taken_over("history", subject_kind="user", subject_id=asked)
        assert [each["version"] for each in found["versions"]] == versions


@pytest.mark.parametrize("name", ["history", "diff"])
def test_a_capsule_at_a_path_that_is_not_its_own_says_so(continuity: Continuity, name: str) -> None:
    path = "memory/continuity/user-else.json"
    continuity.documents.put(path, continuity.documents.read("acme", ACTIVE).content)
    with pytest.raises(Malformed, match="SUBJECT_MISMATCH"):
        continuity(name, subject_kind="user", subject_id="else")


def test_a_long_history_is_read_to_its_end(continuity: Continuity) -> None:
    for second in range(2, 205):
        continuity("upsert", **ABOUT, capsule=body(updated_at=later(second)))
    first = continuity("history", **ABOUT, limit=100)
    second = continuity("history", **ABOUT, limit=100, before=first["next_before"])
    rest = continuity("history", **ABOUT, limit=100, before=second["next_before"])
    seen = [each["version"] for page in (first, second, rest) for each in page["versions"]]
    assert (seen, rest["next_before"]) == (list(range(205, 0, -1)), None)


def test_a_version_that_is_no_capsule_says_so(continuity: Continuity) -> None:
    continuity.documents.put(ACTIVE, b"{}")
    assert continuity("history", **ABOUT)["versions"][0]["size"] == 2
    with pytest.raises(Malformed, match="invalid"):
        _diff(continuity)
    assert _diff(continuity, from_version=1, to_version=2)["changed_fields"]


def test_a_diff_since_an_instant_is_against_what_stood_then(continuity: Continuity) -> None:
    stood_at = continuity("history", **ABOUT)["versions"][0]["committed_at"]
    assert _diff(continuity, since=stood_at)["identical"]
    continuity.documents.clock.at += 3600 * SECOND_US
    _append(continuity, 3601, "write")
    continuity.documents.clock.at += 3600 * SECOND_US
    _append(continuity, 7201, "ask Kim")
    found = _diff(continuity, since=stood_at)
    assert (found["from_version"]["version"], found["to_version"]["version"]) == (2, 4)
    (change,) = (each for each in found["changes"] if each["field"] == "continuity.open_loops")
    assert [each for each in change["new"] if each not in change["old"]] == ["write", "ask Kim"]
    assert found["written_by"] == ["agent:kim"]
    assert _diff(continuity, since="2026-01-01")["from_version"] is None
    with pytest.raises(ValidationError, match="leave out the versions"):
        _diff(continuity, since=stood_at, from_version=1)

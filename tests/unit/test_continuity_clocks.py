"""A client's clock that is ahead: its date is kept as the contract wants it, and keeps nobody else out."""

from __future__ import annotations

from typing import Any

import pytest

from capsules import BEFORE, NOW, body, signal
from lamina import limits
from lamina.errors import Conflict
from lamina.kernel.time import SECOND_US, instant, rfc3339
from shelves import Continuity

ABOUT = {"subject_kind": "thread", "subject_id": "launch"}
FAR = "2031-01-01T00:00:00Z"
FARTHER = "2032-01-01T00:00:00Z"
MINUTE = 60 * SECOND_US
LABEL: dict[str, Any] = {"thread_descriptor": {"label": "L"}}


@pytest.fixture
def run() -> Continuity:
    """The operations, a minute after somebody wrote a capsule that is dated years ahead."""
    run = Continuity()
    run("upsert", **ABOUT, capsule=_dated(FAR, "of the wrong clock"))
    run.at = NOW + MINUTE
    return run


def _dated(at: str, loop: str) -> dict[str, Any]:
    return body(updated_at=at, continuity={"open_loops": [loop]}, **LABEL)


def _now(run: Continuity, seconds: int = 0) -> str:
    return rfc3339(run.at + seconds * SECOND_US)


def _loops(run: Continuity) -> list[str]:
    loops: list[str] = run("read", **ABOUT)["capsule"]["continuity"]["open_loops"]
    return loops


def test_an_upsert_by_a_right_clock_is_taken(run: Continuity) -> None:
    assert run("upsert", **ABOUT, capsule=_dated(_now(run), "of the right clock"))["updated"]
    assert _loops(run) == ["of the right clock"]


def test_so_are_a_patch_a_transition_and_a_correction(run: Continuity) -> None:
    operation = {"target": "continuity.open_loops", "action": "append", "value": "patched"}
    run("patch", **ABOUT, updated_at=_now(run), operations=[operation])
    assert _loops(run) == ["of the wrong clock", "patched"]
    run("upsert", **ABOUT, capsule=_dated(FAR, "again"))
    run.at += MINUTE
    run("lifecycle", **ABOUT, updated_at=_now(run), transition="suspend")
    run("upsert", **ABOUT, capsule=_dated(FAR, "again"))
    run.at += MINUTE
    candidate = _dated(_now(run), "corrected")
    run("revalidate", **ABOUT, outcome="correct", signals=[signal()], candidate_capsule=candidate)
    assert _loops(run) == ["corrected"]


def test_after_that_the_dates_are_believed_again(run: Continuity) -> None:
    run("upsert", **ABOUT, capsule=_dated(_now(run, seconds=10), "of the right clock"))
    with pytest.raises(Conflict) as refused:
        run("upsert", **ABOUT, capsule=_dated(_now(run, seconds=5), "late"))
    assert refused.value.code == "STALE_CAPSULE"


@pytest.mark.parametrize("at", [BEFORE, rfc3339(NOW - 1)])
def test_what_was_made_before_that_write_is_still_stale(run: Continuity, at: str) -> None:
    with pytest.raises(Conflict) as refused:
        run("upsert", **ABOUT, capsule=_dated(at, "from before"))
    assert refused.value.code == "STALE_CAPSULE"
    assert rfc3339(NOW) in refused.value.message
    assert refused.value.details["stored_updated_at"] == FAR
    assert _loops(run) == ["of the wrong clock"]


def test_dates_that_are_as_far_ahead_are_ordered_among_themselves(run: Continuity) -> None:
    run("upsert", **ABOUT, capsule=_dated(FARTHER, "later by the wrong clock"))
    with pytest.raises(Conflict):
        run("upsert", **ABOUT, capsule=_dated(FAR, "earlier by the wrong clock"))
    assert not run("upsert", **ABOUT, capsule=_dated(FARTHER, "later by the wrong clock"))["updated"]


def test_clocks_that_differ_a_little_are_ordered_by_their_dates() -> None:
    run, skew = Continuity(), limits.CAPSULE_CLOCK_SKEW_S
    run("upsert", **ABOUT, capsule=_dated(_now(run, seconds=skew), "a little ahead"))
    with pytest.raises(Conflict):
        run("upsert", **ABOUT, capsule=_dated(_now(run), "now"))
    run.at += (skew + 1) * SECOND_US
    assert run("upsert", **ABOUT, capsule=_dated(_now(run), "now"))["updated"]


def test_a_date_ahead_of_the_clock_is_told() -> None:
    run = Continuity()
    warnings = run("upsert", **ABOUT, capsule=_dated(FAR, "a") | {"verified_at": FARTHER})["warnings"]
    assert [(each["code"], each["field"]) for each in warnings] == [
        ("time_ahead_of_clock", "updated_at"),
        ("time_ahead_of_clock", "verified_at"),
    ]
    assert warnings[0]["ahead_seconds"] == (instant(FAR) - NOW) // SECOND_US
    assert run("read", **ABOUT)["capsule"]["updated_at"] == FAR

"""A brief while the session that it tells of goes on: what is in its window, and what its summary tells of, are of one moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lamina.session.drain import Drain
from session_calls import USER, brief, say

TURNS = 14
"""Two of these have left the window."""


def words(number: int) -> str:
    return f"The kayak of berth {number:03d} is painted."


def told(found: dict[str, Any]) -> list[int]:
    """How often a brief tells of each turn, in its window and in its summary."""
    window = " ".join(turn["text"] for turn in found["workingMemory"])
    return [(window + found["rollingSummary"]).count(f"berth {number:03d}") for number in range(TURNS)]


@pytest.fixture(name="between")
def _between(world: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Has something happen between what a brief reads of a session and what it reads of the turns that left it."""
    for number in range(TURNS):
        say(world, words(number), f"2026-05-13T10:00:{number:02d}Z")

    def have(happen: Callable[[], object]) -> None:
        read = type(world.store.sessions).unfolded

        def later(sessions: Any, *args: Any) -> list[str]:
            monkeypatch.setattr(type(sessions), "unfolded", read)
            happen()
            return read(sessions, *args)

        monkeypatch.setattr(type(world.store.sessions), "unfolded", later)

    return have


def test_a_turn_that_is_folded_meanwhile_is_told_of(world: Any, between: Any) -> None:
    between(lambda: Drain(world.store, world.clock).drain())
    assert told(brief(world)) == [1] * TURNS


def test_a_turn_that_leaves_the_window_meanwhile_is_told_of_once(world: Any, between: Any) -> None:
    between(lambda: say(world, "The harbour is closed.", "2026-05-13T10:00:30Z"))
    assert told(brief(world)) == [1] * TURNS


def test_a_bridge_tells_of_what_is_folded_meanwhile(world: Any, between: Any) -> None:
    world.post("/session/close", {**USER, "sessionId": "s-1"})
    between(lambda: Drain(world.store, world.clock).drain())
    bridge = brief(world, sessionId="s-2", mode="session_start")["episodeBridge"]
    assert "berth 013" in bridge

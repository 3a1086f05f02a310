"""A memory that lies ahead of the clock: a clock that was wrong for a moment hides nothing from who asks as of now."""

from __future__ import annotations

from typing import Any

import pytest

from lamina.kernel.time import SECOND_US, rfc3339
from lamina.language.temporal import find_times
from lamina.observe.steady_clock import SteadyClock
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.worker import Worker

SCOPE = "org:acme/user:alice"
DAY = 24 * 3600 * SECOND_US
PAGES = ["/v1/events", "/v1/facts", "/v1/beliefs", "/v1/episodes"]


@pytest.fixture
def jumped(world: Any) -> Any:
    """The clock was 400 days ahead for one event; another was told after it was right again."""
    right = world.clock.at
    world.clock.at = right + 400 * DAY
    world.event("My name is Alice.", context={"observed_at": right})
    world.clock.at = right
    world.event("I live in Porto.", context={"observed_at": right})
    extractor = RulesExtractor(find_times, use_parser=False)
    Worker(world.store, Deriver(world.store, extractor, None), None, world.clock, "test").drain()
    world.clock.at = right + 60 * SECOND_US
    return world


def listed(world: Any, path: str, **params: Any) -> list[str]:
    return [item["id"] for item in world.get(path, scope=SCOPE, **params)["items"]]


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("ago_s", [-1, 0, 2])
def test_as_of_now_shows_what_default_reads_show(jumped: Any, path: str, ago_s: int) -> None:
    shown = listed(jumped, path)
    now = rfc3339(jumped.clock.at - ago_s * SECOND_US)
    assert shown
    assert listed(jumped, path, as_of=now) == shown


def test_one_record_is_read_as_of_now(jumped: Any) -> None:
    now = rfc3339(jumped.clock.at)
    for path in PAGES[1:]:
        for record_id in listed(jumped, path):
            assert jumped.get(f"{path}/{record_id}", as_of=now) == jumped.get(f"{path}/{record_id}")


def test_recall_as_of_now_finds_what_was_just_said(jumped: Any) -> None:
    def block(**temporal: Any) -> str:
        body = {"scope": SCOPE, "query": "Where do I live?", "temporal": temporal}
        return str(jumped.post("/v1/recall", body).json()["context_block"])

    assert "Porto" in block()
    assert block(as_of=rfc3339(jumped.clock.at - SECOND_US)) == block()
    assert "Porto" not in block(as_of=rfc3339(jumped.clock.at - 30 * SECOND_US))


def test_while_the_clock_is_right_as_of_a_moment_ago_is_exact(world: Any) -> None:
    before = world.event("One.")
    world.clock.at += 2 * SECOND_US
    world.event("Two.")
    world.clock.at += SECOND_US
    assert listed(world, "/v1/events", as_of=rfc3339(world.clock.at - 2 * SECOND_US)) == [before.id]


def test_a_write_that_is_sent_again_is_one_though_the_clock_was_ahead_between(world: Any) -> None:
    right, ends = world.clock.at, iter([False] * 4)
    sent = {
        "scope": SCOPE,
        "modality": "text",
        "content": {"kind": "text", "text": "I live in Porto."},
        "context": {"observed_at": rfc3339(right)},
        "idempotency_key": "k",
    }
    first = world.post("/v1/experience", sent).json()["event_id"]
    worker = Worker(
        world.store,
        Deriver(world.store, RulesExtractor(find_times, use_parser=False), None),
        None,
        world.clock,
        "test",
        sleep=lambda _: None,
        steady=SteadyClock(world.clock, right, lambda: 0.0),
    )
    world.clock.at = right + 2 * DAY
    worker.run(lambda: next(ends, True))
    world.clock.at = right + SECOND_US
    assert world.post("/v1/experience", sent).json()["event_id"] == first

"""``GET /v1/admin/metrics``: Prometheus can read it, and no series is named after what callers say."""

from __future__ import annotations

import mmap
from typing import Any

import pytest
from prometheus_client import CONTENT_TYPE_LATEST
from prometheus_client.parser import text_string_to_metric_families

from lamina.app import Beside, build_server
from lamina.errors import Unavailable
from lamina.kernel.time import SECOND_US
from lamina.observe.figures import OUTCOMES, CallCounts
from lamina.observe.metrics import METRICS_TYPE
from lamina.observe.prometheus import Measuring
from lamina.observe.rounds import Failures
from lamina.settings import Settings
from lamina.store.memory import MemoryStore


def samples(text: str) -> dict[tuple[str, ...], float]:
    """The value of every series, by its name and its labels' values."""
    families = text_string_to_metric_families(text)
    return {(each.name, *each.labels.values()): each.value for family in families for each in family.samples}


def test_the_page_counts_calls_by_operation_and_measures_the_store(world: Any) -> None:
    world.call("POST", "/v1/recall", body={"query": 7})
    world.call("GET", "/v1/read?path=memory/core/canary.md")
    world.get("/v1/peers")
    response = world.call("GET", "/v1/admin/metrics")
    assert (response.status_code, response.headers["content-type"]) == (200, METRICS_TYPE)
    assert METRICS_TYPE == CONTENT_TYPE_LATEST
    page = samples(response.text)
    assert page["lamina_operations_total", "recall", "invalid"] == 1
    assert page["lamina_operations_total", "peers_list", "ok"] == 1
    assert page["lamina_operation_duration_seconds_count", "peers_list"] == 1
    assert page["lamina_store_readable",] == page["lamina_store_writable",] == 1
    assert ("lamina_jobs", "pending") in page
    assert "canary" not in response.text
    assert "owner" not in response.text


def test_labels_hold_words_of_the_product_alone(world: Any) -> None:
    names = {operation.name for operation in world.server.operations}
    allowed = {
        "operation": names,
        "outcome": set(OUTCOMES),
        "state": set(world.store.jobs.backlog()),
        "le": None,
        "version": None,
        "task": None,
        "direction": {"in", "out"},
    }
    for family in text_string_to_metric_families(world.call("GET", "/v1/admin/metrics").text):
        for each in family.samples:
            for label, value in each.labels.items():
                values = allowed[label]
                assert values is None or value in values, (each.name, label, value)


def test_who_may_not_ask_for_health_is_shown_no_metrics(world: Any) -> None:
    world.policy.deny("admin.health")
    refused = world.call("GET", "/v1/admin/metrics")
    assert (refused.status_code, refused.json()["error_code"]) == (403, "POLICY_DENIED")


def test_a_store_that_cannot_be_read_is_told_of_and_calls_are_still_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def gone() -> None:
        raise Unavailable("WAL_UNAVAILABLE", "gone")

    store = MemoryStore()
    monkeypatch.setattr(store.upkeep, "state", gone)
    calls = CallCounts()
    calls.ended("recall", 0.1)
    text = Measuring(store, Failures(), calls, processes=1, operations=["recall"]).page(1)
    page = samples(text)
    assert page["lamina_store_readable",] == 0
    assert page["lamina_operations_total", "recall", "ok"] == 1


def test_two_processes_over_a_store_show_the_same_page() -> None:
    memory, store = memoryview(mmap.mmap(-1, CallCounts.SIZE)), MemoryStore()
    pages = []
    for number in (1, 2):
        calls = CallCounts(memory, number)
        calls.ended("recall", 0.2)
        pages.append(Measuring(store, Failures(), calls, processes=2, operations=["recall"]))
    assert samples(pages[0].page(SECOND_US)) == samples(pages[1].page(SECOND_US))
    assert samples(pages[0].page(SECOND_US))["lamina_operations_total", "recall", "ok"] == 2


def test_a_server_alone_counts_for_itself() -> None:
    server = build_server(Settings(), store=MemoryStore(), beside=Beside(Failures()))
    try:
        assert {"metrics", "recall"} <= {operation.name for operation in server.operations}
    finally:
        server.close()

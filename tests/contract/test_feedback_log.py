"""Verdicts in the log: the newest of a tenant, without what was cancelled."""

from __future__ import annotations

from given import BOB, TENANT, append
from lamina.store.ports.store import Store


def test_feedback_is_read_newest_first_without_cancelled(store: Store) -> None:
    said = {"kind": "json", "verdict": "deny", "target_id": "fact_1"}
    append(store, "hello")
    first, second = append(store, "one", "two", modality="feedback", content=said)
    (elsewhere,) = append(store, "three", modality="feedback", content=said, scope=BOB)
    append(store, "other", modality="feedback", content=said, tenant_id="globex")
    assert [each.id for each in store.log.feedback(TENANT, 10)] == [elsewhere.id, second.id, first.id]
    assert [each.id for each in store.log.feedback(TENANT, 1)] == [elsewhere.id]
    store.log.cancel(TENANT, second.id)
    assert [each.id for each in store.log.feedback(TENANT, 10)] == [elsewhere.id, first.id]
    assert store.log.feedback("nobody", 10) == []

"""What every engine promises about recorded answers of language models."""

from __future__ import annotations

from typing import Any

from given import NOON, TENANT, append
from lamina.store.ports.model_outputs import ModelOutput, Spending
from lamina.store.ports.store import Store


def answer(input_hash: str = "sha256:a", text: str = "yes", **more: Any) -> ModelOutput:
    given = {"tenant_id": TENANT, "task": "loops/1", "model": "small", "tokens_in": 3, "tokens_out": 1}
    return ModelOutput(**{**given, "recorded_at": NOON, **more}, input_hash=input_hash, text=text)


def test_an_answer_is_found_by_its_input_in_its_tenant(store: Store) -> None:
    assert store.model_outputs.record(answer(), ["evt_1"]) == answer()
    assert store.model_outputs.find(TENANT, "sha256:a") == answer()
    assert store.model_outputs.find(TENANT, "sha256:b") is None
    assert store.model_outputs.find("other", "sha256:a") is None


def test_the_first_answer_stands(store: Store) -> None:
    store.model_outputs.record(answer(), ["evt_1"])
    assert store.model_outputs.record(answer(text="no", model="large"), ["evt_2"]) == answer()
    assert store.model_outputs.find(TENANT, "sha256:a") == answer()


def test_an_answer_goes_with_any_event_that_the_model_saw(store: Store) -> None:
    store.model_outputs.record(answer("sha256:a"), ["evt_1", "evt_2"])
    store.model_outputs.record(answer("sha256:b"), ["evt_2"])
    store.model_outputs.record(answer("sha256:c"), ["evt_3"])
    store.model_outputs.record(answer("sha256:c"), ["evt_4"])  # the same words, said twice
    store.model_outputs.record(answer("sha256:a", tenant_id="other"), ["evt_2"])
    assert store.model_outputs.forget(TENANT, ["evt_2", "evt_4"]) == 3
    assert [store.model_outputs.find(TENANT, f"sha256:{name}") for name in "abc"] == [None] * 3
    assert store.model_outputs.find("other", "sha256:a") is not None
    assert store.model_outputs.forget(TENANT, ["evt_1", "evt_3"]) == 0


def test_one_answer_is_dropped_and_others_about_its_events_stay(store: Store) -> None:
    store.model_outputs.record(answer("sha256:a"), ["evt_1", "evt_2"])
    store.model_outputs.record(answer("sha256:b"), ["evt_1"])
    store.model_outputs.record(answer("sha256:a", tenant_id="other"), ["evt_1"])
    assert store.model_outputs.drop(TENANT, ["sha256:a", "sha256:never"]) == 1
    assert store.model_outputs.find(TENANT, "sha256:a") is None
    assert store.model_outputs.drop(TENANT, ["sha256:a"]) == 0
    assert store.model_outputs.forget(TENANT, ["evt_2"]) == 0, "its sources went with it"
    assert store.model_outputs.find(TENANT, "sha256:b") is not None
    assert store.model_outputs.find("other", "sha256:a") is not None


def test_answers_outlive_a_replay(store: Store) -> None:
    (event,) = append(store, "I need to book the dentist.")
    store.model_outputs.record(answer(), [event.id])
    store.jobs.reset()
    assert store.model_outputs.find(TENANT, "sha256:a") == answer()


def test_what_is_spent_adds_up_by_tenant_day_task_and_model(store: Store) -> None:
    spent = Spending("acme", 20_000, "extract/1", "small", 1, 900, 70)
    for each in (spent, spent, spent._replace(day=20_001), spent._replace(tenant_id="beta", model="large")):
        store.model_outputs.spend(each)
    assert store.model_outputs.spent("acme", 20_000) == [
        spent._replace(asked=2, tokens_in=1800, tokens_out=140)
    ]
    assert [each.tenant_id for each in store.model_outputs.spent(None, 20_000)] == ["acme", "beta"]
    assert store.model_outputs.spent("beta", 20_001) == []

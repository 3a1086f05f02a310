"""What an operator asks of a store."""

from __future__ import annotations

from lamina.store.ports.store import Store


def test_what_fails_behind_the_calls_is_told_until_it_is_told_to_be_over(store: Store) -> None:
    assert store.upkeep.state().failing == {}
    store.upkeep.note_failing({"derivation": "builtins.KeyError", "the outbox": "GONE"})
    assert store.upkeep.state().failing == {"derivation": "builtins.KeyError", "the outbox": "GONE"}
    store.upkeep.note_failing({"the outbox": "GONE"})
    assert store.upkeep.state().failing == {"the outbox": "GONE"}
    store.upkeep.note_failing({})
    store.upkeep.note_failing({})
    assert store.upkeep.state().failing == {}

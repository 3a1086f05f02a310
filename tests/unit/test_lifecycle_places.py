"""Where who follows the lifecycle goes on."""

from __future__ import annotations

import pytest

from given import TENANT, append
from lamina.lifecycle.access import _last_by
from lamina.store.memory import MemoryStore


def test_a_place_is_found_though_the_last_rows_are_erased_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    append(store, *"abc")
    lifecycle = store.lifecycle
    last = lifecycle.last_sequence(TENANT)
    monkeypatch.setattr(lifecycle, "last_sequence", lambda _: last + 5)
    assert _last_by(lifecycle, TENANT, 2**62) == last

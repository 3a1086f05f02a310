"""Rows that are taken in many at once are those that are taken in one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from given import ALICE, NOON, TENANT, CountedIds, ManualClock, land_indexed, text_row
from lamina.index import scope
from lamina.index.resident import ResidentIndexes
from lamina.index.scope import ScopeIndex
from lamina.kernel.records import Layer
from lamina.language.days import FINDER
from lamina.store.memory import MemoryStore
from lamina.store.ports.index import TextRow
from lamina.store.ports.writes import Writes

WORDS = [*"abcdefgh", "ß", "x1"]
some_words = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)


@st.composite
def rows(draw: st.DrawFn, number: int) -> TextRow:
    layer = draw(st.sampled_from([Layer.EVENTS, Layer.EVENTS, Layer.FACTS, Layer.EPISODES]))
    told = layer is Layer.EVENTS
    return text_row(
        f"{'evt' if told else 'fact'}_{number}",
        draw(some_words),
        layer=layer,
        recorded_at=NOON + draw(st.integers(0, 20)),
        observed_at=NOON - draw(st.integers(0, 20)),
        session=draw(st.sampled_from([None, "s1", "s2"])),
        speaker=draw(st.sampled_from([None, "Ana", "Bo"])) if told else None,
        role=draw(st.sampled_from([None, "user", "assistant"])) if told else None,
        question_share=draw(st.sampled_from([0.0, 0.5])),
        self_share=draw(st.sampled_from([0.0, 0.25])),
        keys=draw(some_words) if told else "",
        quarantined=draw(st.sampled_from(["", "", "secret", "secret instructions"])),
        days=draw(st.sampled_from(["", "", f"{FINDER} 0000002a", f"{FINDER} 0000002a3-9:2026-05-01"])),
    )


histories = st.integers(1, 30).flatmap(lambda count: st.tuples(*(rows(number) for number in range(count))))


def all_of(index: ScopeIndex) -> dict[str, Any]:
    places = np.arange(len(index))
    held = index.rows(places, WORDS)
    return {
        "ids": list(index.record_ids),
        "columns": {name: np.asarray(getattr(held, name)).tolist() for name in held.__slots__},
        "events": index.figures(Layer.EVENTS, WORDS),
        "records": index.figures(Layer.FACTS, WORDS),
        "by then": index.figures_at(Layer.EVENTS, WORDS, NOON + 10),
        "speakers": list(index.speakers),
        "shown": index.mask(Layer.EVENTS, quarantined=False).tolist(),
        "recorded": index.mask(Layer.EVENTS, recorded_to=NOON + 10).tolist(),
        "kept out": [index.quarantined(each) for each in index.record_ids],
        "days": [index.days(each) for each in index.record_ids],
        "scores": [
            index.bm25(layer, WORDS, dict.fromkeys(WORDS, 1.0), 3.0).tolist()
            for layer in (Layer.EVENTS, Layer.FACTS)
        ],
    }


def loaded(texts: Sequence[TextRow], again: Sequence[TextRow], many: int) -> dict[str, Any]:
    """What an index holds that followed a store twice."""
    store = MemoryStore(clock=ManualClock(), ids=CountedIds())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scope, "_MANY", many)
        indexes = ResidentIndexes(store.index, "m", 16)
        for each in (texts, again):
            land_indexed(store, Writes(texts=list(each)))
            with indexes.reading(TENANT, [ALICE]) as (index,):
                found = all_of(index)
    return found


@given(histories, st.data())
def test_a_page_of_rows_is_taken_in_as_its_rows_are(texts: tuple[TextRow, ...], data: st.DataObject) -> None:
    again = [
        text._replace(terms=data.draw(some_words)) for text in texts if data.draw(st.integers(0, 4)) == 0
    ]
    again.append(data.draw(rows(len(texts))))
    assert loaded(texts, again, 1) == loaded(texts, again, 10_000)

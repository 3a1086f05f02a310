"""Bodies of versions as they are stored: what comes back, in how much room, and that what was written once can always be read."""

from __future__ import annotations

import json
import random

import pytest

from lamina.kernel.records import Layer
from lamina.store.bodies import packed, unpacked

CHANCE = random.Random(7)


def concept(inputs: int) -> str:
    ids = [
        f"fact_01a2099b-9d3e-7{CHANCE.getrandbits(12):03x}-a4c7-{CHANCE.getrandbits(48):012x}"
        for _ in range(inputs)
    ]
    body = {
        "name": "Regifath",
        "summary": 'Regifath moved to Tuda. Regifath lives in Tuda. 雪 and a \\ "quote".',
        "synthesizer": "lamina-extractive/2",
        "consulted": inputs,
        "available": inputs,
        "edges": [["concept_00000000-0000-7000-8adb-05631c3edc34", "related_to", 0.6667]],
        "inputs": ids,
        "unread": ["episodes"],
        "trust": "delegated",
    }
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


@pytest.mark.parametrize("layer", [Layer.BELIEFS, Layer.EPISODES, Layer.UNDERSTANDING])
@pytest.mark.parametrize("body", ["{}", concept(3), concept(900)], ids=["nothing", "short", "long"])
def test_what_is_packed_comes_back(layer: Layer, body: str) -> None:
    stored = packed(layer, body)
    assert isinstance(stored, bytes)
    assert unpacked(stored) == body


def test_a_concept_takes_less_than_half_of_its_room_and_none_of_its_own_page() -> None:
    body = concept(30)
    assert len(body) > 1_000
    assert len(packed(Layer.UNDERSTANDING, body)) < len(body) / 2


def test_what_statements_look_into_stays_text() -> None:
    assert packed(Layer.FACTS, '{"kind":"event"}') == '{"kind":"event"}'
    assert unpacked('{"kind":"event"}') == '{"kind":"event"}'


def test_what_was_packed_by_the_first_words_is_read_by_every_release() -> None:
    stored = bytes.fromhex("0183c777486a224a943be66426a72a800b638592d4443d251d9cc90d35050100")
    assert (
        unpacked(stored)
        == '{"name":"Tea","summary":"Alice likes tea.","size":2,"sealed":false,"follows":null}'
    )

"""Payloads of the lifecycle as they are stored: what comes back, and that those of earlier releases say what they said."""

from __future__ import annotations

from typing import Any

import pytest

from lamina.kernel.canonical import compact
from lamina.store.sqlite.payloads import CapturedPayloads, read_payload, short_payload


@pytest.mark.parametrize(
    ("payload", "stored"),
    [
        ({"layers_indexed": ["events", "facts"]}, "[8]"),
        ({"layers_indexed": ["events"]}, "[7]"),
        ({"layers_indexed": ["facts"]}, '[3,["facts"]]'),
        ({"actor": "user:ana", "modality": "conversation", "wal_offset": 7}, '[6,"user:ana",7]'),
        ({"actor": "user:ana", "modality": "document", "wal_offset": 7}, '[1,"user:ana","document",7]'),
        ({"derived": {"facts": 1, "entities": 2, "beliefs": 0, "episodes": 0}}, "[2,1,2,0,0]"),
        ({"derived": {"facts": 1}}, '{"derived":{"facts":1}}'),
        ({"beliefs_updated": 0, "conflicts_resolved": 0, "superseded_facts": []}, "[9]"),
        ({"beliefs_updated": 1, "conflicts_resolved": 0, "superseded_facts": []}, "[4,1,0,[]]"),
        ({}, "{}"),
    ],
)
def test_a_payload_comes_back_from_few_bytes(payload: dict[str, Any], stored: str) -> None:
    assert short_payload(payload) == stored
    assert read_payload(stored) == payload
    assert compact(read_payload(stored)) == compact(payload), "names keep their order"
    assert read_payload(compact(payload)) == payload, "as the first releases wrote them"


@pytest.mark.parametrize("modality", ["conversation", "document"])
def test_the_row_that_every_event_begins_with_is_as_any_other(modality: str) -> None:
    payloads = CapturedPayloads()
    for actor, position in (("user:ana", 7), ('user:b"n', 8), ("user:ana", 9)):
        payload = {"actor": actor, "modality": modality, "wal_offset": position}
        assert payloads.of(actor, modality, position) == short_payload(payload)


@pytest.mark.parametrize(
    ("stored", "payload"),
    [
        (
            '[1,"user:ana","conversation",7]',
            {"actor": "user:ana", "modality": "conversation", "wal_offset": 7},
        ),
        ('[3,["events","facts"]]', {"layers_indexed": ["events", "facts"]}),
    ],
)
def test_what_an_earlier_release_wrote_says_what_it_said(stored: str, payload: dict[str, Any]) -> None:
    assert read_payload(stored) == payload


def test_what_is_read_is_nobody_elses() -> None:
    read_payload("[7]")["layers_indexed"].append("facts")
    assert read_payload("[7]") == {"layers_indexed": ["events"]}

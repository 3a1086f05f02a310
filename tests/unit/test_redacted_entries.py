"""Entries of the log that lost their content with the memory they lay in: they decide nothing, and are read as any other."""

from __future__ import annotations

from typing import Any

import pytest

from given import NOON, draft
from lamina.kernel.events import CANCELLATION, IDENTITY, READING, WORDING, Event, Origin, Trust
from lamina.kernel.sameness import sameness_of
from lamina.store.rules.redacting import redacted_event

APPLIED = {"event_id": "evt_1", "task": "extract/1", "input_hash": "sha256:1"}


def told_by(event: Event) -> list[Any]:
    """What an entry says, if it says something."""
    said = (event.cancels, event.reads, event.rewords, sameness_of(event))
    return [each for each in said if each is not None]


@pytest.mark.parametrize(
    ("channel", "content"),
    [
        (CANCELLATION, {"event_id": "evt_1"}),
        (READING, APPLIED),
        (WORDING, APPLIED),
        (IDENTITY, {"action": "merge", "entity_id": "ent_1", "into": "ent_2"}),
    ],
)
def test_an_entry_without_its_content_says_nothing(channel: str, content: dict[str, Any]) -> None:
    """Once asking what it says failed, and all derivation that came by it."""
    entry = draft(content=content, modality=channel, origin=Origin("user:ana", channel, Trust.PRINCIPAL))
    event = Event.placed(entry, "evt_2", 2, NOON)
    assert len(told_by(event)) == 1
    assert told_by(redacted_event(event, "erasure_1", None, [])) == []

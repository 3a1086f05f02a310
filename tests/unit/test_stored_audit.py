"""Audit rows as they are stored: what comes back of them, and that those of earlier releases say what they said."""

from __future__ import annotations

from typing import Any

import pytest

from given import audit_draft
from lamina.kernel.audit import GENESIS, AuditDraft, chained
from lamina.kernel.canonical import digest
from lamina.store.sqlite.audit_rows import audit_row, read_audit
from lamina.store.sqlite.words import stored_word

BEFORE = digest("the row before")
DRAFTS = [
    audit_draft(),
    audit_draft(endpoint="POST /v1/recall", method="POST", path="/v1/recall", decision="allow"),
    audit_draft(endpoint="GET /v1/events/{event_id}", method="GET", path="/v1/events/evt_1"),
    audit_draft(endpoint="mcp recall", method="POST", path="/mcp", decision="deny", decided_by_tier="actor"),
    audit_draft(endpoint="audit retention", method="", path="", capability="audit.retention"),
    audit_draft(endpoint=" ", method="", path="", gdpr=1),
]


def stored(draft: AuditDraft, previous: str) -> tuple[Any, ...]:
    return audit_row(chained(draft, 2, previous))


@pytest.mark.parametrize("draft", DRAFTS)
def test_a_row_comes_back_whichever_release_wrote_it(draft: AuditDraft) -> None:
    row = chained(draft, 2, BEFORE)
    assert read_audit((*stored(draft, BEFORE), digest("another") if draft.gdpr else BEFORE)) == row
    assert read_audit((*row, BEFORE)) == row


def test_what_stands_elsewhere_is_not_said_again() -> None:
    row = stored(DRAFTS[1], BEFORE)
    assert [len(row[at]) for at in (6, 8, 10, 11, 24)] == [1, 1, 0, 0, 0]
    assert read_audit((*stored(DRAFTS[0], GENESIS), None))[24] == GENESIS
    assert len(stored(audit_draft(gdpr=1), BEFORE)[24]) == 32


def test_numbers_of_words_stay() -> None:
    words = {
        "allow": 0,
        "deny": 1,
        "scope.write": 6,
        "POST /v1/experience": 13,
        "/v1/experience": 21,
        "conversation": 22,
    }
    assert {word: stored_word(word) for word in words} == {word: bytes([at]) for word, at in words.items()}
    assert stored_word("scope.none") == "scope.none"


@pytest.mark.parametrize("damaged", [b"\xff", b"two", b"\x00\x00"])
def test_a_word_that_is_none_does_not_hide_its_row(damaged: bytes) -> None:
    row = list(stored(DRAFTS[0], BEFORE))
    row[8] = damaged
    assert read_audit((*row, BEFORE))[8] not in {DRAFTS[0].decision, damaged}

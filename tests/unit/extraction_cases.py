"""Shared by the extraction tests: an utterance of Alice to Bob, a small calendar, and triples as short text."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from lamina.language.temporal import TemporalMatch
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.values import EntityRef, Triple, Utterance

NOW = datetime(2024, 5, 7, 12, tzinfo=UTC)
TODAY = datetime(2024, 5, 7, tzinfo=UTC)
_DAYS = {
    "yesterday": (-1, 0),
    "tomorrow": (1, 2),
    "last week": (-8, -1),
    "next week": (6, 13),
    "by Friday": (2, 3),
    "on May 3": (-4, -3),
}


def find_times(text: str, reference: datetime) -> list[TemporalMatch]:
    """Just the expressions of these tests."""
    day = reference.replace(hour=0)
    found = []
    for match in re.finditer("|".join(_DAYS) + "|since 2019|in 2015", text):
        first, last = day, None
        if match[0] in _DAYS:
            low, high = _DAYS[match[0]]
            first, last = day + timedelta(low), day + timedelta(high)
        elif match[0] == "since 2019":
            first = datetime(2019, 1, 1, tzinfo=UTC)
        else:
            first, last = datetime(2015, 1, 1, tzinfo=UTC), datetime(2016, 1, 1, tzinfo=UTC)
        found.append(TemporalMatch(match.start(), match.end(), match[0], "daterange", first, last, "day"))
    return found


def say(text: str, **more: Any) -> Utterance:
    known = {"speaker": "user:alice", "speaker_name": "Alice", "addressee_name": "Bob", "observed_at": NOW}
    return Utterance(text, **{**known, **more})


def short(triple: Triple) -> str:
    """ "Alice likes tea", with "not", "maybe" and "corrects" where they apply."""
    value = triple.object.name if isinstance(triple.object, EntityRef) else triple.object.value
    marks = [
        word
        for word, there in (("not", triple.negated), ("maybe", triple.hedged), ("corrects", triple.corrects))
        if there
    ]
    return " ".join([triple.subject.name, *marks, triple.predicate, str(value)])


def read(extractor: RulesExtractor, text: str) -> list[str]:
    """The claims of one utterance, as short text."""
    return [short(triple) for triple in extractor.extract([say(text)])[0].triples]

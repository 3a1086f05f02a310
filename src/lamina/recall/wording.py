"""Episodes and concepts without the words of cancelled events.

Both are composed from several events and stay when one of these is cancelled, and so do the words that they took from
it: derivation and replay write the same. The words are left out here, on the way to the reader.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TypeVar

from lamina.kernel.events import Event
from lamina.kernel.records import Concept, Episode, Fact, Layer, Record, layer_of
from lamina.kernel.time import Instant, rfc3339
from lamina.store.ports.store import Store

__all__ = ["reworded", "without_cancelled"]

RecordT = TypeVar("RecordT", bound=Record)


def without_cancelled(
    store: Store, tenant_id: str, records: Sequence[RecordT], *, seen_at: Instant | None = None
) -> list[RecordT]:
    """The records in their order. A concept has lost the sentences that tell facts that are hidden, an episode with a cancelled
    event its summary and the words of its name.

    Versions as of an earlier ``seen_at`` are judged by what they rested on then; what was cancelled since is left out
    of them too.
    """
    changed = {
        scope for scope in {each.scope for each in records} if store.index.changes(tenant_id, scope) > 0
    }
    composed = [each for each in records if isinstance(each, Episode | Concept) and each.scope in changed]
    supports = store.records.supports_of(tenant_id, {each.id for each in composed}, seen_at=seen_at)
    if not supports:
        return list(records)
    ids = {support.source_id for found in supports.values() for support in found}
    event_ids = {each for each in ids if layer_of(each) is Layer.EVENTS}
    sources: dict[str, Record | Event] = {
        **store.records.get(tenant_id, ids - event_ids, seen_at=seen_at),
        **store.log.get(tenant_id, event_ids),
    }
    return [
        reworded(
            record, [sources[s.source_id] for s in supports.get(record.id, ()) if s.source_id in sources]
        )
        for record in records
    ]


def reworded(record: RecordT, sources: Collection[Record | Event]) -> RecordT:
    """A record without the words of those of its sources that are hidden."""
    if not any(source.excluded for source in sources):
        return record
    if isinstance(record, Episode):
        return replace(record, name=f"Conversation of {rfc3339(record.started_at)[:10]}", summary="")
    if isinstance(record, Concept):
        held = {source.id for source in sources if not source.excluded}
        # Of a sentence that a model worded nobody can tell which words are whose.
        sentences = tuple((text, cites) for text, cites in record.sentences if held.issuperset(cites))
        worded = " ".join(text for text, _ in sentences)
        summary = worded if record.sentences else _without(record.summary, sources)
        return replace(record, summary=summary, sentences=sentences)
    return record


def _without(summary: str, sources: Collection[Record | Event]) -> str:
    """The sentences of a summary that no hidden fact alone has said."""
    facts = [source for source in sources if isinstance(source, Fact)]
    held = {fact.text for fact in facts if not fact.excluded}
    for text in sorted({fact.text for fact in facts} - held, key=len, reverse=True):
        sentence = rf"(?:(?<=[.!?…] )|^){re.escape(text.rstrip('.'))}\."
        summary = " ".join(re.sub(sentence, "", summary).split())
    return summary

"""What may have changed: pairs of sentences half a year apart, and of how many the fact of the first is marked or ended by the second.

    python bench/changed.py [--words] [--pairs FILE]

``changed.tsv`` has 90 pairs in which the second sentence takes the first's value away and 90 in which it does not, though it speaks of the
same matter or has a word of change; they were written by somebody who had seen no code. Half a was looked at, half b was counted alone.
Each pair is told to a memory of its own; those of whose first sentence no fact is held are left out. ``--words`` compares no meanings.
``--pairs`` takes another file of the same columns: ``changed_wide.tsv`` has 1,560 pairs by three writers, a third of them with a word of
change, a third without, and in a third it has to be inferred. ``changed_plain.tsv`` has 100 that changed in the plainest wording,
``changed_varied.tsv`` 120 that changed and 120 that hold of which no two are worded alike.
"""

from __future__ import annotations

import argparse
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from lamina.kernel.events import Context, Directives, EventDraft, Origin, Party, Trust
from lamina.kernel.ids import RandomIds
from lamina.kernel.records import Fact, Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Axes, Instant, from_datetime
from lamina.language.temporal import find_times
from lamina.models.minilm import MiniLmEmbedder
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.nearness import Nearness
from lamina.pipeline.worker import Worker
from lamina.recall.changed import changes_of
from lamina.store.memory import MemoryStore
from lamina.store.ports.log import Capture
from lamina.store.ports.records import RecordQuery

TENANT, SCOPE, ANA = "bench", Scope("user:ana"), Party("user:ana", "user", "Ana")
FIRST: Final = from_datetime(datetime(2026, 1, 12, 18, tzinfo=UTC))
LATER: Final = from_datetime(datetime(2026, 7, 12, 18, tzinfo=UTC))


class _Now:
    def now(self) -> Instant:
        return LATER + 1


def main() -> None:
    """Tell, look, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--words", action="store_true", help="by words alone")
    parser.add_argument("--pairs", type=Path, default=Path(__file__).parent / "changed.tsv")
    options = parser.parse_args()
    nearness = None if options.words else Nearness(MiniLmEmbedder().pooled)
    extractor = RulesExtractor(find_times)
    lines = options.pairs.read_text(encoding="utf-8").splitlines()[1:]
    found: Counter[tuple[str, str, str]] = Counter()
    for kind, half, first, later in (line.split("\t") for line in lines):
        found[kind, half, _came_to(first, later, extractor, nearness)] += 1
    for kind, half in sorted({key[:2] for key in found}):
        marked, held, none = (found[kind, half, each] for each in ("marked", "unmarked", "none"))
        print(f"{kind} {half}: {marked} of {marked + held} marked ({none} without a fact)")


def _came_to(first: str, later: str, extractor: RulesExtractor, nearness: Nearness | None) -> str:
    """What became of the facts of the first sentence: ``marked`` or ended all of them, or ``unmarked``; ``none`` where there were none."""
    store = MemoryStore(clock=_Now(), ids=RandomIds())
    told = [
        store.log.append([Capture(_draft(text, at))])[0].event.id
        for text, at in ((first, FIRST), (later, LATER))
    ]
    Worker(store, Deriver(store, extractor, None, nearness=nearness), None, _Now(), "bench").drain()
    facts = [
        each for each in _facts(store, Axes(seen_at=1 << 60)) if each.event_id == told[0] and not each.negated
    ]
    current = {each.id for each in _facts(store, Axes(seen_at=1 << 60, valid_at=LATER + 1))}
    if not facts:
        return "none"
    supports = store.records.supports_of(TENANT, [each.id for each in facts])
    marks = changes_of(store.log, TENANT, facts, supports).marks
    unmarked = [each for each in facts if each.id in current and each.id not in marks]
    return "unmarked" if unmarked else "marked"


def _facts(store: MemoryStore, axes: Axes) -> list[Fact]:
    query = RecordQuery(tenant_id=TENANT, layer=Layer.FACTS, scopes=[SCOPE], axes=axes, limit=100)
    return [each for each in store.records.query(query) if isinstance(each, Fact)]


def _draft(text: str, at: Instant) -> EventDraft:
    return EventDraft(
        tenant_id=TENANT,
        scope=SCOPE,
        caller="service:bench",
        observed_actor=ANA,
        subject=ANA,
        session="s",
        modality="conversation",
        content={"kind": "message", "role": "user", "text": text},
        context=Context(observed_at=at),
        directives=Directives(),
        origin=Origin("service:bench", "http", Trust.DELEGATED),
    )


if __name__ == "__main__":
    main()

"""Marks: of facts of development turns that are still true, how many are marked as ones that may have changed.

    python bench/marks.py --data DIR --sample bench/still_true.jsonl

DIR holds ``locomo``. The sample was judged by the rules in its first line; it names facts by conversation, turn and claim, and
none of their words. Conversations of the sample are told to a memory each and looked at when the last turn was said.
Promise: at most one of twenty is marked.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from datasets import Scope as Conversation
from datasets import locomo
from lamina.kernel.events import Context, Directives, EventDraft, Origin, Party, Trust
from lamina.kernel.ids import RandomIds
from lamina.kernel.records import Fact, Layer, Loop
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

TENANT, SCOPE = "bench", Scope("project:marks")
FACTS_MAX = 100_000


def main() -> None:
    """Tell, look, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sample", type=Path, default=Path(__file__).parent / "still_true.jsonl")
    options = parser.parse_args()
    _, *lines = options.sample.read_text(encoding="utf-8").splitlines()
    judged = {(row["conversation"], row["claim"]): row["still_true"] for row in map(json.loads, lines)}
    extractor = RulesExtractor(find_times)
    found: dict[tuple[str, str], bool] = {}
    for conversation in locomo(options.data / "locomo"):
        if any(name == conversation.name for name, _ in judged):
            found |= {(conversation.name, claim): marked for claim, marked in _facts(conversation, extractor)}
    true = [found[key] for key, still in judged.items() if still and key in found]
    over = [found[key] for key, still in judged.items() if not still and key in found]
    print(f"still true: n = {len(true)}, marked {sum(true)}, share {sum(true) / max(1, len(true)):.3f}")
    print(
        f"no longer true: n = {len(over)}, marked {sum(over)}; not held as current here: {len(judged) - len(true) - len(over)}"
    )


def claim_of(turn: int, fact: Fact) -> str:
    """What names a fact of a conversation without its words: the turn that told it, and what it says, digested."""
    said = f"{turn}|{fact.subject.name}|{fact.predicate}|{fact.object.text}|{fact.negated}"
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def _facts(conversation: Conversation, extractor: RulesExtractor) -> Iterator[tuple[str, bool]]:
    """The facts that hold when the last turn was said, and whether each is marked."""
    clock = _Clock(from_datetime(conversation.turns[-1].observed_at))
    nearness = Nearness(MiniLmEmbedder().pooled)
    store = MemoryStore(clock=clock, ids=RandomIds())
    places = {}
    for number, turn in enumerate(conversation.turns):
        speaker = Party(f"user:{turn.speaker.casefold()}", "user", turn.speaker)
        draft = EventDraft(
            tenant_id=TENANT,
            scope=SCOPE,
            caller="service:bench",
            observed_actor=speaker,
            subject=speaker,
            session=turn.session,
            modality="conversation",
            content={"kind": "message", "role": "user", "text": turn.text},
            context=Context(observed_at=from_datetime(turn.observed_at)),
            directives=Directives(),
            origin=Origin("service:bench", "http", Trust.DELEGATED),
        )
        places[store.log.append([Capture(draft)])[0].event.id] = number
    Worker(store, Deriver(store, extractor, None, nearness=nearness), None, clock, "bench").drain()
    axes = Axes(seen_at=1 << 60, valid_at=clock.now())
    query = RecordQuery(tenant_id=TENANT, layer=Layer.FACTS, scopes=[SCOPE], axes=axes, limit=FACTS_MAX)
    for fact in store.records.query(query):
        if isinstance(fact, Fact) and not isinstance(fact, Loop) and fact.kind != "event":
            marks = changes_of(store.log, TENANT, [fact], store.records.supports_of(TENANT, [fact.id])).marks
            yield claim_of(places[fact.event_id], fact), fact.id in marks


class _Clock:
    def __init__(self, at: Instant) -> None:
        self._at = at

    def now(self) -> Instant:
        return self._at


if __name__ == "__main__":
    main()

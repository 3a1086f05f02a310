"""Meaning: what the rules alone understand of two long conversations, beside what a person would have.

    python bench/meaning.py --data DIR

DIR holds ``meaning`` (see its README). Each conversation is told to a memory of its own, turn by turn; after each turn the loops that are open and the
facts that hold are looked at. A gold loop is opened where the text of some loop matches its pattern, and precision is the share of all texts ever opened that
match one. A gold fact is known where a current fact at the end of the conversation, or after the turn that told it, has its value; the patterns of values are below.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lamina.kernel.events import Context, Directives, EventDraft, Origin, Party, Trust
from lamina.kernel.ids import RandomIds
from lamina.kernel.records import Fact, Layer, Loop, LoopStatus
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Axes, Instant, from_datetime
from lamina.language.temporal import find_times
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.worker import Worker
from lamina.store.memory import MemoryStore
from lamina.store.ports.log import Capture
from lamina.store.ports.records import RecordQuery

TENANT = "bench"
BETWEEN = timedelta(seconds=45)
FACTS_MAX = 10_000
FACTS = {
    "denise": (
        "florist", "Bristol", "Cork", r"(?:two|2) (?:kids|children)|children_count.* 2|Siobhan", r"Declan", r"smell", r"Aoife", r"name.*Denise",
    ),
    "ravi": (r"name.*Ravi", r"platform engineering", r"Hafenlink", r"not drink coffee|coffee.*not", r"\b(?:12|34)\b"),
}  # fmt: skip
"""What the texts of facts have, for the lines of gold in their order; of two values in a line either counts."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A line of a conversation."""

    speaker: Party
    role: str
    text: str
    session: str
    observed_at: datetime


class _Clock:
    at: Instant = 0

    def now(self) -> Instant:
        """Mirrors ``Clock.now``."""
        return self.at


def turns_of(path: Path) -> Iterator[Turn]:
    """The turns of a conversation, 45 seconds apart."""
    user, at = path.stem, datetime(2026, 1, 1, tzinfo=UTC)
    people = {
        "U": (Party(f"user:{user}", "user", user.title()), "user"),
        "A": (Party("agent:assistant", "agent", "Assistant"), "assistant"),
    }
    session = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("S "):
            session = line[2:].strip()
            at = datetime.fromisoformat(session.replace("Z", "+00:00"))
        elif line[:2] in ("U:", "A:"):
            speaker, role = people[line[0]]
            yield Turn(speaker, role, line[2:].strip(), session, at)
            at += BETWEEN


def understood(path: Path, extractor: RulesExtractor) -> tuple[dict[str, Loop], dict[str, str]]:
    """All loops that were ever open, by id in their newest version, and the texts of all facts that ever held, by id."""
    clock = _Clock()
    store = MemoryStore(clock=clock, ids=RandomIds())
    worker = Worker(store, Deriver(store, extractor, None), None, clock, "bench")
    scope = Scope(f"org:bench/user:{path.stem}")
    loops: dict[str, Loop] = {}
    facts: dict[str, str] = {}
    for turn in turns_of(path):
        clock.at = from_datetime(turn.observed_at)
        draft = EventDraft(
            tenant_id=TENANT,
            scope=scope,
            caller="service:bench",
            observed_actor=turn.speaker,
            subject=turn.speaker,
            session=turn.session,
            modality="conversation",
            content={"kind": "message", "role": turn.role, "text": turn.text},
            context=Context(observed_at=clock.at),
            directives=Directives(),
            origin=Origin("service:bench", "http", Trust.DELEGATED),
        )
        store.log.append([Capture(draft)])
        worker.drain()
        axes = Axes(seen_at=1 << 60, valid_at=None)
        query = RecordQuery(tenant_id=TENANT, layer=Layer.FACTS, scopes=[scope], axes=axes, limit=FACTS_MAX)
        for record in store.records.query(query):
            if isinstance(record, Loop):
                loops[record.id] = record
            elif isinstance(record, Fact):
                facts[record.id] = f"{record.predicate}: {record.text}"
    return loops, facts


def main() -> None:
    """Tell, look, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument(
        "--facts", action="store_true", help="list the facts that are in no line of the gold as well"
    )
    options = parser.parse_args()
    folder = options.data / "meaning"
    extractor = RulesExtractor(find_times)
    with (folder / "loops.tsv").open(encoding="utf-8", newline="") as file:
        gold = list(csv.DictReader(file, delimiter="\t"))
    opened = wanted = made = right = listed = truly = closed = closed_wanted = known = 0
    for user in FACTS:
        loops, facts = understood(folder / f"{user}.txt", extractor)
        own = [each for each in gold if each["user"] == user]
        texts = {each.id: str(each.object.value) for each in loops.values()}
        wanted += len(own)
        for each in own:
            matched = [key for key, text in texts.items() if re.search(each["pattern"], text, re.IGNORECASE)]
            opened += bool(matched)
            still = [key for key in matched if loops[key].status is LoopStatus.ACTIVE]
            closed_wanted += each["at_the_end"] == "closed"
            closed += each["at_the_end"] == "closed" and bool(matched) and not still
            print(
                f"{user:7} {'opened' if matched else 'missed':7} {each['gold']}: {[texts[key] for key in matched]}"
            )
        for key, text in sorted(texts.items()):
            of_gold = [each for each in own if re.search(each["pattern"], text, re.IGNORECASE)]
            made, right = made + 1, right + bool(of_gold)
            if not of_gold:
                print(f"{user:7} beside  {loops[key].predicate}: {text}")
            if loops[key].status is LoopStatus.ACTIVE:
                listed += 1
                truly += any(each["at_the_end"] == "open" for each in of_gold)
        values = FACTS[user]
        matching = [
            [text for text in facts.values() if re.search(value, text, re.IGNORECASE)] for value in values
        ]
        known += sum(map(bool, matching))
        print(f"{user:7} facts   {sum(map(bool, matching))} of {len(values)}: {matching}")
        if options.facts:
            told = {text for each in matching for text in each}
            print("\n".join(f"{user:7} fact    {text}" for text in facts.values() if text not in told))
    print(
        f"opened {opened} of {wanted}; of {made} texts opened {right} match ({right / max(1, made):.0%}); closed {closed} of {closed_wanted}"
    )
    print(f"listed at the end {listed}, truly open {truly}; facts {known} of {sum(map(len, FACTS.values()))}")


if __name__ == "__main__":
    main()

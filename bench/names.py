"""Names and summaries of episodes of the development sets, drawn by a seed, for somebody to judge by ``results/names.md``.

    python bench/names.py --data DATA [--seed N] [--kept] [--turns N]

Prints the first half of the sample as it is derived now, ``--kept`` the other half. LoCoMo's sessions are episodes of many turns; in
LongMemEval's pool every turn stands alone. Promise: 80 of 100 are good.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final

from datasets import Turn, locomo, longmemeval
from lamina.kernel.events import Context, Directives, EventDraft, Origin, Party, Trust
from lamina.kernel.ids import RandomIds
from lamina.kernel.records import Episode, Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Axes, Instant, from_datetime
from lamina.language.temporal import find_times
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.worker import Worker
from lamina.store.memory import MemoryStore
from lamina.store.ports.log import Capture
from lamina.store.ports.records import RecordQuery

SEED: Final = 31
OF_LOCOMO: Final = 80
OF_LONGMEMEVAL: Final = 20
_TENANT: Final = "bench"
_APART: Final = 120


class _Now:
    def __init__(self) -> None:
        self.at = 0

    def now(self) -> Instant:
        self.at += 1
        return self.at


def episodes_of(turns: list[Turn]) -> list[tuple[Episode, list[str]]]:
    """The episodes of a conversation with their turns, oldest first."""
    clock, scope = _Now(), Scope("user:one")
    store = MemoryStore(clock=clock, ids=RandomIds(partial(random.Random(SEED).getrandbits, 64)))
    drafts = [Capture(_draft(turn, scope)) for turn in turns]
    store.log.append(drafts)
    deriver = Deriver(store, RulesExtractor(find_times), None)
    Worker(store, deriver, None, clock, "bench").drain()
    query = RecordQuery(
        tenant_id=_TENANT, layer=Layer.EPISODES, scopes=[scope], axes=Axes(seen_at=1 << 62), limit=10_000
    )
    found = [each for each in store.records.query(query) if isinstance(each, Episode)]
    supports = store.records.supports_of(_TENANT, [each.id for each in found])
    events = store.log.get(_TENANT, {s.source_id for of in supports.values() for s in of})
    return [
        (
            each,
            [
                f"{events[s.source_id].observed_actor.display_name}: {events[s.source_id].content['text']}"
                for s in supports[each.id]
            ],
        )
        for each in sorted(found, key=lambda each: (each.started_at, each.id))
    ]


def sample(folder: Path, seed: int = SEED) -> Iterator[tuple[Episode, list[str]]]:
    """A hundred episodes in an order of the seed: every other one is kept apart."""
    chance = random.Random(seed)
    talks = [each for scope in locomo(folder / "locomo") for each in episodes_of(list(scope.turns))]
    pool = chance.sample([t for scope in longmemeval(folder / "longmemeval") for t in scope.turns], _APART)
    alone = episodes_of(sorted(pool, key=lambda turn: turn.observed_at))
    drawn = [*chance.sample(talks, OF_LOCOMO), *chance.sample(alone, OF_LONGMEMEVAL)]
    chance.shuffle(drawn)
    yield from drawn


def main() -> None:
    """Print the sample."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--seed", type=int, default=SEED, help="which hundred")
    parser.add_argument("--kept", action="store_true", help="the half that is kept apart")
    parser.add_argument("--turns", type=int, default=0, help="how many turns to print of each")
    given = parser.parse_args()
    for number, (episode, turns) in enumerate(sample(given.data, given.seed)):
        if number % 2 == int(given.kept):
            sys.stdout.write(f"[{number}] {episode.name}  ({episode.size} turns)\n    {episode.summary}\n")
            sys.stdout.writelines(f"        {turn[:160]}\n" for turn in turns[: given.turns])


def _draft(turn: Turn, scope: Scope) -> EventDraft:
    name = turn.speaker or turn.role.capitalize()
    actor = Party(f"{'agent' if turn.role == 'assistant' else 'user'}:{name.lower()}", "user", name)
    return EventDraft(
        tenant_id=_TENANT,
        scope=scope,
        caller="service:bench",
        observed_actor=actor,
        subject=actor,
        session=turn.session,
        modality="conversation",
        content={"kind": "message", "role": turn.role, "text": turn.text},
        context=Context(observed_at=_instant(turn.observed_at)),
        directives=Directives(extract=("entities", "episodes"), embed="none"),
        origin=Origin("service:bench", "http", Trust.PRINCIPAL),
    )


def _instant(at: datetime) -> Instant:
    return from_datetime(at)


if __name__ == "__main__":
    main()

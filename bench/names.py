"""Names and summaries of episodes of the development sets, drawn by a seed, for somebody to judge by ``results/names.md``.

    python bench/names.py --data DATA [--seed N] [--kept] [--turns N] [--conversations NAME ...] [--write FILE | --beside FILE]

Prints the first half of the sample as it is derived now, ``--kept`` the other half. LoCoMo's sessions are episodes of many turns; in
LongMemEval's pool every turn stands alone. Promise: 80 of 100 are good.

``--write`` keeps all episodes in a file. ``--beside`` prints the sample beside what another tree wrote with the same seed, in an order by
chance, so that both are judged blind; which is which goes to FILE.key.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from datasets import Turn, locomo, longmemeval
from lamina.kernel.events import Context, Directives, EventDraft, Origin, Party, Trust
from lamina.kernel.ids import RandomIds
from lamina.kernel.records import Episode, Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Axes, Instant, from_datetime
from lamina.language.temporal import find_times
from lamina.models.minilm import MiniLmEmbedder
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.nearness import Nearness
from lamina.pipeline.worker import Worker
from lamina.store.memory import MemoryStore
from lamina.store.ports.log import Capture
from lamina.store.ports.records import RecordQuery

SEED: Final = 31
OF_LOCOMO: Final = 80
OF_LONGMEMEVAL: Final = 20
_TENANT: Final = "bench"
_EMBEDDER: Final = MiniLmEmbedder()
_APART: Final = 120


class _Now:
    def __init__(self) -> None:
        self.at = 0

    def now(self) -> Instant:
        self.at += 1
        return self.at


class Found(NamedTuple):
    """An episode with its turns, oldest first."""

    episode: Episode
    turns: list[str]


class Derived(NamedTuple):
    """The episodes of each set."""

    talks: list[Found]
    alone: list[Found]


def episodes_of(turns: list[Turn]) -> list[Found]:
    """The episodes of a conversation with their turns, oldest first."""
    clock, scope = _Now(), Scope("user:one")
    store = MemoryStore(clock=clock, ids=RandomIds(partial(random.Random(SEED).getrandbits, 64)))
    drafts = [Capture(_draft(turn, scope)) for turn in turns]
    store.log.append(drafts)
    deriver = Deriver(store, RulesExtractor(find_times), None, nearness=Nearness(_EMBEDDER.pooled))
    Worker(store, deriver, None, clock, "bench").drain()
    query = RecordQuery(
        tenant_id=_TENANT, layer=Layer.EPISODES, scopes=[scope], axes=Axes(seen_at=1 << 62), limit=10_000
    )
    found = [each for each in store.records.query(query) if isinstance(each, Episode)]
    supports = store.records.supports_of(_TENANT, [each.id for each in found])
    events = store.log.get(_TENANT, {s.source_id for of in supports.values() for s in of})
    return [
        Found(
            each,
            [
                f"{events[s.source_id].observed_actor.display_name}: {events[s.source_id].content['text']}"
                for s in supports[each.id]
            ],
        )
        for each in sorted(found, key=lambda each: (each.started_at, each.id))
    ]


def derived(folder: Path, chance: random.Random, conversations: Sequence[str]) -> Derived:
    """The talks of some ``conversations`` of LoCoMo, or of all, and the episodes of turns of LongMemEval's pool drawn by chance."""
    scopes = [each for each in locomo(folder / "locomo") if not conversations or each.name in conversations]
    talks = [each for scope in scopes for each in episodes_of(list(scope.turns))]
    pool = chance.sample([t for scope in longmemeval(folder / "longmemeval") for t in scope.turns], _APART)
    return Derived(talks, episodes_of(sorted(pool, key=lambda turn: turn.observed_at)))


def sample(found: Derived, chance: random.Random) -> list[Found]:
    """A hundred episodes in an order by chance: every other one is kept apart."""
    of_locomo = min(OF_LOCOMO, len(found.talks))
    of_longmemeval = OF_LOCOMO + OF_LONGMEMEVAL - of_locomo
    drawn = [*chance.sample(found.talks, of_locomo), *chance.sample(found.alone, of_longmemeval)]
    chance.shuffle(drawn)
    return drawn


def main() -> None:
    """Print the sample."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--seed", type=int, default=SEED, help="which hundred")
    parser.add_argument("--kept", action="store_true", help="the half that is kept apart")
    parser.add_argument("--turns", type=int, default=0, help="how many turns to print of each")
    parser.add_argument("--conversations", nargs="+", default=[], help="of LoCoMo; all of them otherwise")
    parser.add_argument("--write", type=Path, help="keep all episodes in this file")
    parser.add_argument("--beside", type=Path, help="what another tree wrote")
    given = parser.parse_args()
    chance = random.Random(given.seed)
    found = derived(given.data, chance, given.conversations)
    if given.write:
        rows = [{"shown": _shown(each.episode), "turns": each.turns} for each in found.talks + found.alone]
        given.write.write_text(json.dumps(rows))
        return
    drawn = sample(found, chance)
    if given.beside:
        _print_beside(drawn, given.beside, chance)
        return
    for number, (episode, turns) in enumerate(drawn):
        if number % 2 == int(given.kept):
            sys.stdout.write(f"[{number}] {_shown(episode)}\n")
            sys.stdout.writelines(f"        {turn[:160]}\n" for turn in turns[: given.turns])


def _shown(episode: Episode) -> str:
    return f"{episode.name}  ({episode.size} turns)\n    {episode.summary}"


def _print_beside(drawn: list[Found], written: Path, chance: random.Random) -> None:
    """Of each episode both ways to call the one that holds its first turn, unmarked."""
    theirs = json.loads(written.read_text())
    key = []
    for number, (episode, turns) in enumerate(drawn):
        other = next(each["shown"] for each in theirs if turns[0] in each["turns"])
        pair = [("this", _shown(episode)), ("other", other)]
        chance.shuffle(pair)
        key.append([which for which, _ in pair])
        for mark, (_, shown) in zip("XY", pair, strict=True):
            sys.stdout.write(f"[{number} {mark}] {shown}\n")
        sys.stdout.writelines(f"        {turn[:160]}\n" for turn in turns)
    written.with_suffix(f"{written.suffix}.key").write_text(json.dumps(key))


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

"""A talk with an assistant, turn by turn, and the loops that it leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from given import ALICE, NOON, TENANT, ManualClock, append
from lamina.kernel.events import Context, Party
from lamina.kernel.records import Layer, Loop
from lamina.kernel.time import SECOND_US, Axes, rfc3339
from lamina.language.temporal import find_times
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.worker import Worker
from lamina.session.loops import open_loops
from lamina.store.ports.records import RecordQuery
from lamina.store.sqlite import SqliteStore

DAY = 24 * 3600 * SECOND_US


class Talk:
    def __init__(self, folder: Path) -> None:
        self.store = SqliteStore(folder, clock=ManualClock(), durable=False)
        deriver = Deriver(self.store, RulesExtractor(find_times, use_parser=False), None)
        self.worker = Worker(self.store, deriver, None, ManualClock(NOON + DAY), "test")
        self.at = NOON

    def say(self, text: str, role: str = "user", **more: Any) -> str:
        self.at += 60 * SECOND_US
        party = Party.of("user:alice" if role == "user" else "agent:p")
        (event,) = append(
            self.store,
            text,
            **{
                "observed_actor": party,
                "subject": party,
                "session": "s",
                "content": {"kind": "message", "role": role, "text": text},
                "context": Context(observed_at=self.at),
                **more,
            },
        )
        self.worker.drain()
        return event.id

    def open(self) -> list[str]:
        return [str(loop.object.value) for loop in open_loops(self.store.records, TENANT, ALICE)]

    def hear(self, *turns: str) -> None:
        """Turns of the user's, and of the assistant's where "A:" stands before them."""
        for turn in turns:
            self.say(turn.removeprefix("A: "), role="assistant" if turn.startswith("A: ") else "user")

    def due(self) -> list[str | None]:
        """The days of what is open."""
        loops = open_loops(self.store.records, TENANT, ALICE)
        return [None if loop.due_at is None else rfc3339(loop.due_at - 1)[:10] for loop in loops]

    def all(self) -> list[Loop]:
        found = {r.id: r for _, r in self.records() if isinstance(r, Loop)}
        return list(found.values())

    def records(self) -> list[tuple[int, Any]]:
        query = RecordQuery(
            tenant_id=TENANT, layer=Layer.FACTS, scopes=[ALICE], axes=Axes(seen_at=1 << 62), limit=500
        )
        return list(enumerate(self.store.records.query(query)))

    def replays(self) -> None:
        before = list(self.store.snapshot())
        self.store.jobs.reset()
        self.worker.drain()
        assert list(self.store.snapshot()) == before

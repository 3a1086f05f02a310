"""A chat with its own store beside a language model that reads its turns, for tests of what becomes of the answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from given import ALICE, NOON, TENANT, ManualClock, append
from lamina.kernel.events import Context, Party
from lamina.kernel.records import Fact, Layer, Loop
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US
from lamina.language.temporal import find_times
from lamina.models.generator import OpenAiGenerator
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.readings.question import TASK
from lamina.pipeline.worker import Worker
from lamina.session.identity import EVERYTHING
from lamina.session.inquirer import Inquirer
from lamina.session.loops import open_loops
from lamina.store.ports.records import RecordQuery
from lamina.store.ports.store import Store
from lamina.store.sqlite import SqliteStore
from modelled import ModelServer, Told

__all__ = ["ReadChat", "forget_answers", "reading", "says"]

_DAY_US = 24 * 3600 * SECOND_US
_EXTRACTOR = RulesExtractor(find_times, use_parser=False)


def reading(*facts: dict[str, Any], identity: list[dict[str, Any]] | None = None, **loops: Any) -> str:
    """An answer about a turn, with everything filled in."""
    claims = [{"subject": "user", "polarity": "positive", "modality": "asserted", **each} for each in facts]
    opened = [{"type": "commitment", "when": None, **each} for each in loops.pop("new", [])]
    lists = {"new": opened, "reinforced": [], "completed": [], "dropped": [], **loops}
    return json.dumps({"facts": claims, "loops": lists, "identity": identity or []})


def says(**turns: str) -> Callable[[Told], str]:
    """Answers by a word of the turn; nothing stands in others."""

    def answer(told: Told) -> str:
        said = told.get("turn", "")
        return next((text for word, text in turns.items() if word in said), reading())

    return answer


class ReadChat:
    """A person and an assistant, a worker that derives, and an inquirer that asks the model of a server."""

    def __init__(
        self,
        folder: Path,
        model: ModelServer | None,
        *,
        scope: Scope = ALICE,
        extractor: RulesExtractor = _EXTRACTOR,
        **asks: Any,
    ) -> None:
        self._extractor = extractor
        self.clock = ManualClock(NOON + 30 * _DAY_US)
        self.store: Store = SqliteStore(folder, clock=ManualClock(), durable=False)
        self.scope = scope
        self.who = f"user:{scope.rsplit(':', 1)[-1]}"
        self.at = NOON
        self.model = model
        self.worker = self.working(asks=None if model is None else TASK)
        if model is not None:
            self.ask_with(model, **asks)

    def ask_with(
        self, model: ModelServer, name: str = "small", *, timeout_s: float = 20.0, **asks: Any
    ) -> None:
        """From now on this model is asked."""
        self.generator = OpenAiGenerator(model.url, name, timeout_s=timeout_s)
        self.inquirer = Inquirer(self.store, self.clock, self.generator, **asks)

    def working(self, store: Store | None = None, **more: Any) -> Worker:
        """A worker of the chat's store, or of another."""
        store = store or self.store
        return Worker(store, Deriver(store, self._extractor, None, **more), None, self.clock, "test")

    def say(self, text: str, role: str = "user", session: str = "s", at: int | None = None) -> str:
        """A turn, read by rules."""
        self.at = self.at + 60 * SECOND_US if at is None else at
        party = Party.of(self.who if role == "user" else "agent:p")
        (event,) = append(
            self.store,
            text,
            scope=self.scope,
            observed_actor=party,
            subject=party,
            session=session,
            content={"kind": "message", "role": role, "text": text},
            context=Context(observed_at=self.at),
        )
        self.worker.drain()
        return event.id

    def ask(self) -> None:
        """Everything that is due is asked, and takes effect."""
        while self.inquirer.step():
            self.worker.drain()

    def hear(self, text: str, **more: Any) -> str:
        """A turn, read by rules and then by the model."""
        event_id = self.say(text, **more)
        self.ask()
        return event_id

    def facts(self) -> list[Fact]:
        """What is held, without loops."""
        query = RecordQuery(
            tenant_id=TENANT, layer=Layer.FACTS, scopes=[self.scope], axes=EVERYTHING, limit=1000
        )
        found = [each for each in self.store.records.query(query) if isinstance(each, Fact)]
        return [each for each in found if not isinstance(each, Loop)]

    def texts(self) -> set[str]:
        """What is held and not over, in words."""
        return {each.text for each in self.facts() if each.valid_to is None}

    def loops(self) -> list[Loop]:
        """What is held of loops, whatever became of them."""
        query = RecordQuery(
            tenant_id=TENANT, layer=Layer.FACTS, scopes=[self.scope], axes=EVERYTHING, limit=1000
        )
        return [each for each in self.store.records.query(query) if isinstance(each, Loop)]

    def open(self) -> list[str]:
        """The words of what is open, what was spoken of last first."""
        return [str(loop.object.value) for loop in open_loops(self.store.records, TENANT, self.scope)]

    def states(self) -> dict[str, int]:
        """How many inquiries stand in which state."""
        return {state: count for state, count in self.store.inquiries.counts().items() if count}

    def replayed(self) -> list[Any]:
        """Every row after a replay, which asks nobody."""
        self.store.jobs.reset()
        self.working().drain()
        return list(self.store.snapshot())

    def close(self) -> None:
        if self.model is not None:
            self.generator.close()
        self.store.close()


def forget_answers(store: Store, tenant_id: str, event_ids: Collection[str]) -> int:
    """Let go of every answer that was made from any of some events, as an erasure does; how many. Their scopes are derived anew."""
    scopes = {event.scope for event in store.log.get(tenant_id, event_ids).values()}
    gone = store.model_outputs.forget(tenant_id, event_ids)
    store.rederivation.ask(tenant_id, sorted(scopes))
    return gone

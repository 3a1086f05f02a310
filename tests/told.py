"""A memory that tests tell things to, and what it then holds: the whole pipeline over a real store."""

from __future__ import annotations

from typing import Any

from given import ALICE, TENANT, ManualClock, append, draft
from lamina.kernel.events import Context, Event, Origin, Party, Trust
from lamina.kernel.records import Belief, Fact, Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US, Axes, instant
from lamina.language.temporal import find_times
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.nearness import Nearness
from lamina.pipeline.worker import Worker
from lamina.session.identity import identity_of
from lamina.store.ports.log import Capture
from lamina.store.ports.records import RecordQuery
from lamina.store.ports.store import Store

ANA = Party("user:ana", "user", "Ana")
BOB = Party("user:bob", "user", "Bob")
DAY = 24 * 3600 * SECOND_US
START = instant("2026-03-02T09:00:00Z")
LATER = 1 << 60


class Memory:
    """A store, and a worker that needs no embedding model, nor a parser if it is not asked for."""

    def __init__(
        self,
        store: Store,
        clock: ManualClock,
        extractor: RulesExtractor | None = None,
        nearness: Nearness | None = None,
    ) -> None:
        self.store, self.clock = store, clock
        reader = extractor or RulesExtractor(find_times, use_parser=False)
        deriver = Deriver(store, reader, None, nearness=nearness)
        self.worker = Worker(store, deriver, None, clock, "test")

    def tell(
        self, what: Any, at: int, who: Party = ANA, scope: Scope = ALICE, trust: Trust = Trust.PRINCIPAL
    ) -> Event:
        self.clock.at += SECOND_US
        values: dict[str, Any] = {"observed_actor": who, "subject": who, "scope": scope, "session": "s-1"}
        values["context"] = Context(observed_at=at)
        values["origin"] = Origin("service:app", "http", trust)
        if isinstance(what, str):
            content = {"kind": "message", "role": "user", "text": what}
            (event,) = append(self.store, what, content=content, **values)
            return event
        return self.store.log.append([Capture(draft(content=what, **values))])[0].event

    def cancel(self, event: Event) -> None:
        self.clock.at += SECOND_US
        self.store.log.cancel(TENANT, event.id)

    def derive(self) -> None:
        self.worker.drain()

    def replayed(self) -> tuple[list[Any], list[Any]]:
        """All that is kept, and the same after a replay."""
        live = list(self.store.snapshot())
        self.store.jobs.reset()
        self.derive()
        return live, list(self.store.snapshot())

    def held(self, layer: Layer, seen_at: int = LATER) -> list[Any]:
        axes = Axes(seen_at=seen_at)
        query = RecordQuery(tenant_id=TENANT, layer=layer, scopes=[ALICE], axes=axes, limit=500)
        return self.store.records.query(query)

    def homes(self, seen_at: int = LATER) -> list[tuple[str, int, int | None]]:
        facts = self.held(Layer.FACTS, seen_at)
        found = [(f.object.text, f.valid_from, f.valid_to) for f in facts if f.predicate == "lives_in"]
        return sorted(found, key=lambda home: home[1])

    def shown(self) -> dict[str, Any]:
        """What readers see, in words that do not depend on ids."""
        facts: dict[str, Fact] = {fact.id: fact for fact in self.held(Layer.FACTS)}
        beliefs: list[Belief] = self.held(Layer.BELIEFS)
        named = {belief.id: belief.object.text for belief in beliefs}
        return {
            "facts": sorted(
                (f.predicate, f.object.text, f.negated, f.text, f.valid_from, f.valid_to or LATER,
                 facts[f.superseded_by].text if f.superseded_by in facts else "",
                 facts[f.supersedes].text if f.supersedes in facts else "")
                for f in facts.values()
            ),
            "beliefs": sorted(
                (b.predicate, b.object.text, b.negated, b.valid_from, b.valid_to or LATER, b.alpha, b.beta,
                 b.stance, tuple(sorted(named.get(each, "") for each in b.contradicts)))
                for b in beliefs
            ),
            "identity": identity_of(self.store.records, TENANT, ALICE, ANA.id, LATER).model_dump(),
        }  # fmt: skip

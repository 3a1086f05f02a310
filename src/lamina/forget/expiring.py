"""What is past its time to live, put down in the log (decision 0052).

Whoever stops in between, or is killed, begins again from what stands: what is over and not in the log yet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from lamina import limits
from lamina.errors import Conflict
from lamina.forget.expired import ExpiredEraser, TtlRulesOf
from lamina.kernel.expiry import Expiry, TtlRules, expiry_of
from lamina.kernel.records import Fact, Layer
from lamina.kernel.relay import RELAY_SCOPE
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Clock, Instant
from lamina.observe.rounds import Failures, keep_at
from lamina.store.ports.expiries import OldEvent, OldRecord
from lamina.store.ports.store import Store

__all__ = ["Expirer", "ExpiringCount"]

_PART: Final = "expiry"
_DERIVED: Final = (Layer.FACTS, Layer.BELIEFS, Layer.EPISODES, Layer.UNDERSTANDING)


class ExpiringCount(NamedTuple):
    """How many records of a layer of a scope would be over now, and of how many that are over something would be erased."""

    tenant_id: str
    scope: Scope
    layer: Layer
    expires: int
    erases: int


class Expirer:
    """Looks at every tenant, scope by scope. Entries of the log get their place from ``clock``."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        rules: TtlRulesOf,
        eraser: ExpiredEraser,
        *,
        failures: Failures | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._rules = rules
        self._eraser = eraser
        self._failures = failures or Failures()

    def run(self, stopping: Callable[[], bool]) -> None:
        """Work until told to stop."""
        keep_at(_PART, self._round, stopping, idle_s=limits.EXPIRY_LOOK_S, failures=self._failures)

    def _round(self) -> bool:
        self.step()
        return False

    def step(self, tenant_id: str | None = None) -> Counter[Layer]:
        """Put down what is over by now, and erase what is to be erased of what was derived since; how much was put down, by layer. One
        tenant's failure is raised when the others are done. None means every tenant."""
        done, failure = Counter[Layer](), None
        for each in self._store.log.tenants() if tenant_id is None else [tenant_id]:
            try:
                done += self._expire(each, self._clock.now())
                self._eraser.erase(each)
            except Exception as error:
                failure = failure or error
        if failure is not None:
            raise failure
        return done

    def count(self, tenant_id: str) -> list[ExpiringCount]:
        """What ``step`` would do now, by scope and layer, without doing it. What goes with events that are over is not among it."""
        now = self._clock.now()
        own = self._store.expiries.due(tenant_id, now, limit=limits.EXPIRY_COUNT_MAX)
        expires, erases = Counter[tuple[Scope, Layer]](), Counter[tuple[Scope, Layer]]()
        for scope, rules in self._scopes(tenant_id):
            pages_of_events = self._old_events(tenant_id, scope, rules, now)
            found = {each.id for page in pages_of_events for each in page}
            found |= {each.id for each in own if each.scope == scope}
            expires[scope, Layer.EVENTS] = len(found)
            for layer in _DERIVED:
                pages = self._old_records(tenant_id, scope, layer, rules, now)
                expires[scope, layer] = sum(map(len, pages))
            for layer in Layer if rules.erases else ():
                erases[scope, layer] = expires[scope, layer]
        for left in self._eraser.left(tenant_id):
            erases[left.entry.scope, left.expiry.layer] += len(left.events) or len(left.records)
        places = sorted({place for place, many in (expires + erases).items() if many})
        return [ExpiringCount(tenant_id, *place, expires[place], erases[place]) for place in places]

    # ---- into the log

    def _expire(self, tenant_id: str, now: Instant) -> Counter[Layer]:
        done = self._expire_own(tenant_id, now)
        for scope, rules in self._scopes(tenant_id):
            for page in self._old_events(tenant_id, scope, rules, now):
                groups = _by_into(page)
                until = now - rules.ttl_us[Layer.EVENTS]
                for number, (into, ids) in enumerate(groups.items(), 1):
                    through = page[-1].position if number == len(groups) else 0
                    expiry = Expiry(Layer.EVENTS, ids, until, rules.follows(Layer.EVENTS), through)
                    done += self._enter(tenant_id, scope, into, expiry)
            for layer in _DERIVED:
                for old in self._old_records(tenant_id, scope, layer, rules, now):
                    until = now - rules.ttl_us[layer]
                    for into, ids in self._sent(tenant_id, layer, old).items():
                        expiry = Expiry(layer, ids, until, rules.follows(layer))
                        done += self._enter(tenant_id, scope, into, expiry)
        return done

    def _expire_own(self, tenant_id: str, now: Instant) -> Counter[Layer]:
        """The events that are over by what they said themselves."""
        done, after = Counter[Layer](), (0, "")
        while page := self._store.expiries.due(tenant_id, now, after=after, limit=limits.EXPIRY_BATCH):
            after = (page[-1].expires_at, page[-1].id)
            for scope in sorted({each.scope for each in page}):
                rules = self._rules(tenant_id, scope)
                if rules.keeps(scope):
                    continue
                for into, ids in _by_into([each for each in page if each.scope == scope]).items():
                    expiry = Expiry(Layer.EVENTS, ids, now, rules.follows(Layer.EVENTS))
                    done += self._enter(tenant_id, scope, into, expiry)
        return done

    def _enter(self, tenant_id: str, scope: Scope, into: Scope | None, expiry: Expiry) -> Counter[Layer]:
        try:
            entry = self._store.expiries.expire(tenant_id, scope, into, expiry)
        except Conflict:
            return Counter()  # an erasure of the scope runs
        over = None if entry is None else expiry_of(entry)
        return Counter() if over is None else Counter({over.layer: len(over.ids)})

    # ---- what is over

    def _scopes(self, tenant_id: str) -> Iterator[tuple[Scope, TtlRules]]:
        """The scopes for which anything is laid down and that no legal hold keeps; documents live by rules of their own."""
        after = ""
        while page := self._store.expiries.scopes(tenant_id, after=after, limit=limits.FORGET_PAGE):
            after = page[-1]
            for scope in page:
                rules = self._rules(tenant_id, scope)
                if not rules.keeps(scope):
                    yield scope, rules

    def _old_events(
        self, tenant_id: str, scope: Scope, rules: TtlRules, now: Instant
    ) -> Iterator[Sequence[OldEvent]]:
        """The events of a scope that are over by policy, page by page, without those that are out of recall."""
        ttl_us = rules.ttl_us.get(Layer.EVENTS)
        if ttl_us is None or scope == RELAY_SCOPE:
            return
        after = self._store.expiries.through(tenant_id, scope)
        while page := self._store.expiries.older(
            tenant_id, scope, now - ttl_us + 1, after=after, limit=limits.EXPIRY_BATCH
        ):
            after = page[-1].position
            if found := [each for each in page if not each.excluded]:
                yield [*found[:-1], found[-1]._replace(position=after)]

    def _old_records(
        self, tenant_id: str, scope: Scope, layer: Layer, rules: TtlRules, now: Instant
    ) -> Iterator[Sequence[OldRecord]]:
        """The records of a layer that nothing bore out for as long as they live; none while an entry of before waits to be derived."""
        ttl_us = rules.ttl_us.get(layer)
        if ttl_us is None or scope == RELAY_SCOPE or self._store.expiries.is_waiting(tenant_id, scope):
            return
        after = None
        while page := self._store.expiries.unrenewed(
            tenant_id, scope, layer, now - ttl_us, after=after, limit=limits.EXPIRY_BATCH
        ):
            after = page[-1]
            yield page

    def _sent(
        self, tenant_id: str, layer: Layer, old: Sequence[OldRecord]
    ) -> Mapping[Scope | None, tuple[str, ...]]:
        """The ids of records by where what they say is consolidated."""
        ids = [each.id for each in old]
        if layer is not Layer.FACTS:
            return {None: tuple(ids)}
        facts = self._store.records.get(tenant_id, ids)
        told = {key: each.event_id for key, each in facts.items() if isinstance(each, Fact)}
        events = self._store.log.get(tenant_id, set(told.values()))
        into = {key: events[each].directives.consolidate_into for key, each in told.items() if each in events}
        return _grouped((into.get(each), each) for each in ids)


def _by_into(events: Sequence[OldEvent]) -> Mapping[Scope | None, tuple[str, ...]]:
    return _grouped((each.into, each.id) for each in events)


def _grouped(pairs: Iterable[tuple[Scope | None, str]]) -> Mapping[Scope | None, tuple[str, ...]]:
    found: dict[Scope | None, tuple[str, ...]] = {}
    for into, id_ in pairs:
        found[into] = (*found.get(into, ()), id_)
    return found

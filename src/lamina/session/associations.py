"""Tier 2: what recall finds on the query, if it finds it in time. A late answer is dropped, a full house not waited for."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as LateError
from dataclasses import dataclass, replace
from typing import Final

from lamina.errors import LaminaError
from lamina.kernel.changes import change_mark
from lamina.kernel.events import Event
from lamina.kernel.operations import Call
from lamina.kernel.records import Fact, Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.shown import quoted, unquoted
from lamina.recall.deadline import NEVER, Deadline
from lamina.recall.excerpts import Excerpts, reading_of
from lamina.recall.naming import Naming
from lamina.recall.placing import Held
from lamina.recall.plan import NARROW, WIDE, Breadth
from lamina.recall.recalling import Recalling
from lamina.recall.weighed import RECORD_WEIGHTS
from lamina.store.ports.records import Records
from lamina.types.recall import Budgets, Recall
from lamina.types.sessions import EntitySeen, Remembered

__all__ = ["NOTHING", "Associations", "Associator", "entities_seen"]

_LOG = logging.getLogger("lamina.session")

CONTEXT_MAX: Final = 10
ENTITIES_MAX: Final = 5
_FACTS_MAX: Final = 8
_EVENTS_MAX: Final = 6
_TEXT_CHARS_MAX: Final = 400
_RELEVANT_FROM: Final = 0.1
"""What is less relevant is left out: "hello" brings nothing to mind."""
_THREADS: Final = 2
_IN_FLIGHT_MAX: Final = 8


@dataclass(frozen=True, slots=True)
class Associations:
    """What a query brings to mind."""

    context: Sequence[Remembered] = ()
    entities: Sequence[EntitySeen] = ()


NOTHING: Final = Associations()


@dataclass(frozen=True, slots=True)
class _Found:
    """What recall found, best first."""

    facts: Sequence[Remembered]
    events: Sequence[Remembered]
    entities: Sequence[EntitySeen]

    def told(self, known: Collection[str], limit: int) -> Associations:
        """So many lines of it, the most relevant first, without events that are ``known``."""
        said = [each for each in self.events if each.source not in known]
        told = self.facts[: max(1, limit - min(len(said), limit // 2))]
        context = sorted([*told, *said][:limit], key=lambda each: -(each.relevance or 0.0))
        return Associations(context, self.entities)


class Associator:
    """Asks recall on a thread of its own."""

    def __init__(self, recalling: Recalling, records: Records, *, deadline_s: float) -> None:
        self._expect = recalling.expect
        self._remembered = recalling.remembered
        self._records = records
        self._deadline_s = deadline_s
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="lamina-brief")
        self._room = threading.BoundedSemaphore(_IN_FLIGHT_MAX)

    def begin(
        self,
        query: str | None,
        scope: Scope,
        call: Call,
        naming: Naming,
        *,
        with_quarantined: bool = False,
    ) -> Callable[[Collection[str]], Associations]:
        """Start asking, and give what waits for the rest of the deadline. Events known to it are not told again."""
        if query is None or not query.strip():
            return lambda _: NOTHING
        # What goes on after the call has permits of its own.
        later = replace(call, permits=call.permits.renewed())
        if not self._room.acquire(blocking=False):
            return lambda _: NOTHING
        until = time.monotonic() + self._deadline_s
        late = threading.Event()
        try:
            self._expect(query)
            future = self._pool.submit(self._ask_until, late, query, scope, later, naming, with_quarantined)
        except Exception as error:  # no thread, for one: the server is stopping, or the machine has none left
            self._room.release()
            _LOG.warning("a brief goes without its second tier: %s", type(error).__name__)
            return lambda _: NOTHING
        future.add_done_callback(lambda _: self._room.release())
        return lambda known: self._taken(future, until, late, known)

    def _ask_until(
        self,
        late: threading.Event,
        query: str,
        scope: Scope,
        call: Call,
        naming: Naming,
        with_quarantined: bool,
    ) -> _Found:
        return self._found(
            query, scope, call, CONTEXT_MAX, NARROW, naming, Deadline(late), with_quarantined=with_quarantined
        )

    def _taken(
        self, future: Future[_Found], until: float, late: threading.Event, known: Collection[str]
    ) -> Associations:
        try:
            return future.result(timeout=max(0.0, until - time.monotonic())).told(known, CONTEXT_MAX)
        except LateError:
            late.set()
            future.cancel()
        except LaminaError as error:
            _LOG.warning("a brief goes without its second tier: %s", error.code)
        except Exception as error:
            # The class and not the message: a message may quote the memory.
            _LOG.error("a brief goes without its second tier: %s", type(error).__name__)
        return NOTHING

    def ask(self, query: str, scope: Scope, call: Call, *, limit: int = CONTEXT_MAX) -> Associations:
        """What recall finds, without a deadline."""
        return self._found(query, scope, call, limit, WIDE).told((), limit)

    def _found(
        self,
        query: str,
        scope: Scope,
        call: Call,
        limit: int,
        breadth: Breadth,
        naming: Naming | None = None,
        deadline: Deadline = NEVER,
        *,
        with_quarantined: bool = False,
    ) -> _Found:
        request = Recall(
            scope=scope,
            query=query,
            view="local",
            include=["facts", "events"],
            include_quarantined=with_quarantined,
            budgets=Budgets(
                per_layer_limits={"facts": max(_FACTS_MAX, limit), "events": max(_EVENTS_MAX, limit // 2)}
            ),
        )
        found = self._remembered(request, call, breadth, naming, deadline)
        called = found.called
        facts, named = [], []
        for each in found.values[Layer.FACTS]:
            fact, relevance = each.value, _relevance_of_fact(each, found.strength)
            if not isinstance(fact, Fact) or fact.kind == "loop" or relevance < _RELEVANT_FROM:
                continue
            text = fact.text if called is None else called.said_of(fact, fact.text)
            text += change_mark(each.changed)
            facts.append(Remembered(text=text, relevance=relevance, source=fact.id))
            named += [
                (part.id or "", part.name if called is None else called.who(part.name), text)
                for part in (fact.subject, fact.object)
                if part.type == "entity" and part.name
            ]
        events = [
            Remembered(
                text=f"{_quoted(each.value, each, found.terms)}{change_mark(each.changed)}",
                relevance=relevance,
                source=each.value.id,
            )
            for each in found.values[Layer.EVENTS]
            if isinstance(each.value, Event)
            and (relevance := _share(found.strength * each.score)) >= _RELEVANT_FROM
        ]
        entities = entities_seen(self._records, call.principal.tenant_id, scope, named)
        return _Found(facts, events, entities)

    def close(self) -> None:
        """Start nothing more."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def entities_seen(
    records: Records, tenant_id: str, scope: Scope, named: Iterable[tuple[str, str, str]]
) -> list[EntitySeen]:
    """The first few entities of (id, name, text of a fact that names it), each with what is told of it.

    What an entity is comes of its mentions in the scope: what other scopes tell of it may be closed to the caller.
    """
    told: dict[str, tuple[str, list[str]]] = {}
    for entity_id, name, text in named:
        told.setdefault(entity_id, (name, []))[1].append(text)
    first = dict(list(told.items())[:ENTITIES_MAX])
    types = records.entity_types(tenant_id, scope, first)
    return [
        EntitySeen(summary=_summary(name, texts), type=types.get(entity_id), uuid=entity_id)
        for entity_id, (name, texts) in first.items()
    ]


def _summary(name: str, texts: Sequence[str]) -> str:
    return f"{name}: {' '.join(dict.fromkeys(text.rstrip('.') + '.' for text in texts[:2]))}"


def _relevance_of_fact(held: Held, strength: float) -> float:
    """How much of the question a fact has, and how strongly the turns that it rests on speak to it: what it is worth besides
    (how new, how sure) makes no answer of it."""
    words, links = RECORD_WEIGHTS["semantic"], RECORD_WEIGHTS["graph"]
    parts = held.contributions
    return _share((parts.get("semantic", 0.0) + strength * parts.get("graph", 0.0)) / (words + links))


def _share(score: float) -> float:
    return round(min(1.0, max(0.0, score)), 4)


def _quoted(event: Event, held: Held, terms: Sequence[str]) -> str:
    """Who said a turn, and of a long one what the question's terms ask for."""
    said = Excerpts(reading_of(event, held.days), terms).of(_TEXT_CHARS_MAX).words  # read as recalls read it
    mark = held.superseded.mark if held.superseded else ""
    return f"{unquoted(str(event.content.get('role', 'user')))}{mark}: {quoted(said)}"

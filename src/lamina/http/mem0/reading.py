"""What Mem0's clients read: memories in lists and by a question, of whom there are some, and how far they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from lamina import limits
from lamina.errors import Invalid, Malformed, NotFound
from lamina.http.mem0.asking import Asker
from lamina.http.mem0.entities import FIELDS, OwnerIds, entities_of, prefix_of_all
from lamina.http.mem0.filters import ANY, MemoryFilter, parse_memory_filter
from lamina.http.mem0.memories import Mem0Memory, as_json
from lamina.http.mem0.requests import ListAsked, SearchAsked
from lamina.http.mem0.shelf import CallReads, ReadPoint
from lamina.kernel.scopes import Scope
from lamina.kernel.time import rfc3339, to_datetime

__all__ = ["entities", "event_state", "homes_of", "list_page", "search_page", "whoami"]

Json = dict[str, Any]  # Any: JSON, in the shapes that Mem0's clients know


def whoami(asker: Asker) -> Json:
    """Who calls. No address is given: Mem0's client would tell its own telemetry."""
    known = asker.ask("auth_whoami", {})
    return {
        "status": "ok",
        "org_id": known.tenant_id,
        "project_id": "lamina",
        "user_email": None,
        "actor": known.caller,
    }


# ---- lists and questions


def list_page(asker: Asker, asked: ListAsked, address: str) -> Json:
    """A page of memories, the newest first; ``count`` is how many there are in all."""
    shelf, matched, moment = CallReads(asker.ask), _filter_of(asked), _moment(asked, asker)
    found: list[Mem0Memory] = []
    for scope in _scopes(asker, matched):
        facts, events = shelf.scan(scope)
        found += _kept([shelf.memories_of_fact(fact, moment) for fact in facts], asked, matched, asker)
        turns = (shelf.memory_of_turn(event, moment) for event in events)
        found += _kept([[turn] for turn in turns if turn is not None], asked, matched, asker)
    found.sort(key=lambda memory: (memory.updated_at, memory.id), reverse=True)
    size = asked.top_k or asked.page_size
    start = (asked.page - 1) * size
    page = found[start : start + size]
    more, before = start + size < len(found), asked.page > 1
    return {
        "count": len(found),
        "next": f"{address}?page={asked.page + 1}&page_size={size}" if more else None,
        "previous": f"{address}?page={asked.page - 1}&page_size={size}" if before else None,
        "results": [as_json(memory, fields=asked.fields or ()) for memory in page],
        **({"truncated": True} if shelf.truncated else {}),
    }


def search_page(asker: Asker, asked: SearchAsked) -> Json:
    """The memories that fit a question, best first."""
    shelf, matched, moment = CallReads(asker.ask), _filter_of(asked), _moment(asked, asker)
    ranked: list[tuple[float, Mem0Memory]] = []
    wanted = asked.top_k or _TOP_K
    for scope in _scopes(asker, matched):
        pack = asker.ask("recall", _question(asked, scope, wanted))
        facts: list[Any] = pack.layers.facts
        events: list[Any] = pack.layers.events
        # Of a fact that was known otherwise the version that fits the question came, and the newest is meant.
        shelf.note([fact for fact in facts if fact.recorded_to is None], events)
        # An event's score is its share of the best one's: what the best is worth, the pack says apart.
        worth = {fact.id: fact.score for fact in facts}
        worth |= {event.id: event.score * pack.abstain.best_score for event in events}
        newest = (shelf.fact(fact.id) for fact in facts)
        offered = [shelf.memories_of_fact(fact, moment) for fact in newest if fact is not None]
        turns = (shelf.memory_of_turn(event, moment) for event in events)
        offered += [[turn] for turn in turns if turn is not None]
        ranked += [(worth[each.origin.record_id], each) for each in _kept(offered, asked, matched, asker)]
    ranked.sort(key=lambda item: (-item[0], item[1].id))
    best = [item for item in ranked if asked.threshold is None or item[0] >= asked.threshold]
    return {
        "results": [as_json(memory, round(score, 4), asked.fields or ()) for score, memory in best[:wanted]]
    }


_TOP_K: Final = 10
_SPARE: Final = 4
"""How many times as many are asked for as are wanted: some are no memories, some are left out by a filter."""


def _question(asked: SearchAsked, scope: Scope, wanted: int) -> Json:
    most = min(limits.LAYER_LIMIT_MAX, wanted * _SPARE)
    at = asked.reference_date
    temporal: Json = {} if at is None else {"reference_date": rfc3339(at), "include_superseded": True}
    if not asked.latest_only:
        temporal["include_superseded"] = True
    return {
        "scope": scope,
        "query": asked.query,
        "view": "local",
        "include": ["facts", "events"],
        "temporal": temporal,
        "budgets": {
            "max_tokens": limits.RECALL_TOKENS_MAX,
            "per_layer_limits": {"facts": most, "events": most},
        },
    }


def _filter_of(asked: ListAsked) -> MemoryFilter:
    conditions: list[Mapping[str, Any]] = [dict(asked.entities.named)]
    conditions += [asked.filters] if asked.filters else []
    conditions += [{"categories": {"in": asked.categories}}] if asked.categories else []
    conditions += [{"metadata": asked.metadata}] if asked.metadata else []
    dates = {"gte": asked.start_date, "lte": asked.end_date}
    bounds = {name: rfc3339(at) for name, at in dates.items() if at is not None}
    conditions += [{"created_at": bounds}] if bounds else []
    return parse_memory_filter({"AND": conditions})


def _moment(asked: ListAsked, asker: Asker) -> ReadPoint:
    at = asked.reference_date
    # What lies ahead of the clock was not said yet, so a day to come is as good as now.
    if at is None or at >= asker.now:
        return ReadPoint(asker.now, latest_only=asked.latest_only)
    return ReadPoint(at, as_of=True, latest_only=asked.latest_only)


def _kept(
    offered: Iterable[Sequence[Mem0Memory]], asked: ListAsked, matched: MemoryFilter, asker: Asker
) -> list[Mem0Memory]:
    """Of each memory the first shape that passes: what is said in two runs is found by either."""
    today = to_datetime(asker.now).date()
    found = []
    for shapes in offered:
        fitting = (
            memory
            for memory in shapes
            if matched.passes(memory) and (asked.show_expired or not memory.expired(today))
        )
        memory = next(fitting, None)
        if memory is not None:
            found.append(memory)
    return found


def _scopes(asker: Asker, matched: MemoryFilter) -> list[Scope]:
    """Where the memories are that a filter may let through."""
    found: dict[Scope, None] = {}
    for home in matched.homes:
        if not home:
            raise Malformed(
                "MISSING_REQUIRED_FIELD",
                "the filters name no user_id, agent_id, app_id or run_id",
                hint='say whose memories are meant, as filters={"user_id": "ana"}; in an OR, say it in each part',
                details={"field": "filters"},
            )
        found |= dict.fromkeys(homes_of(asker, home))
        if len(found) > limits.MEM0_SCOPES_MAX:
            raise Invalid(
                "INVALID_FILTER",
                f"the filters name more than {limits.MEM0_SCOPES_MAX} users, agents, apps and runs",
                hint="name fewer, one after another",
                details={"field": "filters"},
            )
    return list(found)


def homes_of(asker: Asker, home: Mapping[str, str]) -> list[Scope]:
    """The scopes of those that ids name, ``*`` for any."""
    named = OwnerIds(**{field: value for field, value in home.items() if value != ANY})
    inner = next((field for field in ("user_id", "agent_id", "run_id") if field in home), None)
    unnamed = [field for field in ("app_id", inner) if field is not None and home.get(field) == ANY]
    if not unnamed:
        return [named.home()]
    # Any app with a user, an agent or a run inside it begins as any app does.
    prefix = prefix_of_all(named, unnamed[0])
    known = (entities_of(path) for path in _paths(asker, prefix))
    fitting = (each for each in known if each is not None and _fits(each, home))
    return [each.home() for each in fitting]


def _fits(known: OwnerIds, home: Mapping[str, str]) -> bool:
    """Whether a scope is one of those that a home names; an app that is not named is none."""
    inner = next((field for field in ("user_id", "agent_id", "run_id") if field in home), None)
    for field in FIELDS:
        held = getattr(known, field)
        wanted = home.get(field) if field in ("app_id", inner) else None
        if (held is None) != (wanted is None) or (wanted not in (None, ANY) and held != wanted):
            return False
    return True


def _paths(asker: Asker, prefix: str) -> list[str]:
    """The scopes that begin so and that the caller may know of."""
    found: list[str] = []
    cursor = None
    while len(found) < limits.MEM0_SCAN_MAX:
        page = asker.ask("scopes", {"prefix": prefix, "limit": limits.PAGE_LIMIT_MAX, "cursor": cursor}).root
        found += [each.path for each in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    return found


# ---- of whom there is something, and how far a call of add has come


def entities(asker: Asker) -> Json:
    """The users, agents, apps and runs that memories are kept for, as far as the caller may know of them."""
    found: dict[tuple[str, str], Json] = {}
    for prefix in ("user:", "agent:", "app:", "ws:"):
        page = asker.ask("scopes", {"prefix": prefix, "limit": limits.PAGE_LIMIT_MAX})
        for each in page.root.items:
            known = entities_of(each.path)
            for field, name in ({} if known is None else known.named).items():
                kind = field.removesuffix("_id")
                at = rfc3339(each.created_at)
                row: Json = {
                    "id": f"{kind}:{name}",
                    "name": name,
                    "type": kind,
                    "created_at": at,
                    "updated_at": at,
                }
                row |= {"owner": asker.actor, "organization": asker.tenant_id, "metadata": None}
                found.setdefault((kind, name), {**row, "total_memories": None})
    results = list(found.values())
    return {"count": len(results), "next": None, "previous": None, "results": results}


def event_state(asker: Asker, event_id: str) -> Json:
    """How far the turns of a call of ``add`` have come, by the ``event_id`` that it answered, and the memories that came of them."""
    rows = asker.ask("lifecycle", {"batch_id": event_id, "limit": limits.PAGE_LIMIT_MAX}).items
    turns = list(dict.fromkeys(row.event_id for row in rows if row.stage == "captured"))
    if not turns:
        raise NotFound(
            "NOT_FOUND", "no call of add that you may read has this id", details={"id": event_id[:128]}
        )
    shelf, states = (
        CallReads(asker.ask),
        [asker.ask("lifecycle_memory_event", {"evt_id": each}) for each in turns],
    )
    failed = any(state.errors for state in states)
    done = all("indexed" in state.stages_completed for state in states)
    facts = [
        fact
        for state in states
        for each in state.derives
        if each.startswith("fact_") and (fact := shelf.fact(each))
    ]
    moment = ReadPoint(asker.now)
    memories = [offered[0] for fact in facts if (offered := shelf.memories_of_fact(fact, moment))]
    events = [event for each in turns if done and (event := shelf.event(each)) is not None]
    memories += [turn for event in events if (turn := shelf.memory_of_turn(event, moment)) is not None]
    return {
        "id": event_id,
        "event_type": "ADD",
        "status": "FAILED" if failed else "SUCCEEDED" if done else "PENDING",
        "results": [{"id": each.id, "event": "ADD", "data": {"memory": each.text}} for each in memories],
        "stages_completed": sorted(set.intersection(*(set(state.stages_completed) for state in states))),
    }

"""Questions to a user's memory beside the two calls: a query, the list of loops, who the user is, a handover."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Annotated, Any, Final, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, ConfigDict, Field

from lamina import limits
from lamina.kernel.capabilities import Capability
from lamina.kernel.events import Context, Directives, EventDraft, Modality, Origin, Party, Stage, Trust
from lamina.kernel.operations import Answer, Call, Grant, Principal
from lamina.kernel.records import Loop
from lamina.kernel.scopes import Scope
from lamina.kernel.shown import on_one_line, shown
from lamina.kernel.time import FOREVER, SECOND_US, Instant, rfc3339_or_none, to_datetime
from lamina.kernel.views.parts import Stamp
from lamina.kernel.wire import InstantText, Result, Text
from lamina.language.quarantine import quarantine_of_words
from lamina.language.sentences import first_sentences
from lamina.pipeline.zones import TIMEZONE
from lamina.recall.naming import NAMES
from lamina.session.associations import Associator
from lamina.session.hints import entity_hints
from lamina.session.identity import CORRECTABLE, identity_of, identity_shown, places_after
from lamina.session.ingest import write_grants
from lamina.session.loops import active_loops, in_doubt, in_full, loop_row, open_loops, status_at
from lamina.session.names import actor_of_user, scope_of
from lamina.session.tier_one import SessionStates
from lamina.store.ports.log import Capture
from lamina.store.ports.store import Store
from lamina.store.watch import Watch
from lamina.types.sessions import (
    ActiveLoop,
    EntitySeen,
    Identity,
    LoopInFull,
    Name,
    Remembered,
    SessionName,
    SessionRequest,
    SessionResult,
)

__all__ = [
    "Asking",
    "Correct",
    "Found",
    "Handover",
    "HandoverAsked",
    "LoopList",
    "LoopsAsked",
    "Query",
    "UserAsked",
]

_LOOPS_MAX: Final = 200
_BRIDGE_CHARS_MAX: Final = 280
_SITTINGS_READ: Final = 32
_MINUTE_US: Final = 60 * SECOND_US


def _zone(name: str | None) -> str | None:
    if name is not None:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise ValueError(
                "must be a name of the IANA time zone database, such as Europe/Lisbon"
            ) from error
    return name


Zone = Annotated[str, Field(min_length=1, max_length=64), AfterValidator(_zone)]


class Query(SessionRequest):
    """A question to a user's memory."""

    tenant_id: Name
    user_id: Name
    query: Annotated[Text, Field(min_length=1, max_length=limits.QUERY_LENGTH_MAX)]
    limit: Annotated[int, Field(ge=1, le=50)] = 10
    reference_time: InstantText | None = None
    include_context: bool = False


class Found(SessionResult):
    """What memory holds on it. ``facts`` are the texts of ``factItems``."""

    facts: list[str]
    fact_items: list[Remembered]
    entities: list[EntitySeen]
    open_loops: list[ActiveLoop] | None = None
    metadata: dict[str, Any]  # Any: the figures of the answer


class UserAsked(SessionRequest):
    """A user."""

    tenant_id: Name
    user_id: Name


class LoopsAsked(UserAsked):
    """A user's loops; stale ones only where asked for."""

    limit: Annotated[int, Field(ge=1, le=_LOOPS_MAX)] = 20
    include_stale: bool = False


class LoopList(SessionResult):
    """Open loops, those that matter most first."""

    items: list[LoopInFull]
    metadata: dict[str, Any]


FactText = Annotated[Text, Field(min_length=1, max_length=limits.NAME_LENGTH_MAX)]
FactKey = Literal["home", "from", "age", "birthday", "occupation", "employer", "pronouns", "relationship"]


class Correct(UserAsked):
    """What the user says of themselves, outside of a conversation. What is left out stays as it is, null clears it."""

    name: FactText | None = None
    timezone: Zone | None = None
    facts: dict[FactKey, FactText | int | None] = Field(default_factory=dict)


class HandoverAsked(UserAsked):
    """What to know before a session begins."""

    now: InstantText
    session_id: SessionName | None = None
    persona_id: Name | None = None
    timezone: Zone | None = None


class Handover(Result):
    """The start of a session, and why each part is in it. ``evidence`` names records and events."""

    model_config = ConfigDict(alias_generator=None)

    handover_text: str
    narrative: str
    handover_depth: Literal["continuation", "today", "yesterday", "multi_day"]
    time_context: dict[str, Any]  # Any: figures and words of time
    resume: dict[str, Any]
    ops_context: dict[str, Any]
    evidence: dict[str, Any]
    entity_hints: list[EntitySeen]
    now: Stamp


class Asking:
    """Handlers of these questions."""

    def __init__(self, store: Store, associator: Associator, watch: Watch, *, learn_s: float) -> None:
        """``learn_s`` is how long a correction waits for what is derived from it."""
        self._store = store
        self._associator = associator
        self._watch = watch
        self._learn_s = learn_s
        self._states = SessionStates(store)

    def read_grants(self, request: Any, principal: Principal) -> list[Grant]:  # noqa: ARG002 # Any: each of these names a user
        """What each of these reads takes."""
        return [Grant(Capability.SCOPE_READ_LOCAL, scope_of(request.tenant_id, request.user_id))]

    def query(self, request: Query, call: Call) -> Answer:
        """What recall finds, without the hurry of a brief."""
        scope = scope_of(request.tenant_id, request.user_id)
        found = self._associator.ask(request.query, scope, call, limit=request.limit)
        loops = None
        if request.include_context:
            now = call.now if request.reference_time is None else request.reference_time
            loops = active_loops(self._store, call.principal.tenant_id, scope, now)
        texts = [item.text for item in found.context]
        figures = {"query": request.query, "facts": len(texts), "entities": len(found.entities)}
        return Answer(
            Found(
                facts=texts,
                fact_items=list(found.context),
                entities=list(found.entities),
                open_loops=loops,
                metadata={**figures, "limit": request.limit},
            )
        )

    def loops(self, request: LoopsAsked, call: Call) -> Answer:
        """A user's open loops in full."""
        scope, now = scope_of(request.tenant_id, request.user_id), call.now
        found = sorted(self._loops(call, scope), key=_priority)
        doubted = in_doubt(self._store, call.principal.tenant_id, found)
        wanted = [each for each in found if request.include_stale or status_at(each, now) != "stale"]
        items = [in_full(loop, now, doubted) for loop in wanted[: request.limit]]
        figures = {"count": len(items), "limit": request.limit, "sort": "priority_desc", "scope": "user"}
        return Answer(LoopList(items=items, metadata=figures))

    def identity(self, request: UserAsked, call: Call) -> Answer:
        """Who the user is."""
        return Answer(self._identity(request, call))

    def correct_grants(self, request: Correct, principal: Principal) -> list[Grant]:
        """What speaking for the user takes."""
        scope = scope_of(request.tenant_id, request.user_id)
        return [
            *write_grants(scope, [actor_of_user(request.user_id)], principal),
            Grant(Capability.SCOPE_READ_LOCAL, scope),
        ]

    def correct(self, request: Correct, call: Call) -> Answer:
        """Store each value as a claim of the user's: an event like any other, so that it has a place and a source.

        Answers with the identity as it is once they are derived, accepted when that takes longer than two seconds.
        """
        stated = _stated(request)
        if not stated:
            return Answer(self._identity(request, call))
        at = places_after(
            self._store.records,
            call.principal.tenant_id,
            scope_of(request.tenant_id, request.user_id),
            actor_of_user(request.user_id),
            stated,
            call.now,
        )
        captures = [
            Capture(_claim(request, call.principal, predicate, value, at[predicate]))
            for predicate, value in stated.items()
        ]
        last = self._store.log.append(captures)[-1].event
        rows = self._watch.wait_for(last.tenant_id, last.id, Stage.EXTRACTED, timeout_s=self._learn_s)
        derived = any(row.name == Stage.EXTRACTED for row in rows)
        return Answer(self._identity(request, call), accepted=not derived)

    def handover(self, request: HandoverAsked, call: Call) -> Answer:
        """A start of a session, with the reasons for what is in it."""
        tenant_id, now = call.principal.tenant_id, request.now
        scope = scope_of(request.tenant_id, request.user_id)
        known = identity_shown(self._store.records, tenant_id, scope, actor_of_user(request.user_id), now)
        zone = request.timezone or known.timezone or "UTC"
        sittings = self._store.sessions.newest(tenant_id, scope, _SITTINGS_READ)
        heard = [sitting.heard_at(now) for sitting in sittings]
        last_at = max(heard, default=None)
        over = next((sitting for sitting in sittings if sitting.is_over(now)), None)
        bridge = self._states.bridge(tenant_id, scope, now)
        depth = _depth(last_at, now, zone)
        loops = [
            loop
            for loop in self._loops(call, scope)
            if status_at(loop, now) != "stale" and not quarantine_of_words(str(loop.object.value))
        ]
        doubted = in_doubt(self._store, tenant_id, loops)
        ranked = sorted(loops, key=_priority)
        today = [loop for loop in ranked if loop.horizon == "today" or loop.due_at is not None][:5]
        waiting = [loop for loop in ranked if str(loop.object.value).startswith("Waiting")][:5]
        narrative = shown(bridge.removeprefix("Last session:\n"))
        spoken = [f"Open: {on_one_line(str(loop.object.value))}." for loop in ranked[:3]]
        pending = self._store.sessions.outbox(tenant_id, scope, limits.PAGE_LIMIT_MAX)
        backlog = self._store.upkeep.backlog(tenant_id)
        return Answer(
            Handover(
                handover_text="\n".join(filter(None, [narrative, *spoken])),
                narrative=narrative,
                handover_depth=depth,
                time_context=_time_context(now, last_at, zone, heard),
                resume={
                    "use_bridge": depth != "continuation" and bridge != "",
                    "bridge_text": first_sentences(narrative, _BRIDGE_CHARS_MAX).rstrip(),
                },
                ops_context={
                    "top_loops_today": [_shown_row(loop, now, doubted) for loop in today],
                    "waiting_on": [_shown_row(loop, now, doubted) for loop in waiting],
                    "user_model_hints": known.model_dump(),
                },
                evidence={
                    "summary": None
                    if over is None
                    else {
                        "session_id": over.place.session,
                        "sitting": over.number,
                        "written": over.bridge is not None,
                        "turns": over.turns,
                        "folded": over.folded,
                        "why": "the user's latest session that is over at now",
                    },
                    "loop_ranking": [
                        {
                            "id": loop.id,
                            "salience": loop.salience,
                            "last_seen_at": rfc3339_or_none(loop.seen_at),
                            "due_at": rfc3339_or_none(loop.due_at),
                            "why": _why(loop),
                        }
                        for loop in ranked[:10]
                    ],
                    "freshness": {
                        "turns_waiting_for_the_summary": sum(row.folded_at is None for row in pending),
                        "oldest_waiting_at": rfc3339_or_none(
                            min((row.created_at for row in pending), default=None)
                        ),
                        "events_waiting_for_derivation": backlog.events,
                    },
                },
                entity_hints=entity_hints(self._store, tenant_id, scope, actor_of_user(request.user_id), now),
                now=now,
            )
        )

    def _loops(self, call: Call, scope: Scope) -> list[Loop]:
        return open_loops(self._store.records, call.principal.tenant_id, scope)

    def _identity(self, request: UserAsked, call: Call) -> Identity:
        scope = scope_of(request.tenant_id, request.user_id)
        actor = actor_of_user(request.user_id)
        return identity_of(self._store.records, call.principal.tenant_id, scope, actor, call.now)


def _priority(loop: Loop) -> tuple[int, int, int, str]:
    """What matters most first: salience, then the nearest day, then what was spoken of last."""
    return -loop.salience, loop.due_at if loop.due_at is not None else FOREVER, -loop.seen_at, loop.id


def _shown_row(loop: Loop, now: Instant, doubted: Collection[str]) -> dict[str, Any]:  # Any: as ``loop_row``
    row = loop_row(loop, now, doubted)
    return {**row, "text": on_one_line(row["text"])}


def _why(loop: Loop) -> str:
    due = "" if loop.due_at is None else ", with a day named"
    return f"{loop.predicate} of salience {loop.salience}, said {loop.version} time(s){due}"


def _stated(request: Correct) -> dict[str, str | None]:
    """The predicates that a correction speaks of; None clears one."""
    stated: dict[str, str | None] = {}
    if "name" in request.model_fields_set:
        # A name that was given before under another predicate would come back once this one is gone.
        stated = dict.fromkeys(NAMES) if request.name is None else {NAMES[0]: request.name}
    if "timezone" in request.model_fields_set:
        stated[TIMEZONE] = request.timezone
    told = {CORRECTABLE[key]: value for key, value in request.facts.items()}
    return stated | {predicate: None if value is None else str(value) for predicate, value in told.items()}


def _claim(
    request: Correct, principal: Principal, predicate: str, value: str | None, at: Instant
) -> EventDraft:
    actor = Party.of(actor_of_user(request.user_id))
    return EventDraft(
        tenant_id=principal.tenant_id,
        scope=scope_of(request.tenant_id, request.user_id),
        caller=principal.actor,
        observed_actor=actor,
        subject=actor,
        session=None,
        modality=Modality.FEEDBACK.value,
        content={
            "kind": "triple",
            "subject": actor.display_name,
            "predicate": predicate,
            "object": None if value is None else {"value": value, "datatype": "string"},
        },
        context=Context(observed_at=at),
        directives=Directives(),
        origin=Origin(
            principal.actor,
            principal.channel,
            Trust.PRINCIPAL if actor.id == principal.actor else Trust.DELEGATED,
        ),
    )


def _depth(
    last_at: Instant | None, now: Instant, zone: str
) -> Literal["continuation", "today", "yesterday", "multi_day"]:
    if last_at is None:
        return "multi_day"
    if now - last_at <= limits.SESSION_GAP_S * SECOND_US:
        return "continuation"
    days = (_local(now, zone).date() - _local(last_at, zone).date()).days
    return "today" if days <= 0 else "yesterday" if days == 1 else "multi_day"


def _time_context(now: Instant, last_at: Instant | None, zone: str, turns: list[Instant]) -> dict[str, Any]:
    local = _local(now, zone)
    today = [at for at in turns if _local(at, zone).date() == local.date()]
    return {
        "local_time": local.strftime("%H:%M"),
        "time_of_day": _time_of_day(local.hour),
        "gap_minutes": None if last_at is None else max(0, now - last_at) // _MINUTE_US,
        "sessions_today": len(today),
        "first_session_today": not today,
    }


def _local(at: Instant, zone: str) -> datetime:
    try:
        return to_datetime(at).astimezone(ZoneInfo(zone))
    except (ZoneInfoNotFoundError, ValueError, OSError, OverflowError):
        # The user's own word for it is no name of a zone, or the calendar ends there before it does in UTC.
        return to_datetime(at)


def _time_of_day(hour: int) -> str:
    return (
        "morning"
        if 5 <= hour < 12
        else "afternoon"
        if 12 <= hour < 17
        else "evening"
        if 17 <= hour < 21
        else "night"
    )

"""Events, stages and lifecycle rows as rows, and back. Column order is that of ``schema.sql``."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, Final

from lamina.kernel.canonical import compact
from lamina.kernel.events import (
    PLAIN,
    Context,
    Directives,
    Event,
    EventDraft,
    LifecycleRow,
    Origin,
    Party,
    Stage,
    Trust,
)
from lamina.kernel.ids import Prefix, lifecycle_id, with_low
from lamina.kernel.scopes import Scope
from lamina.store.rows import Row, parsed
from lamina.store.sqlite.payloads import read_payload
from lamina.store.sqlite.words import stored_word, word_of

__all__ = [
    "ALL_STAGES",
    "STAGE_NUMBERS",
    "EventRows",
    "event_row",
    "json_list",
    "read_content",
    "read_event",
    "read_lifecycle",
    "stage_of",
]

STAGE_NUMBERS: Mapping[Stage, int] = {stage: number for number, stage in enumerate(Stage)}
_STAGES = list(Stage)
ALL_STAGES = json.dumps(sorted(STAGE_NUMBERS.values()))
"""The numbers of the stages as a JSON list, for statements that reach each of them by an index."""
_LETTERS: Final[Mapping[tuple[str, ...], str]] = {
    ("message", "user"): "u",
    ("message", "assistant"): "a",
    ("message", "system"): "s",
    ("message", "tool"): "t",
    ("text",): "x",
}
"""For what stands before the words of a content that has no more. They never change. Other content is JSON, which begins with a brace."""
_NAMES: Final = ("kind", "role")
_PLAIN: Final = frozenset({("kind", "role", "text"), ("kind", "text")})
"""The names of contents that may begin with a letter."""
_BEFORE: Final = {letter: dict(zip(_NAMES, said, strict=False)) for said, letter in _LETTERS.items()}
_TRUST_NUMBERS: Final[Mapping[Trust, str]] = {trust: str(number) for number, trust in enumerate(Trust)}
_TRUSTS: Final = {number: trust for trust, number in _TRUST_NUMBERS.items()}
"""The order of ``Trust`` is stored. Earlier releases wrote its words."""


def stage_of(number: int) -> Stage:
    """The stage behind its number in the job table."""
    return _STAGES[number]


def json_list(values: Collection[str] | Collection[int]) -> str:
    """A bound list: statements read it with ``json_each``."""
    return json.dumps(list(values))


def event_row(seq: int, position: int, event_id: str, recorded_at: int, draft: EventDraft) -> Row:
    """The row of a draft that has been given its place in the log."""
    return EventRows().of(seq, position, event_id, recorded_at, draft)


class EventRows:
    """``event_row`` of the drafts of a transaction: between whom something is said is written once."""

    def __init__(self) -> None:
        self._parties: dict[tuple[Party, Party], Row] = {}

    def of(self, seq: int, position: int, event_id: str, recorded_at: int, draft: EventDraft) -> Row:
        """That of one of them."""
        between = (draft.observed_actor, draft.subject)
        parties = self._parties.get(between)
        if parties is None:
            parties = self._parties[between] = _parties(*between)
        context, origin = draft.context, draft.origin
        return (
            seq,
            draft.tenant_id,
            position,
            event_id,
            draft.scope,
            draft.caller,
            *parties,
            draft.session,
            stored_word(draft.modality),
            _content(draft.content),
            _context(context),
            _directives(draft.directives),
            origin.channel,
            _TRUST_NUMBERS[origin.trust],
            draft.batch_id,
            context.observed_at,
            recorded_at,
            context.observed_offset,
        )


def _content(content: Mapping[str, Any]) -> str:
    """What was told, as JSON; of words with no more than their kind and who said them, a letter for that and the words."""
    if tuple(content) in _PLAIN:
        *before, text = content.values()
        # The engine's functions of text end at a zero.
        told = isinstance(text, str) and isinstance(before[0], str) and isinstance(before[-1], str)
        if told and "\0" not in text:
            letter = _LETTERS.get(tuple(before))
            if letter is not None:
                return f"{letter}{text}"
    return compact(content)


def read_content(stored: str) -> dict[str, Any]:
    """What ``content`` of an ``event`` row says. Earlier releases wrote JSON alone."""
    before = _BEFORE.get(stored[:1])
    if before is not None:
        return {**before, "text": stored[1:]}
    content: dict[str, Any] = json.loads(stored)
    return content


def _parties(actor: Party, subject: Party) -> Row:
    """The columns of the two parties: their ids, and what these do not say."""
    return actor.id, "" if subject.id == actor.id else subject.id, _more_of(actor, subject)


def _more_of(actor: Party, subject: Party) -> str | None:
    """The parts of the two parties that their ids do not already say, once where both are the same: a name alone where it is only that;
    or None."""
    if actor is subject or actor == subject:
        if actor.name is not None and actor.type == actor.id.split(":", 1)[0]:
            return compact(actor.name)
        parties = {"both": _said_of(actor)}
    else:
        parties = {"actor": _said_of(actor), "subject": _said_of(subject)}
    said = {key: each for key, each in parties.items() if each is not None}
    return compact(said) if said else None


def _said_of(party: Party) -> dict[str, str | None] | None:
    if party.name is None and party.type == party.id.split(":", 1)[0]:
        return None
    return {"type": party.type, "name": party.name}


def _party(actor_id: str, said: Mapping[str, Any] | None) -> Party:
    return Party(actor_id, said["type"], said["name"]) if said else Party.of(actor_id)


def _context(context: Context) -> str | None:
    told = (context.source_recorded_at, context.location, context.intent)
    if told == (None, None, None) and not (context.preceded_by or context.labels):
        return None
    said = {
        "source_recorded_at": context.source_recorded_at,
        "location": context.location,
        "preceded_by": list(context.preceded_by) or None,
        "intent": context.intent,
        "labels": list(context.labels) or None,
    }
    kept = {key: value for key, value in said.items() if value is not None}
    return compact(kept) if kept else None


def _directives(directives: Directives) -> str | None:
    if directives is PLAIN or directives == PLAIN:
        return None
    return compact(
        {
            "extract": directives.extract,
            "consolidate_into": directives.consolidate_into,
            "confidence_floor": directives.confidence_floor,
            "belief_ttl_us": directives.belief_ttl_us,
            "embed": directives.embed,
        }
        | ({} if directives.consolidate_only is None else {"consolidate_only": directives.consolidate_only})
        | ({} if directives.event_ttl_us is None else {"event_ttl_us": directives.event_ttl_us})
    )


def read_event(row: Row) -> Event:
    """The event of an ``event`` row."""
    (_, tenant_id, position, event_id, scope, caller, actor, subject, parties, session, modality, content,
     context, directives, channel, trust, batch_id, observed_at, recorded_at, cancelled_after,
     observed_offset, zone_offset, redacted_by, bears_out) = row  # fmt: skip
    said = parsed(parties) if parties else {}
    if isinstance(said, str):
        said = {"both": {"type": Party.of(actor).type, "name": said}}
    both = said.get("both")
    more = parsed(context) if context else {}
    return Event(
        tenant_id=tenant_id,
        id=event_id,
        position=position,
        recorded_at=recorded_at,
        scope=Scope(scope),
        caller=caller,
        observed_actor=_party(actor, said.get("actor", both)),
        subject=_party(subject or actor, said.get("subject", both)),
        session=session,
        modality=word_of(modality),
        content=read_content(content),
        context=Context(
            observed_at=observed_at,
            observed_offset=observed_offset,
            source_recorded_at=more.get("source_recorded_at"),
            location=more.get("location"),
            preceded_by=tuple(more.get("preceded_by", ())),
            intent=more.get("intent"),
            labels=tuple(more.get("labels", ())),
        ),
        directives=_read_directives(directives),
        origin=Origin(caller, channel, _TRUSTS.get(trust) or Trust(trust)),
        batch_id=batch_id,
        cancelled_after=Stage(cancelled_after) if cancelled_after else None,
        zone_offset=zone_offset,
        redacted_by=redacted_by,
        bears_out=bool(bears_out),
    )


def _read_directives(text: str | None) -> Directives:
    if text is None:
        return PLAIN
    said = json.loads(text)
    into = said["consolidate_into"]
    return Directives(
        extract=None if said["extract"] is None else tuple(said["extract"]),
        consolidate_into=Scope(into) if into else None,
        confidence_floor=said["confidence_floor"],
        belief_ttl_us=said["belief_ttl_us"],
        event_ttl_us=said.get("event_ttl_us"),
        embed=said["embed"],
        consolidate_only=tuple(said["consolidate_only"]) if "consolidate_only" in said else None,
    )


def read_lifecycle(row: Row) -> LifecycleRow:
    """The value of a ``lifecycle`` row. Earlier releases wrote its id, as a text or as the bits that its arrival does not say."""
    tenant_id, sequence, stored, name, scope, event_id, job_id, number, arrived_at, payload = row
    if isinstance(stored, bytes):
        stored = with_low(Prefix.LIFECYCLE, arrived_at, int.from_bytes(stored, "big"))
    return LifecycleRow(
        tenant_id=tenant_id,
        id=stored or lifecycle_id(tenant_id, sequence, arrived_at),
        sequence=sequence,
        name=name,
        scope=Scope(scope),
        event_id=event_id,
        job_id=job_id,
        number=number,
        arrived_at=arrived_at,
        payload=read_payload(payload),
    )

"""Who the user is: from what the user said, never from what was said to them.

Identity is not kept apart: it is the facts that the user's own turns gave, so each value has its events, and a later
word of the user's corrects it. Later is what was said later: a turn counts at its time, one that is dated ahead at the
time at which it was recorded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from lamina.kernel.events import Party
from lamina.kernel.local import day_text
from lamina.kernel.records import Fact, Record, value_slot
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import Tie
from lamina.kernel.time import FOREVER, LAST_INSTANT, Axes, Instant
from lamina.language.entities import entity_id, normalise_name
from lamina.language.quarantine import quarantine_of_words
from lamina.pipeline.zones import TIMEZONE, zone_in
from lamina.recall.naming import NAMES
from lamina.store.ports.records import Attestation, Records
from lamina.types.sessions import Identity

__all__ = ["CORRECTABLE", "EVERYTHING", "NAMES", "identity_of", "identity_shown", "places_after"]

EVERYTHING: Final = Axes(seen_at=FOREVER)
"""What is held now, whatever the clock of the caller says."""

CORRECTABLE: Final[Mapping[str, str]] = {
    "home": "lives_in",
    "from": "from",
    "age": "age",
    "birthday": "birthday",
    "occupation": "works_as",
    "employer": "works_at",
    "pronouns": "pronouns",
    "relationship": "relationship_status",
}
"""The keys of ``facts``, and the predicate behind each."""

_CHAIN_MAX: Final = 16
_SAYS: Final = frozenset({Tie.EXTRACTED_FROM})
"""What says a value. A turn that speaks of its matter with a sign of change does not."""


class _Value(NamedTuple):
    """A value as the user last said it, None where nobody knows it or it was taken back, and when a later turn spoke of its matter with a
    sign of change, None where none did."""

    said: Any  # Any: a JSON scalar
    changed_at: Instant | None = None


def identity_of(records: Records, tenant_id: str, scope: Scope, actor: str, now: Instant) -> Identity:
    """The user's name, timezone and lasting facts, each as the user last said it of a time that had begun by ``now``; None or
    absent where unknown."""
    return _identity(_values(records, tenant_id, scope, actor, now))


def identity_shown(
    records: Records,
    tenant_id: str,
    scope: Scope,
    actor: str,
    now: Instant,
    *,
    with_quarantined: bool = False,
) -> Identity:
    """Who the user is, as it stands before an answer: without values that are kept out of that, and beside a fact that may have changed the
    day of the turn by which, under its key with ``MayHaveChanged`` behind it."""
    values = _values(records, tenant_id, scope, actor, now)
    if not with_quarantined:
        values = {name: each for name, each in values.items() if not quarantine_of_words(str(each.said))}
    told = _identity(values)
    changed = {
        f"{key}MayHaveChanged": day_text(at, None)
        for key, predicate in CORRECTABLE.items()
        if predicate in values and (at := values[predicate].changed_at) is not None
    }
    return told.model_copy(update={"facts": told.facts | changed})


def _identity(values: Mapping[str, _Value]) -> Identity:
    known = {predicate: each.said for predicate, each in values.items() if each.said is not None}
    return Identity(
        name=next((str(known[name]) for name in NAMES if name in known), None),
        timezone=zone_in(str(known[TIMEZONE])) if TIMEZONE in known else None,
        facts={key: known[predicate] for key, predicate in CORRECTABLE.items() if predicate in known},
    )


def _values(records: Records, tenant_id: str, scope: Scope, actor: str, now: Instant) -> dict[str, _Value]:
    """By its predicate, each value that says who the user is."""
    slots = _slots(tenant_id, actor, (*NAMES, TIMEZONE, *CORRECTABLE.values()))
    held = records.in_slots(tenant_id, scope, slots.values(), limit=_CHAIN_MAX)
    chains = {predicate: _chain(held.get(slot, ())) for predicate, slot in slots.items()}
    ids = [fact.id for chain in chains.values() for fact in chain]
    statements = records.statements(tenant_id, ids)
    return {predicate: _last_said(chain, statements, actor, now) for predicate, chain in chains.items()}


def places_after(
    records: Records, tenant_id: str, scope: Scope, actor: str, predicates: Collection[str], now: Instant
) -> dict[str, Instant]:
    """For each predicate the moment of a word that is to be the last: now, or later where memory holds a later one.

    A turn that is dated ahead would end a correction that is dated by the clock.
    """
    slots = _slots(tenant_id, actor, predicates)
    held = records.in_slots(tenant_id, scope, slots.values(), limit=_CHAIN_MAX)
    told = records.statements(tenant_id, [fact.id for chain in held.values() for fact in chain])
    places = {}
    for predicate, slot in slots.items():
        chain = held.get(slot, ())
        starts = [fact.valid_from for fact in chain]
        starts += [each.holds_from for fact in chain for each in told.get(fact.id, ())]
        places[predicate] = max(now, min(max(starts, default=now) + 1, LAST_INSTANT))
    return places


def _slots(tenant_id: str, actor: str, predicates: Collection[str]) -> dict[str, str]:
    subject = entity_id(tenant_id, normalise_name(Party.of(actor).display_name))
    return {predicate: value_slot(subject, predicate) for predicate in predicates}


def _chain(held: Iterable[Record]) -> list[Fact]:
    return [fact for fact in held if isinstance(fact, Fact) and not (fact.negated or fact.external)]


def _said_at(statement: Attestation) -> Instant:
    """When something was said: a turn that is dated ahead was said when it was recorded."""
    return min(statement.observed_at, statement.recorded_at)


def _last_said(
    chain: Sequence[Fact], statements: Mapping[str, Sequence[Attestation]], actor: str, now: Instant
) -> _Value:
    """The value that the user said last, None if they took it back. Others' words neither set nor end one."""
    own = {fact.id: [each for each in statements.get(fact.id, ()) if each.actor == actor] for fact in chain}
    said = [
        ((_said_at(each), each.recorded_at, fact.valid_from), fact, each)
        for fact in chain
        for each in own[fact.id]
        if each.relation == Tie.TAKEN_BACK_BY
        or (each.relation in _SAYS and _held_then(fact, each) and _has_begun(fact, each, now))
    ]
    if not said:
        return _Value(None)
    _, fact, last = max(said, key=lambda item: item[0])
    by_a_value = fact.superseded_by in own
    if last.relation == Tie.TAKEN_BACK_BY or (fact.valid_to is not None and not by_a_value):
        return _Value(None)
    value = fact.object.value if fact.object.type == "literal" else fact.object.name
    return _Value(value, _changed_at(statements.get(fact.id, ()), now))


def _changed_at(statements: Sequence[Attestation], now: Instant) -> Instant | None:
    """When the newest turn was said that spoke of a fact's matter with a sign of change; None once the fact was told again after it."""
    signs = [each for each in statements if each.relation == Tie.MAY_CHANGE and _said_at(each) <= now]
    newest = max(signs, key=lambda each: (each.observed_at, each.recorded_at, each.event_id), default=None)
    if newest is None:
        return None
    told = [each for each in statements if each.relation in _SAYS and each.recorded_at > newest.recorded_at]
    return None if any(each.observed_at >= newest.observed_at for each in told) else newest.observed_at


def _has_begun(fact: Fact, statement: Attestation, now: Instant) -> bool:
    """Whether what a statement told has begun. "I'm starting at Spire in January" has not; that a turn is dated ahead is no word
    of its own."""
    return fact.valid_from <= max(now, statement.observed_at)


def _held_then(fact: Fact, statement: Attestation) -> bool:
    """Whether a statement was about its own time. "I lived in Porto in 2019" was not, and what was said of a value that
    came back counts for its return alone."""
    return fact.valid_to is None or fact.valid_to > _said_at(statement)

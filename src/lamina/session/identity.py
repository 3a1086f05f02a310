"""Who the user is: from what the user said, never from what was said to them.

Identity is not kept apart: it is the facts that the user's own turns gave, so each value has its events, and a later
word of the user's corrects it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from lamina.kernel.events import Party
from lamina.kernel.records import Fact, Record, Support
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Axes, Instant
from lamina.language.entities import normalise_name
from lamina.pipeline.facts import entity_id
from lamina.pipeline.view import CANCELLED_BY
from lamina.session.requests import Identity
from lamina.store.ports.records import Records

__all__ = ["CORRECTABLE", "EVERYTHING", "NAMES", "TIMEZONE", "identity_of"]

EVERYTHING: Final = Axes(seen_at=1 << 62)
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

NAMES: Final = ("goes_by", "name_is")
"""The predicates behind ``name``, the one that counts first."""

TIMEZONE: Final = "timezone"
_CHAIN_MAX: Final = 16


def identity_of(records: Records, tenant_id: str, scope: Scope, actor: str) -> Identity:
    """The user's name, timezone and lasting facts, each as the user last said it; None or absent where unknown."""
    subject = entity_id(tenant_id, normalise_name(Party.of(actor).display_name))
    slots = {predicate: f"{subject}|{predicate}" for predicate in (*NAMES, TIMEZONE, *CORRECTABLE.values())}
    held = records.in_slots(tenant_id, scope, slots.values(), limit=_CHAIN_MAX)
    chains = {predicate: _chain(held.get(slot, ())) for predicate, slot in slots.items()}
    ids = [fact.id for chain in chains.values() for fact in chain]
    supports = _statements(records, tenant_id, ids)
    said = {predicate: _last_said(chain, supports, actor) for predicate, chain in chains.items()}
    known = {key: said[predicate] for key, predicate in CORRECTABLE.items()}
    return Identity(
        name=next((str(said[name]) for name in NAMES if said[name] is not None), None),
        timezone=None if said[TIMEZONE] is None else str(said[TIMEZONE]),
        facts={key: value for key, value in known.items() if value is not None},
    )


def _chain(held: Iterable[Record]) -> list[Fact]:
    return [fact for fact in held if isinstance(fact, Fact) and not (fact.negated or fact.external)]


def _statements(records: Records, tenant_id: str, fact_ids: Sequence[str]) -> dict[str, list[Support]]:
    """What was said of facts, by events that count."""
    supports = records.supports_of(tenant_id, fact_ids)
    told = {each.source_id for found in supports.values() for each in found}
    cancelled = {
        event_id
        for event_id, found in records.supports_of(tenant_id, told).items()
        if any(each.relation == CANCELLED_BY for each in found)
    }
    return {
        fact_id: [each for each in found if each.source_id not in cancelled]
        for fact_id, found in supports.items()
    }


def _counts_at(statement: Support, fact: Fact) -> Instant:
    """From when on a statement speaks for a value: inside of what became of it, when later words moved it."""
    return statement.ordinal if fact.valid_to is None else min(statement.ordinal, fact.valid_to - 1)


def _last_said(
    chain: Sequence[Fact], supports: Mapping[str, Sequence[Support]], actor: str
) -> Any:  # Any: a JSON scalar
    """The value that the user said last, None if they took it back. Others' words neither set nor end one."""
    said = {
        fact.id: max(
            # A statement may stand under a value that was interrupted and under its return: the return counts.
            (
                (_counts_at(s, fact), fact.valid_from, s.recorded_at)
                for s in supports.get(fact.id, ())
                if s.role == actor
            ),
            default=None,
        )
        for fact in chain
    }
    own = [(at, fact) for fact in chain if (at := said[fact.id]) is not None]
    if not own:
        return None
    fact = max(own, key=lambda item: item[0])[1]
    by_another = fact.superseded_by in said and said[fact.superseded_by] is None
    if fact.valid_to is not None and fact.valid_to > fact.valid_from and not by_another:
        return None
    return fact.object.value if fact.object.type == "literal" else fact.object.name

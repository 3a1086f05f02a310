"""The clock of who speaks, where a time was sent without an offset: that of the zone which they were known to live by.

Known before the event's place in the log, in its scope, and by their own word. What is resolved here lands with the event, so that a
replay takes neither the tables of zones nor the words again.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from lamina.kernel.local import Offset
from lamina.kernel.records import Fact, Layer, value_slot
from lamina.kernel.ties import Tie
from lamina.kernel.time import Instant, to_datetime
from lamina.pipeline.view import View

__all__ = ["TIMEZONE", "offset_in", "speakers_offset", "zone_in"]

TIMEZONE: Final = "timezone"
"""The predicate that gives somebody's zone."""

_ZONES_MAX: Final = 16
_ZONE = re.compile(
    r"\b(?:[A-Za-z]{2,20}(?:/[A-Za-z][A-Za-z0-9_+-]{1,30}){1,2}|UTC|GMT)(?![A-Za-z0-9_])|^[A-Za-z][A-Za-z0-9_+-]{1,30}$"
)
_PART = re.compile(r"[A-Za-z]+")


def zone_in(words: str) -> str | None:
    """The name of a zone that words have, as the zone's own database writes it; None where they have none.

    >>> zone_in("America/New_York btw"), zone_in("europe/madrid"), zone_in("Madrid")
    ('America/New_York', 'Europe/Madrid', None)
    """
    match = _ZONE.search(words)
    if match is None:
        return None
    for name in (match.group(), _PART.sub(lambda part: part.group().capitalize(), match.group())):
        try:
            return ZoneInfo(name).key
        except (ZoneInfoNotFoundError, ValueError, OSError):
            continue
    return None


def offset_in(zone: str, at: Instant) -> Offset | None:
    """The offset of a zone at an instant, in whole minutes; None for what is no zone here.

    >>> from lamina.kernel.time import instant
    >>> [offset_in("America/New_York", instant(f"2026-{day}T12:00:00Z")) for day in ("01-15", "07-15")]
    [-300, -240]
    """
    try:
        east = to_datetime(at).astimezone(ZoneInfo(zone)).utcoffset()
    except (ZoneInfoNotFoundError, ValueError, OSError, OverflowError):
        return None
    return None if east is None else round(east / timedelta(minutes=1))


def speakers_offset(view: View) -> Offset | None:
    """The offset of the zone that the speaker of a view's event was known to live by at its time; None where none was known.

    What they call their zone and is none counts as UTC: tables that have it one day would not make a replay another.
    """
    event = view.event
    subject = view.entity_of(event.observed_actor)
    held = view.query(Layer.FACTS, slot=value_slot(subject, TIMEZONE), limit=_ZONES_MAX)
    zones = [fact for fact in held if isinstance(fact, Fact) and not (fact.negated or fact.external)]
    supports = view.supports_of([fact.id for fact in zones]) if zones else {}
    own = [
        fact
        for fact in sorted(zones, key=lambda fact: (fact.valid_from, fact.id))
        if any(
            each.relation == Tie.EXTRACTED_FROM and each.actor == event.observed_actor.id
            for each in supports.get(fact.id, ())
        )
    ]
    if not own:
        return None
    at = event.context.observed_at
    # Of a time before the first word of it, that word is the best there is.
    fact = next((each for each in reversed(own) if each.valid_from <= at), own[0])
    if fact.valid_to is not None and fact.valid_to <= at:
        return None
    zone = zone_in(fact.object.text)
    return (None if zone is None else offset_in(zone, at)) or 0

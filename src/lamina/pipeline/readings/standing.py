"""Which reading of a turn stands at a place in the log: that of the newest answer that took effect by then, else that of the rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from lamina import limits
from lamina.kernel.events import Event, ReadAnew, text_of
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import Tie
from lamina.pipeline.direct import direct_extraction
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.values import Extraction, Utterance
from lamina.pipeline.plays import Plays, unplayed
from lamina.pipeline.reading import PREVIOUS_READ, extracts, utterance_of
from lamina.pipeline.readings.answer import READER, ReadBeside, reading_by_answer
from lamina.pipeline.readings.by_rules import reading_by_rules
from lamina.pipeline.readings.reading import Reading, may_be_open
from lamina.pipeline.view import View
from lamina.store.ports.log import EventQuery
from lamina.store.ports.store import Store

__all__ = ["Readings"]

_HASH_SHOWN: Final = 8
_PLACES_KEPT_MAX: Final = 4096
_Key = tuple[str, str, int | None]


@dataclass(frozen=True, slots=True)
class _Told:
    """What is read of an event, and how much of its text is not, for it is said in a play."""

    utterance: Utterance
    played: int


class Readings:
    """The readings of a store's events. Not for use by several threads at once, as its extractor."""

    def __init__(self, store: Store, extractor: RulesExtractor) -> None:
        self._store = store
        self._extractor = extractor
        self._plays = Plays(store.log)
        self._known: dict[_Key, Extraction] = {}
        self._changes: dict[tuple[str, Scope], int] = {}

    def extractions(self, events: Sequence[Event]) -> list[Extraction]:
        """What rules read of facts in events that are read at all, the parse shared by all of them. What was read lately is known, as long as
        nothing was taken out of its scope: a turn is read by those before it."""
        for place in {(event.tenant_id, event.scope) for event in events}:
            changes = self._store.index.changes(*place)
            if self._changes.setdefault(place, changes) != changes or len(self._changes) > _PLACES_KEPT_MAX:
                self._known.clear()
                self._plays.forget()
                self._changes = {place: changes}
        unread = [event for event in events if _key(event) not in self._known]
        told = [self._told(event) for event in unread]
        read = self._extractor.extract([each.utterance for each in told])
        said = (replace(one, played=each.played) for one, each in zip(read, told, strict=True))
        fresh = dict(zip(map(_key, unread), said, strict=True))
        found = [fresh.get(_key(event)) or self._known[_key(event)] for event in events]
        self._known |= fresh
        for key in list(self._known)[: -limits.EXTRACTIONS_KEPT_MAX]:
            del self._known[key]
        return found

    def _told(self, event: Event) -> _Told:
        """What is to be read of an event: what is said in a play is not."""
        previous = self._store.log.previous(event, PREVIOUS_READ)
        *before, played = self._plays.played(event, previous)
        heard = [unplayed(each, length) for each, length in zip(previous, before, strict=True)]
        return _Told(utterance_of(unplayed(event, played), heard), played)

    def by_rules(self, events: Sequence[Event]) -> list[Reading]:
        """What rules read of facts in events, and which of these are open."""
        worded = [event for event in events if extracts(event)]
        read = dict(zip((each.id for each in worded), self.extractions(worded), strict=True))
        found = []
        for event in events:
            said = read.get(event.id) or direct_extraction(event) or Extraction()
            heard = () if any(may_be_open(each) for each in said.triples) else None
            found.append(reading_by_rules(event, said, heard, reader=self._extractor.name))
        return found

    def standing(self, view: View, events: Sequence[Event]) -> list[Reading]:
        """What stands of facts in events, by what had taken effect at a view's place, and which of these are open."""
        entries = self._entries(view, events)
        by_rules = self.by_rules(events)
        standing = []
        for event, plain in zip(events, by_rules, strict=True):
            answers = (self._answered(event, each.reads, plain) for each in entries.get(event.id, ()))
            standing.append(next((each for each in answers if each is not None), plain))
        return standing

    def answered(self, turn: Event, anew: ReadAnew) -> Reading | None:
        """What an answer says of a turn; None where it was forgotten, is none, or is not borne out."""
        return self._answered(turn, anew, self.by_rules([turn])[0])

    def places(self, view: View, turn: Event) -> list[int]:
        """The positions at which a turn was read, before the view's."""
        entries = self._entries(view, [turn]).get(turn.id, ())
        return [turn.position, *(each.position for each in entries if each.id != view.event.id)]

    def read_since(self, view: View, event_ids: Sequence[str]) -> dict[str, Event]:
        """For turns that a model's answer reads at a view's place, the newest entry from which on it does."""
        turns = [*view.events(event_ids).values()]
        return {turn_id: entries[0] for turn_id, entries in self._entries(view, turns).items()}

    def _entries(self, view: View, events: Sequence[Event]) -> dict[str, list[Event]]:
        """The entries that have events read anew, the newest first."""
        supports = view.supports_of([event.id for event in events])
        ids = {each.source_id for ties in supports.values() for each in ties if each.relation == Tie.READ_BY}
        entries = {each.id: each for each in (*view.events(ids - {view.event.id}).values(), view.event)}
        found = {
            turn_id: [
                entries[each.source_id]
                for each in ties
                if each.relation == Tie.READ_BY and each.source_id in entries
            ]
            for turn_id, ties in supports.items()
        }
        return {
            turn_id: sorted(each, key=lambda entry: -entry.position)
            for turn_id, each in found.items()
            if each
        }

    def _answered(self, turn: Event, anew: ReadAnew | None, rules: Reading) -> Reading | None:
        if anew is None:
            return None
        output = self._store.model_outputs.find(turn.tenant_id, anew.input_hash)
        if output is None:
            return None
        earlier = EventQuery(
            tenant_id=turn.tenant_id,
            scopes=[turn.scope],
            after=turn.position,
            with_excluded=True,
            limit=limits.READING_NAMES_BEFORE,
        )
        before = self._store.log.previous(turn, 1)
        heard = ReadBeside(
            [each for each in self._store.log.query(earlier) if not each.is_entry],
            before[-1] if before else None,
            rules.said,
            self._extractor.supposed(text_of(turn.content)),
        )
        # Two answers about one turn may number their claims alike: the ids of what they make have to differ.
        reader = f"{READER} {output.model} {anew.input_hash[-_HASH_SHOWN:]}"
        return reading_by_answer(output.text, turn, heard, reader=reader, model=output.model)


def _key(event: Event) -> _Key:
    """What an extraction depends on besides the words: by which clock they were read."""
    return event.tenant_id, event.id, event.offset

"""Questions that several slices ask of a store, in terms of its ports.

An id says that something is there, so what is asked for a reader leaves out the records of scopes that they may not
read. Only a belief rests on records of another scope (``directives.consolidate_into``), and what was taken from an
event is in the event's own scope: behind a record that is left out, its events are too. But once the words of an event went, what is kept of
others by it names it itself, wherever that lies: such events are left out as records are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from lamina import limits
from lamina.kernel.ids import Prefix
from lamina.kernel.records import Support, is_event, layer_of
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import Tie
from lamina.kernel.time import Instant
from lamina.store.ports.records import WhyGraph

__all__ = ["Home", "Links", "MayRead", "Shown", "derived_from", "records_among"]

MayRead = Callable[[Scope], bool]
"""Whether the reader may read a scope."""

Home = Callable[[Collection[str]], Mapping[str, Scope]]
"""The scopes of those records that are at hand."""

_DEPTH = 3  # event -> fact or episode -> belief -> concept
_DEPTH_BELOW = 4
_EVENT_ID = Prefix.EVENT.opening
_CONCEPT_ID = Prefix.CONCEPT.opening
CONCEPT_SOURCES_MAX = 12
"""Sources that are cited of a concept: facts and beliefs, each with what it rests on in turn. What stands behind three concepts was three
quarters of all that a recall cites; their views name all of it."""


@dataclass(frozen=True, slots=True)
class Links:
    """The why graph as far as it was read, as one reader may see it. Who asks for more than that has a bug."""

    resting: Mapping[str, Sequence[str]]
    supports: Mapping[str, Sequence[Support]]
    cited: Mapping[str, Sequence[str]]
    onward: Mapping[str, Sequence[str]]
    derived: Mapping[str, Sequence[str]]

    def resting_on(self, source_ids: Collection[str]) -> dict[str, Sequence[str]]:
        """Mirrors ``Shown.resting_on``."""
        return {each: ids for each in source_ids if (ids := self.resting[each])}

    def supports_of(self, record_ids: Collection[str]) -> dict[str, Sequence[Support]]:
        """Mirrors ``Shown.supports_of``."""
        return {each: supports for each in record_ids if (supports := self.supports[each])}

    def cited_by(self, record_ids: Collection[str]) -> dict[str, Sequence[str]]:
        """Mirrors ``Shown.cited_by``, of what was read below."""
        return {each: ids for each in record_ids if (ids := self.cited[each])}

    def onward_from(self, record_id: str) -> Sequence[str]:
        """The records among those that a record cites."""
        return self.onward[record_id]

    def derived_from(self, event_ids: Collection[str]) -> dict[str, Sequence[str]]:
        """Mirrors ``derived_from``."""
        return {each: ids for each in event_ids if (ids := self.derived[each])}


class Shown:
    """The why graph as one reader may see it, for the length of one call: it asks for everything once.

    ``home`` tells the scopes of those records that the caller has at hand anyway. With ``seen_at`` it is
    the graph as it stood then.
    """

    def __init__(
        self,
        records: WhyGraph,
        tenant_id: str,
        may_read: MayRead,
        home: Home = lambda _: {},
        *,
        seen_at: Instant | None = None,
    ) -> None:
        self._records = records
        self._tenant_id = tenant_id
        self._may_read = may_read
        self._home = home
        self._seen_at = seen_at
        self._scopes: dict[str, Scope | None] = {}
        self._readable: dict[Scope, bool] = {}
        self._resting: dict[str, list[str]] = {}
        self._supports: dict[str, list[Support]] = {}
        self._cited: dict[str, list[str]] = {}
        self._onward: dict[str, list[str]] = {}
        self._derived: dict[str, list[str]] = {}
        self._hidden_ids: set[str] = set()

    @property
    def links(self) -> Links:
        """What was read so far, and what will be."""
        return Links(self._resting, self._supports, self._cited, self._onward, self._derived)

    def scopes_of(self, ids: Collection[str]) -> dict[str, Scope]:
        """Mirrors ``Records.scopes_of``."""
        self._look_at(set(ids))
        return {each: scope for each in ids if (scope := self._scopes[each]) is not None}

    def resting_on(self, source_ids: Collection[str]) -> dict[str, list[str]]:
        """Mirrors ``Records.resting_on``."""
        unknown = [each for each in source_ids if each not in self._resting]
        if unknown:
            found = self._records.resting_on(self._tenant_id, unknown, seen_at=self._seen_at)
            visible = self._visible(found)
            self._resting |= {source: visible.get(source, []) for source in unknown}
        return {each: ids for each in source_ids if (ids := self._resting[each])}

    def derived_from(self, event_ids: Collection[str]) -> dict[str, list[str]]:
        """Mirrors ``derived_from``, as the reader may see it."""
        unknown = [each for each in event_ids if each not in self._derived]
        if unknown:
            found = derived_from(unknown, self.resting_on)
            self._derived |= {each: found.get(each, []) for each in unknown}
        return {each: ids for each in event_ids if (ids := self._derived[each])}

    def supports_of(self, record_ids: Collection[str]) -> dict[str, list[Support]]:
        """Mirrors ``Records.supports_of``."""
        unknown = [each for each in record_ids if each not in self._supports]
        if unknown:
            found = self._records.supports_of(self._tenant_id, unknown, seen_at=self._seen_at)
            visible = self._supporting(found)
            self._supports |= {record: visible.get(record, []) for record in unknown}
        return {each: supports for each in record_ids if (supports := self._supports[each])}

    def supports_related(self, record_ids: Collection[str], relation: Tie) -> dict[str, list[Support]]:
        """Mirrors ``Records.supports_related``."""
        found = self._records.supports_related(self._tenant_id, record_ids, relation, seen_at=self._seen_at)
        return self._supporting(found)

    def ended_by(self, last: Mapping[str, Instant | None], seen_at: Instant) -> dict[str, list[str]]:
        """Mirrors ``Records.ended_by``, as it was by then."""
        found = self._records.ended_by(self._tenant_id, last)
        return self._seen_among(
            {
                each: [i for i, recorded_at in told.items() if recorded_at <= seen_at]
                for each, told in found.items()
            }
        )

    def read_below(self, record_ids: Collection[str], width: int) -> None:
        """Read in one step the first ``width`` ids of what each record rests on, and of the records among them what these rest on, down to
        events: ``cited_by`` has them at hand from then on."""
        front = [each for each in record_ids if each not in self._cited]
        if front:
            self._cite(front, _DEPTH_BELOW, width)

    def cited_by(self, record_ids: Collection[str], width: int) -> dict[str, list[str]]:
        """The first ``width`` ids of what each record rests on, each once; of a concept ``CONCEPT_SOURCES_MAX`` at most."""
        unknown = [each for each in record_ids if each not in self._cited]
        if unknown:
            self._cite(unknown, 1, width)
        return {each: ids for each in record_ids if (ids := self._cited[each])}

    def sources_of(self, record_ids: Collection[str]) -> dict[str, list[str]]:
        """The ids of what each record rests on, as often as it rests on each."""
        found = self._records.sources_below(self._tenant_id, record_ids, 1, 0, seen_at=self._seen_at)
        return self._seen_among(found)

    def sources_among(self, wanted: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
        """Mirrors ``Records.sources_among``."""
        return self._seen_among(self._records.sources_among(self._tenant_id, wanted, seen_at=self._seen_at))

    def _seen_among(self, found: Mapping[str, list[str]]) -> dict[str, list[str]]:
        """Lists of sources without those that the reader may not see, nor lists that are empty then."""
        hidden = self._hidden(set().union(*found.values()))
        return {each: shown for each, ids in found.items() if (shown := [i for i in ids if i not in hidden])}

    def _cite(self, record_ids: Collection[str], steps: int, width: int) -> None:
        # Twice as many as are shown: some may be hidden, or stand there for two relations.
        most = 2 * width
        below = self._records.sources_below(
            self._tenant_id, record_ids, steps, width, most=most, seen_at=self._seen_at
        )
        hidden = self._hidden(set().union(*below.values()))
        cited = {i: _first(below.get(i, ()), hidden, _cited_max(i, width)) for i in {*record_ids, *below}}
        short = [i for i, ids in below.items() if len(ids) == most and len(cited[i]) < _cited_max(i, width)]
        if short:
            whole = self.sources_of(short)
            cited |= {i: _first(whole.get(i, ()), (), _cited_max(i, width)) for i in short}
        self._cited |= cited
        self._onward |= {i: records_among(ids) for i, ids in cited.items()}

    def _visible(self, found: Mapping[str, list[str]]) -> dict[str, list[str]]:
        """Lists of records' ids without those that the reader may not see."""
        hidden = self._hidden(set().union(*found.values()))
        if not hidden:
            return dict(found)
        return {key: [each for each in ids if each not in hidden] for key, ids in found.items()}

    def _supporting(self, found: Mapping[str, list[Support]]) -> dict[str, list[Support]]:
        """Supports without those by what the reader may not see."""
        hidden = self._hidden({each.source_id for supports in found.values() for each in supports})
        if not hidden:
            return dict(found)
        return {
            key: [each for each in supports if each.source_id not in hidden]
            for key, supports in found.items()
        }

    def _hidden(self, ids: set[str]) -> Collection[str]:
        """What the reader may not see of the ids of events and records, and of all that were looked at before."""
        self._look_at(ids)
        return self._hidden_ids

    def _look_at(self, ids: set[str]) -> None:
        """Know the scopes of records, and of events whose words went, and which of these may not be seen."""
        new = ids.difference(self._scopes)
        if not new:
            return
        found = self._home(new)
        self._scopes |= found
        self._hide(found)
        elsewhere = sorted(new.difference(found))
        if elsewhere:
            self._scopes |= dict.fromkeys(elsewhere)
            records = records_among(elsewhere)
            found = self._records.scopes_of(self._tenant_id, records) if records else {}
            if len(records) < len(elsewhere):
                found |= self._records.redacted_among(self._tenant_id, [*filter(is_event, elsewhere)])
            self._scopes |= found
            self._hide(found)

    def _hide(self, found: Mapping[str, Scope]) -> None:
        unreadable = {scope for scope in set(found.values()) if not self._is_readable(scope)}
        if unreadable:
            self._hidden_ids.update(i for i, scope in found.items() if scope in unreadable)

    def _is_readable(self, scope: Scope) -> bool:
        readable = self._readable.get(scope)
        if readable is None:
            readable = self._readable[scope] = self._may_read(scope)
        return readable


def records_among(ids: Iterable[str]) -> list[str]:
    """Those of the ids that are not events'; a recall looks through thousands."""
    length = len(_EVENT_ID)
    return [each for each in ids if each[:length] != _EVENT_ID]


def _cited_max(record_id: str, width: int) -> int:
    return min(width, CONCEPT_SOURCES_MAX) if record_id.startswith(_CONCEPT_ID) else width


def _first(ids: Iterable[str], hidden: Collection[str], width: int) -> list[str]:
    """The first of the ids that are not hidden, each once."""
    return list(dict.fromkeys(each for each in ids if each not in hidden) if hidden else dict.fromkeys(ids))[
        :width
    ]


def derived_from(
    event_ids: Collection[str], resting_on: Callable[[Collection[str]], Mapping[str, Sequence[str]]]
) -> dict[str, list[str]]:
    """The ids of what rests on each event, directly or through other records, nearest first.

    At most ``limits.DERIVES_MAX`` for one event; an event that nothing rests on is left out.
    """
    found: dict[str, dict[str, None]] = {event_id: {} for event_id in event_ids}
    fronts: Mapping[str, Sequence[str]] = {event_id: [event_id] for event_id in event_ids}
    for _ in range(_DEPTH):
        resting = resting_on({source for front in fronts.values() for source in front})
        reached: dict[str, Sequence[str]] = {}
        for event_id, front in fronts.items():
            known, onward = found[event_id], list[str]()
            for source_id in front:
                for record_id in resting.get(source_id, ()):
                    if record_id in known or len(known) >= limits.DERIVES_MAX:
                        continue
                    if layer_of(record_id) is not None:
                        known[record_id] = None
                        onward.append(record_id)
            if onward:
                reached[event_id] = sorted(onward)
        if not reached:
            break
        fronts = reached
    return {event_id: list(ids) for event_id, ids in found.items() if ids}

"""Questions that several slices ask of a store, in terms of its ports.

An id says that something is there, so what is asked for a reader leaves out the records of scopes that they may not
read. Only a belief rests on records of another scope (``directives.consolidate_into``), and what was taken from an
event is in the event's own scope: behind a record that is left out, its events are too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from lamina import limits
from lamina.kernel.records import Support, is_event, layer_of
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import Tie
from lamina.kernel.time import Instant
from lamina.store.ports.records import Records

__all__ = ["Home", "Links", "MayRead", "Shown", "derived_from"]

MayRead = Callable[[Scope], bool]
"""Whether the reader may read a scope."""

Home = Callable[[str], Scope | None]
"""The scope of a record, None of one that is not at hand."""

_DEPTH = 3  # event -> fact or episode -> belief -> concept
_DEPTH_BELOW = 4


@dataclass(frozen=True, slots=True)
class Links:
    """The why graph as far as it was read, as one reader may see it. Who asks for more than that has a bug."""

    resting: Mapping[str, Sequence[str]]
    supports: Mapping[str, Sequence[Support]]
    sources: Mapping[str, Sequence[str]]

    def resting_on(self, source_ids: Collection[str]) -> dict[str, Sequence[str]]:
        """Mirrors ``Shown.resting_on``."""
        return {each: ids for each in source_ids if (ids := self.resting[each])}

    def supports_of(self, record_ids: Collection[str]) -> dict[str, Sequence[Support]]:
        """Mirrors ``Shown.supports_of``."""
        return {each: supports for each in record_ids if (supports := self.supports[each])}

    def sources_of(self, record_ids: Collection[str]) -> dict[str, Sequence[str]]:
        """Mirrors ``Shown.sources_of``."""
        return {each: ids for each in record_ids if (ids := self.sources[each])}

    def derived_from(self, event_ids: Collection[str]) -> dict[str, list[str]]:
        """Mirrors ``derived_from``."""
        return derived_from(event_ids, self.resting_on)


class Shown:
    """The why graph as one reader may see it, for the length of one call: it asks for everything once.

    ``home`` tells the scope of those records that the caller has at hand anyway, and None of others. With ``seen_at`` it is
    the graph as it stood then.
    """

    def __init__(
        self,
        records: Records,
        tenant_id: str,
        may_read: MayRead,
        home: Home = lambda _: None,
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
        self._sources: dict[str, list[str]] = {}

    @property
    def links(self) -> Links:
        """What was read so far, and what will be."""
        return Links(self._resting, self._supports, self._sources)

    def scopes_of(self, ids: Collection[str]) -> dict[str, Scope]:
        """Mirrors ``Records.scopes_of``."""
        unknown = []
        for each in ids:
            if each not in self._scopes:
                self._scopes[each] = scope = self._home(each)
                if scope is None:
                    unknown.append(each)
        if unknown:
            self._scopes |= self._records.scopes_of(self._tenant_id, unknown)
        return {each: scope for each in ids if (scope := self._scopes[each]) is not None}

    def resting_on(self, source_ids: Collection[str]) -> dict[str, list[str]]:
        """Mirrors ``Records.resting_on``."""
        unknown = [each for each in source_ids if each not in self._resting]
        if unknown:
            found = self._records.resting_on(self._tenant_id, unknown, seen_at=self._seen_at)
            hidden = self._hidden({each for ids in found.values() for each in ids})
            self._resting |= {
                source: [each for each in found.get(source, ()) if each not in hidden] for source in unknown
            }
        return {each: ids for each in source_ids if (ids := self._resting[each])}

    def read_above(self, source_ids: Collection[str], steps: int = _DEPTH) -> None:
        """Read in one statement what rests on sources, what rests on that, and so on, in so many steps: ``resting_on`` has it at hand
        from then on."""
        front = [each for each in source_ids if each not in self._resting]
        if not front:
            return
        above = self._records.resting_above(self._tenant_id, front, steps, seen_at=self._seen_at)
        hidden = self._hidden({each for ids in above.values() for each in ids})
        reached = set(front)
        for _ in range(steps):
            for source in front:
                self._resting[source] = [each for each in above.get(source, ()) if each not in hidden]
            # Through what is at hand already too: from here it may be a step nearer, and what rests on it is wanted.
            front = sorted({each for source in front for each in self._resting[source]} - reached)
            reached.update(front)

    def derived_from(self, event_ids: Collection[str]) -> dict[str, list[str]]:
        """Mirrors ``derived_from``, as the reader may see it."""
        return derived_from(event_ids, self.resting_on)

    def supports_of(self, record_ids: Collection[str]) -> dict[str, list[Support]]:
        """Mirrors ``Records.supports_of``."""
        unknown = [each for each in record_ids if each not in self._supports]
        if unknown:
            found = self._records.supports_of(self._tenant_id, unknown, seen_at=self._seen_at)
            hidden = self._hidden({support.source_id for supports in found.values() for support in supports})
            self._supports |= {
                record: [each for each in found.get(record, ()) if each.source_id not in hidden]
                for record in unknown
            }
        return {each: supports for each in record_ids if (supports := self._supports[each])}

    def supports_related(self, record_ids: Collection[str], relation: Tie) -> dict[str, list[Support]]:
        """Mirrors ``Records.supports_related``."""
        found = self._records.supports_related(self._tenant_id, record_ids, relation, seen_at=self._seen_at)
        hidden = self._hidden({support.source_id for supports in found.values() for support in supports})
        return {
            record: [each for each in supports if each.source_id not in hidden]
            for record, supports in found.items()
        }

    def ended_by(self, last: Mapping[str, Instant | None], seen_at: Instant) -> dict[str, list[str]]:
        """Mirrors ``Records.ended_by``."""
        found = self._records.ended_by(self._tenant_id, last, seen_at=seen_at)
        hidden = self._hidden({each for ids in found.values() for each in ids})
        return {record: [each for each in ids if each not in hidden] for record, ids in found.items()}

    def read_below(self, record_ids: Collection[str], width: int) -> None:
        """Read in one step the ids of what records rest on, and of the records among the first ``width`` of each what these rest on, down
        to events: ``sources_of`` has them at hand from then on."""
        front = [each for each in record_ids if each not in self._sources]
        if front:
            self._read_sources(front, _DEPTH_BELOW, width)

    def sources_of(self, record_ids: Collection[str]) -> dict[str, list[str]]:
        """The ids of what each record rests on, as often as it rests on each."""
        unknown = [each for each in record_ids if each not in self._sources]
        if unknown:
            self._read_sources(unknown, 1, 0)
        return {each: ids for each in record_ids if (ids := self._sources[each])}

    def _read_sources(self, record_ids: Collection[str], steps: int, width: int) -> None:
        below = self._records.sources_below(self._tenant_id, record_ids, steps, width, seen_at=self._seen_at)
        hidden = self._hidden({each for ids in below.values() for each in ids})
        for record_id in {*record_ids, *below}:
            self._sources[record_id] = [each for each in below.get(record_id, ()) if each not in hidden]

    def _hidden(self, ids: Collection[str]) -> set[str]:
        scopes = self.scopes_of([each for each in ids if not is_event(each)])
        for scope in set(scopes.values()) - self._readable.keys():
            self._readable[scope] = self._may_read(scope)
        return {each for each, scope in scopes.items() if not self._readable[scope]}


def derived_from(
    event_ids: Collection[str], resting_on: Callable[[Collection[str]], Mapping[str, Sequence[str]]]
) -> dict[str, list[str]]:
    """The ids of what rests on each event, directly or through other records, nearest first.

    At most ``limits.DERIVES_MAX`` for one event; an event that nothing rests on is left out.
    """
    found: dict[str, dict[str, None]] = {}
    frontier: dict[str, set[str]] = {event_id: {event_id} for event_id in event_ids}
    is_record: dict[str, bool] = {}
    for _ in range(_DEPTH):
        reached: dict[str, set[str]] = {}
        for source_id, ids in sorted(resting_on(frontier).items()):
            for record_id in ids:
                if record_id not in is_record:
                    is_record[record_id] = layer_of(record_id) is not None
                if not is_record[record_id]:
                    continue
                for event_id in frontier[source_id]:
                    known = found.setdefault(event_id, {})
                    if record_id not in known and len(known) < limits.DERIVES_MAX:
                        known[record_id] = None
                        reached.setdefault(record_id, set()).add(event_id)
        if not reached:
            break
        frontier = reached
    return {event_id: list(ids) for event_id, ids in found.items()}

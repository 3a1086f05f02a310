"""Reading events and episodes (seed 002, 8.7.1 and 8.7.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lamina.kernel.events import Event
from lamina.kernel.operations import Answer, Call
from lamina.kernel.records import Episode, Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.kernel.views import episode_view, event_view
from lamina.language.quarantine import quarantine_of
from lamina.recall.layers.pages import scan
from lamina.recall.layers.reach import reach_of, traversed
from lamina.recall.layers.reading import (
    cursor_after,
    not_found,
    one_record,
    one_seen_at,
    place_in,
    records_page,
    supports_by_record,
)
from lamina.recall.layers.words import axes_of, window_asked
from lamina.recall.wording import without_cancelled
from lamina.store.ports.log import EventQuery
from lamina.store.ports.records import RecordQuery
from lamina.store.ports.store import Store
from lamina.store.queries import Shown
from lamina.types.layer_requests import EpisodeId, EpisodesRequest, EventId, EventsRequest
from lamina.types.layers import EpisodePage, EventPage

__all__ = ["EventReads"]


class EventReads:
    """Handlers of the reads of events and episodes."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def events(self, request: EventsRequest, call: Call) -> Answer:
        """A page of events."""
        reach = reach_of(self._store, call, request.scope, request.view, as_of=request.as_of)
        place = place_in(request, self._store.log, call, reach.scopes)
        query = _event_query(request, call.principal.tenant_id, reach.scopes, place.snapshot)
        window = window_asked(self._store.definitions, call, request, place)
        labels = frozenset(request.labels)

        def fetch(last: Event | None, count: int) -> list[Event]:
            after = place.number if last is None else last.position
            return self._store.log.query(replace(query, after=after, limit=count))

        page = scan(
            fetch,
            request.limit,
            wanted=(lambda event: labels <= set(event.context.labels)) if labels else None,
        )
        seen_at = None if query.recorded_to is None else query.recorded_to - 1
        shown = Shown(self._store.records, query.tenant_id, call.may_read, seen_at=seen_at)
        derives = shown.derived_from([event.id for event in page.rows])
        warnings = reach.warnings
        if request.valid_during is not None or window is not None:
            warnings = (*warnings, "valid_during_ignored_for_events")
        result = EventPage(
            items=[event_view(event, derives.get(event.id, ()), quarantine_of(event)) for event in page.rows],
            next_cursor=None if page.last is None else place.cursor(page.last.position),
            has_more=page.last is not None,
            scopes_traversed=traversed(reach, self._store.log, call, page.rows),
        )
        return Answer(result, warnings=warnings)

    def event(self, request: EventId, call: Call) -> Answer:
        """One event; a cancelled one too, marked as such."""
        tenant_id = call.principal.tenant_id
        event = self._store.log.get(tenant_id, [request.event_id]).get(request.event_id)
        call.require_known(None if event is None else event.scope, not_found("event", request.event_id))
        assert event is not None, "it lies in a scope"
        derives = Shown(self._store.records, tenant_id, call.may_read).derived_from([event.id])
        rests = list(derives.get(event.id, ()))
        if event.redacted_by is not None:
            rests += [f"redacted:{each}" for each in self._store.erasing.derived_once(tenant_id, event.id)]
        return Answer(event_view(event, rests, quarantine_of(event)))

    def episodes(self, request: EpisodesRequest, call: Call) -> Answer:
        """A page of episodes."""
        reach = reach_of(self._store, call, request.scope, request.view, as_of=request.as_of)
        place = place_in(request, self._store.log, call, reach.scopes)
        axes = axes_of(self._store.definitions, call, request, place)
        if request.overlapping is not None and axes.valid_during is None:
            axes = replace(axes, valid_at=None)  # the range asked for takes the place of the pin
        query = RecordQuery(
            tenant_id=call.principal.tenant_id,
            layer=Layer.EPISODES,
            scopes=reach.scopes,
            axes=axes,
            session=request.session,
        )
        page = records_page(
            self._store.records,
            Episode,
            query,
            place,
            limit=request.limit,
            wanted=lambda episode: _is_wanted(episode, request),
        )
        supports = supports_by_record(self._store.records, call, page.rows, axes.seen_at)
        chain = request.with_causal_chain
        shown = without_cancelled(self._store, query.tenant_id, page.rows, seen_at=axes.seen_at)
        result = EpisodePage(
            items=[episode_view(each, supports(each.id), with_causal_chain=chain) for each in shown],
            next_cursor=cursor_after(place, page),
            has_more=page.last is not None,
            scopes_traversed=traversed(reach, self._store.log, call, page.rows),
        )
        return Answer(result, warnings=reach.warnings)

    def episode(self, request: EpisodeId, call: Call) -> Answer:
        """One episode."""
        records = self._store.records
        seen_at = one_seen_at(self._store.log, call, request.as_of)
        episode = one_record(records, call, Episode, request.episode_id, as_of=seen_at)
        supports = supports_by_record(records, call, [episode], seen_at)
        tenant_id = call.principal.tenant_id
        (shown,) = without_cancelled(self._store, tenant_id, [episode], seen_at=seen_at)
        return Answer(episode_view(shown, supports(episode.id)))


def _event_query(
    request: EventsRequest, tenant_id: str, scopes: Sequence[Scope], seen_at: Instant
) -> EventQuery:
    """Without ``as_of`` there is no bound to pin: pages go down in position, and what is new stands above them."""
    ends: list[Instant] = []
    if request.as_of is not None:
        ends.append(seen_at + 1)
    recorded = request.recorded_during
    if recorded is not None and recorded.end is not None:
        ends.append(recorded.end)
    return EventQuery(
        tenant_id=tenant_id,
        scopes=scopes,
        observed_from=request.since,
        observed_to=request.until,
        recorded_from=recorded.start if recorded else None,
        recorded_to=min(ends, default=None),
        observed_actor=request.observed_actor,
        session=request.session,
        modality=request.modality,
    )


def _is_wanted(episode: Episode, request: EpisodesRequest) -> bool:
    if request.observed_actor is not None and request.observed_actor not in episode.actors:
        return False
    span = request.overlapping
    # An episode holds its last moment: one of a single event still overlaps the range it lies in.
    return span is None or span.overlaps(episode.started_at, episode.ended_at + 1)

"""Episodes as the contract shows them (seed 002, 7.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lamina.kernel.records import Episode, EpisodeRole, Support, is_event
from lamina.kernel.views.parts import DerivedView, Stamp, common_fields
from lamina.kernel.wire import Result

__all__ = ["CausalStep", "EpisodeView", "episode_fields", "episode_view"]


class CausalStep(Result):
    """An event that moved the episode: its trigger, a decision, or the outcome."""

    event: str
    role: str


class EpisodeView(DerivedView):
    """A bounded span of related events, in their order.

    ``sealed`` episodes keep their events; to one that is not, a session of the same matter may add within a week, and ``session`` is that of
    the last event then. ``causal_predecessor`` is the episode that this one goes on from.
    ``causal_chain`` is null where a reader asked for no chain.
    """

    name: str
    summary: str | None
    events: list[str]
    started_at: Stamp
    ended_at: Stamp
    session: str | None
    actors_involved: list[str]
    centrality_score: float
    causal_chain: list[CausalStep] | None
    causal_predecessor: str | None
    sealed: bool


def episode_view(
    episode: Episode, supports: Sequence[Support] = (), *, with_causal_chain: bool = True
) -> EpisodeView:
    """The view of an episode; ``supports`` are those of the record, of which this version holds its first ``size``."""
    return EpisodeView(**episode_fields(episode, supports, with_causal_chain=with_causal_chain))


def episode_fields(
    episode: Episode, supports: Sequence[Support] = (), *, with_causal_chain: bool = True
) -> dict[str, Any]:
    """The fields of ``episode_view``."""
    members = sorted(
        (support for support in supports if is_event(support.source_id)),
        key=lambda support: support.place,
    )[: episode.size]
    chain = [
        {"event": member.source_id, "role": member.part}
        for member in members
        if member.part is not None and member.part != EpisodeRole.CONTEXT
    ]
    return {
        **common_fields(episode),
        "name": episode.name,
        "summary": episode.summary,
        "events": [member.source_id for member in members],
        "started_at": episode.started_at,
        "ended_at": episode.ended_at,
        "session": episode.session,
        "actors_involved": list(episode.actors),
        "centrality_score": episode.centrality,
        "causal_chain": chain if with_causal_chain else None,
        "causal_predecessor": episode.follows,
        "sealed": episode.sealed,
    }

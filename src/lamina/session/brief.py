"""The brief: Tier 1 from local state, and beside it what recall finds before the deadline."""

from __future__ import annotations

from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Answer, Call, Grant, Principal
from lamina.session.names import scope_of
from lamina.session.requests import Brief, BriefAsked, Identity
from lamina.session.tier_one import SessionStates
from lamina.store.ports import Store

__all__ = ["Briefing"]


class Briefing:
    """Handler of the read."""

    def __init__(self, store: Store) -> None:
        self._states = SessionStates(store)

    def grants(self, request: BriefAsked, principal: Principal) -> list[Grant]:  # noqa: ARG002 - the shape of grants
        """What a brief takes."""
        return [Grant(Capability.SCOPE_READ_LOCAL, scope_of(request.tenant_id, request.user_id))]

    def brief(self, request: BriefAsked, call: Call) -> Answer:
        """The memory for a turn."""
        tenant_id, now = call.principal.tenant_id, request.now
        scope = scope_of(request.tenant_id, request.user_id)
        state = self._states.state(tenant_id, scope, request.session_id)
        starts = request.mode == "session_start" or (request.mode is None and state.starts(now))
        return Answer(
            Brief(
                identity=Identity(),
                temporal_authority=state.authority(now),
                working_memory=list(state.turns),
                rolling_summary=state.summary,
                active_loops=[],
                semantic_context=[],
                entities=[],
                episode_bridge=self._states.bridge(tenant_id, scope, now) if starts else "",
            )
        )

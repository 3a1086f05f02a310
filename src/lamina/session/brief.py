"""The brief: Tier 1 from local state, and beside it what recall finds before the deadline."""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import Future

from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Answer, Call, Grant, Principal
from lamina.kernel.scopes import Scope
from lamina.session.associations import NOTHING, Associations, Associator
from lamina.session.identity import identity_shown
from lamina.session.loops import active_loops
from lamina.session.names import actor_of_user, scope_of
from lamina.session.tier_one import SessionStates
from lamina.store.ports.store import Store
from lamina.types.sessions import Brief, BriefAsked

__all__ = ["Briefing"]


class Briefing:
    """Handler of ``POST /brief``."""

    def __init__(self, store: Store, associator: Associator | None = None) -> None:
        self._store = store
        self._states = SessionStates(store)
        self._associator = associator

    def grants(self, request: BriefAsked, principal: Principal) -> list[Grant]:  # noqa: ARG002 - the shape of grants
        """What a brief takes."""
        return [Grant(Capability.SCOPE_READ_LOCAL, scope_of(request.tenant_id, request.user_id))]

    def brief(self, request: BriefAsked, call: Call) -> Answer:
        """The memory for a turn."""
        tenant_id, now = call.principal.tenant_id, request.now
        scope = scope_of(request.tenant_id, request.user_id)
        named: Future[str | None] = Future()
        all_of_it = request.include_quarantined
        found = self._asked(request, scope, call, named)  # first: what it waits for goes on beside the rest
        try:
            identity = identity_shown(
                self._store.records,
                tenant_id,
                scope,
                actor_of_user(request.user_id),
                now,
                with_quarantined=all_of_it,
            )
            named.set_result(identity.name)
        finally:
            named.cancel()  # nobody waits for a name that will not come
        state = self._states.state(tenant_id, scope, request.session_id, with_quarantined=all_of_it)
        starts = request.mode == "session_start" or (request.mode is None and state.starts(now))
        loops = active_loops(self._store, tenant_id, scope, now, with_quarantined=all_of_it)
        bridge = self._states.bridge(tenant_id, scope, now) if starts else ""
        beside = found(state.sitting.buffered if state.sitting is not None else ())
        return Answer(
            Brief(
                identity=identity,
                temporal_authority=state.authority(now),
                working_memory=list(state.turns),
                rolling_summary=state.summary,
                active_loops=loops,
                semantic_context=list(beside.context),
                entities=list(beside.entities),
                episode_bridge=bridge,
            )
        )

    def _asked(
        self, request: BriefAsked, scope: Scope, call: Call, named: Future[str | None]
    ) -> Callable[[Collection[str]], Associations]:
        if self._associator is None:
            return lambda _: NOTHING
        return self._associator.begin(
            request.query,
            scope,
            call,
            lambda _: named.result(),
            with_quarantined=request.include_quarantined,
        )

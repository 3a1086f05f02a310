"""The operations that forget."""

from __future__ import annotations

from typing import Any

from lamina.forget.forgetting import Forgetting
from lamina.forget.planning import RulesOf
from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Effect, Grant, Operation, Principal, Tier
from lamina.kernel.scopes import Scope
from lamina.store.ports.store import Store
from lamina.store.ports.tombstones import TombstoneList
from lamina.types.forgetting import Forget, Forgotten

__all__ = ["forget_operations"]


def forget_operations(store: Store, rules: RulesOf, tombstones: TombstoneList) -> list[Operation[Any]]:
    """The operations that forget a part of one scope."""
    return [
        Operation(
            name="forget",
            request=Forget,
            result=Forgotten,
            capability=Capability.FORGET_DERIVED_ONLY,
            effect=Effect.ERASE,
            tier=Tier.STABLE,
            grants=_grants,
            handler=Forgetting(store, rules, tombstones).forget,
            summary="Forget records of one scope, and the words that they came from if asked to.",
            fails=("EMPTY_SELECTOR_WITHOUT_CONFIRMATION", "INVALID_FILTER", "INVALID_RANGE", "LEGAL_HOLD"),
        )
    ]


def _grants(request: Forget, principal: Principal) -> list[Grant]:  # noqa: ARG001 - the port's shape
    words = request.cascade == "redact_events"
    capability = Capability.FORGET_REDACT_EVENTS if words else Capability.FORGET_DERIVED_ONLY
    return [Grant(capability, Scope(request.scope))]

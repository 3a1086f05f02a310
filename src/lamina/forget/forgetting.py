"""``POST /v1/forget``: one scope forgets what a selector fits (seed 002, 8.5 and 11)."""

from __future__ import annotations

from collections import Counter

from lamina.forget.planning import RulesOf
from lamina.forget.selecting import selected
from lamina.forget.stepping import erased_in_steps
from lamina.kernel.operations import Answer, Call
from lamina.kernel.records import Layer
from lamina.store.ports.erasing import Erasure
from lamina.store.ports.store import Store
from lamina.types.forgetting import Forget, Forgotten, ForgottenCounts

__all__ = ["Forgetting"]


class Forgetting:
    """The handler of the call."""

    def __init__(self, store: Store, rules: RulesOf) -> None:
        self._store = store
        self._rules = rules

    def forget(self, request: Forget, call: Call) -> Answer:
        """Forget, and say how much. Ids that name nothing in the scope are passed over: what is gone is gone."""
        assert call.audit_id is not None, "the operation is not open"
        tenant_id = call.principal.tenant_id
        rules = self._rules(tenant_id)
        chosen = selected(self._store, tenant_id, request)
        what: dict[str, str | int] = {
            "cascade": request.cascade,
            "events": len(chosen.events),
            "records": len(chosen.records),
        }
        call.noted["forgotten"] = [
            what if request.audit_note is None else what | {"audit_note": request.audit_note}
        ]
        erasure = Erasure(
            tenant_id=tenant_id,
            erasure_id=call.audit_id,
            by_actor=call.principal.actor,
            cascade=request.cascade,
            redact=chosen.events,
            records=chosen.records,
            audit_id=call.audit_id,
            factor=rules.factor,
            floor=rules.floor,
        )
        counts = Counter[Layer]()
        for step in erased_in_steps(self._store, erasure):
            counts[Layer.EVENTS] += len(step.redacted)
            counts.update({layer: len(ids) for layer, ids in step.gone.items()})
        deleted = ForgottenCounts.model_validate({layer.value: counts[layer] for layer in Layer})
        return Answer(Forgotten(deleted=deleted, audit_id=call.audit_id))

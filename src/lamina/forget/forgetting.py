"""``POST /v1/forget``: one scope forgets what a selector fits (seed 002, 8.5 and 11)."""

from __future__ import annotations

from dataclasses import replace

from lamina.errors import Conflict
from lamina.forget.planning import RulesOf
from lamina.forget.selecting import derived_alone, selected
from lamina.forget.stepping import erase_part
from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Answer, Call, Grant
from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope
from lamina.store.ports.erasing import Erasure
from lamina.store.ports.store import Store
from lamina.store.ports.tombstones import ListedErasure, TombstoneList
from lamina.types.forgetting import Cascade, Forget, Forgotten, ForgottenCounts

__all__ = ["Forgetting"]


class Forgetting:
    """The handler of ``POST /v1/forget``."""

    def __init__(self, store: Store, rules: RulesOf, tombstones: TombstoneList) -> None:
        self._store = store
        self._rules = rules
        self._tombstones = tombstones

    def forget(self, request: Forget, call: Call) -> Answer:
        """Forget, and say how much. Ids that name nothing in the scope are passed over: what is gone is gone."""
        assert call.audit_id is not None, "the operation is not open"
        tenant_id = call.principal.tenant_id
        rules = self._rules(tenant_id)
        request = request.under(request.cascade or rules.cascade)
        cascade: Cascade = request.cascade or rules.cascade
        if cascade == "redact_events":  # where the tenant's policy says so, nobody asked for its grant yet
            call.permits.require(Grant(Capability.FORGET_REDACT_EVENTS, Scope(request.scope)))
        if any(hold.scope.contains(Scope(request.scope)) for hold in rules.holds):
            raise _held(request)
        chosen = selected(self._store, tenant_id, request)
        records = chosen.records
        if request.with_derived:
            records |= derived_alone(self._store, tenant_id, request, chosen.fitting)
        what: dict[str, str | int] = {
            "cascade": cascade,
            "events": len(chosen.events),
            "records": len(records),
        }
        call.noted["forgotten"] = [
            what if request.audit_note is None else what | {"audit_note": request.audit_note}
        ]
        erasure = Erasure(
            tenant_id=tenant_id,
            erasure_id=call.audit_id,
            by_actor=call.principal.actor,
            cascade=cascade,
            redact=chosen.events | chosen.decisions,
            records=records,
            audit_id=call.audit_id,
            factor=rules.factor,
            floor=rules.floor,
        )
        counts = erase_part(self._store, self._tombstones, erasure, _listed(erasure, request, call))
        # What a worker drew of a turn meanwhile; of a turn without its words it draws nothing any more.
        while request.with_derived and (
            late := derived_alone(self._store, tenant_id, request, chosen.fitting) - records
        ):
            records |= late
            erasure = replace(erasure, redact=(), records=late)
            counts += erase_part(self._store, self._tombstones, erasure, _listed(erasure, request, call))
        deleted = ForgottenCounts.model_validate({layer.value: counts[layer] for layer in Layer})
        return Answer(Forgotten(deleted=deleted, audit_id=call.audit_id))


def _held(request: Forget) -> Conflict:
    """Why a hold is there is the tenant's own business, so it is not named."""
    return Conflict(
        "LEGAL_HOLD",
        f"a legal hold keeps everything in {request.scope}",
        hint="an administrator of the tenant lifts it in the tenant's policy (legal_holds)",
        details={"scope": request.scope},
    )


def _listed(erasure: Erasure, request: Forget, call: Call) -> ListedErasure:
    return ListedErasure(
        tenant_id=erasure.tenant_id,
        id=erasure.erasure_id,
        at=call.now,
        by_actor=erasure.by_actor,
        cascade=erasure.cascade,
        scope=Scope(request.scope),
        events=tuple(sorted(erasure.redact)),
        records=tuple(sorted(erasure.records)),
        audit_id=erasure.audit_id,
        factor=erasure.factor,
        floor=erasure.floor,
    )

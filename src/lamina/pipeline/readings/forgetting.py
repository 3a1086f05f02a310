"""Forgetting what models answered about turns: the rules' reading of these comes back."""

from __future__ import annotations

from typing import Any

from lamina.errors import NotFound
from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Answer, Call, Effect, Grant, Operation, Tier
from lamina.kernel.ties import Tie
from lamina.store.ports.store import Store
from lamina.types.lifecycle import AnswerForgotten, ForgetAnswer

__all__ = ["forget_reading", "reading_operations"]


def forget_reading(store: Store, tenant_id: str, event_id: str) -> int:
    """Delete the answers by which a turn was read, and nothing that was answered about others beside it; how many there were. Its scope is
    derived anew behind the calls."""
    ties = store.records.supports_of(tenant_id, [event_id]).get(event_id, [])
    entries = store.log.get(tenant_id, {each.source_id for each in ties if each.relation == Tie.READ_BY})
    hashes = {each.reads.input_hash for each in entries.values() if each.reads is not None}
    gone = store.model_outputs.drop(tenant_id, sorted(hashes)) if hashes else 0
    if gone:
        store.rederivation.ask(tenant_id, sorted({each.scope for each in entries.values()}))
    return gone


def reading_operations(store: Store) -> list[Operation[Any]]:
    """The operation of those who run the server on what models read."""

    def forget(request: ForgetAnswer, call: Call) -> Answer:
        tenant_id, event_id = call.principal.tenant_id, request.event_id
        event = store.log.get(tenant_id, [event_id]).get(event_id)
        if event is None or not call.may_read(event.scope):
            raise NotFound(
                "NOT_FOUND", "there is no such event", hint="GET /v1/events lists events with their ids"
            )
        return Answer(
            AnswerForgotten(event_id=event_id, forgotten=forget_reading(store, tenant_id, event_id))
        )

    return [
        Operation(
            name="answer_forget",
            request=ForgetAnswer,
            result=AnswerForgotten,
            capability=Capability.ADMIN_FLUSH,
            effect=Effect.WRITE,
            tier=Tier.EXPERIMENTAL,
            grants=lambda r, p: [Grant(Capability.ADMIN_FLUSH)],  # noqa: ARG005 - the port's shape
            handler=forget,
            summary="Forget what a model read in one turn: the rules' reading comes back.",
            fails=("NOT_FOUND",),
        )
    ]

"""``GET /health`` of the Relay and Synapse contracts: that the server answers, and the newest commit."""

from __future__ import annotations

from typing import Any, Final

from lamina import __version__
from lamina.kernel.operations import Answer, Call, Effect, Operation, Tier
from lamina.kernel.time import rfc3339
from lamina.kernel.wire import Request, Result
from lamina.store.ports.store import Store

__all__ = ["RELAY_CONTRACT", "relay_health_operations"]

RELAY_CONTRACT: Final = "2026-02-25"


class RelayHealthRequest(Request):
    """Nothing to ask."""


class RelayHealth(Result):
    """That the server answers. ``ok`` is false and ``status`` "degraded" while the disk refuses writes.

    ``latest_commit`` is null before the first, and where callers have tenants of their own.
    """

    ok: bool
    status: str
    service: str
    version: str
    contract_version: str
    git_initialized: bool
    latest_commit: str | None
    signed_ingress_required: bool
    time: str


def relay_health_operations(
    store: Store, tenant_id: str | None, *, signed_ingress: bool = False
) -> list[Operation[Any]]:
    """The open operation. ``tenant_id`` is the one tenant of the deployment; None where a commit would tell on one.

    ``signed_ingress`` is whether messages need a signed envelope.
    """

    def health(request: RelayHealthRequest, call: Call) -> Answer:  # noqa: ARG001 - the port's shape
        head = None if tenant_id is None else store.documents.head(tenant_id)
        writes = not store.upkeep.refuses()
        return Answer(
            RelayHealth(
                ok=writes,
                status="healthy" if writes else "degraded",
                service="lamina",
                version=__version__,
                contract_version=RELAY_CONTRACT,
                git_initialized=True,  # a tenant's repository is made with its first document
                latest_commit=head.sha if head and head.sha else None,
                signed_ingress_required=signed_ingress,
                time=rfc3339(call.now),
            )
        )

    return [
        Operation(
            name="relay_health",
            request=RelayHealthRequest,
            result=RelayHealth,
            capability="",
            effect=Effect.READ,
            tier=Tier.BETA,
            handler=health,
            summary="Whether the server answers, and the newest commit of its documents; needs no token.",
            open=True,
        )
    ]

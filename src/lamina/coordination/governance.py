"""``GET /v1/governance/policy``: how this server thinks of authority, and grants that are given often. Data only: nothing applies it."""

from __future__ import annotations

from typing import Any, Final

from pydantic import ConfigDict
from pydantic_core import from_json

from lamina import limits
from lamina.kernel.operations import Answer, Call, Effect, Operation, Tier
from lamina.kernel.relay import TEMPLATES
from lamina.kernel.wire import Request, Result
from lamina.store.ports.documents import Documents

__all__ = ["GOVERNANCE_PATH", "governance_operations"]

GOVERNANCE_PATH: Final = "config/governance_policy.json"

_DEFAULT: Final[dict[str, Any]] = {  # Any: JSON
    "schema_version": "1.0",
    "authority_model": {
        "issuer": "hosting_agent",
        "description": "Who hosts the server issues tokens, registers peers and decides how far each is trusted. What peers send is "
        "evidence and advice, and becomes nobody's truth by arriving.",
    },
    "scope_templates": {
        name: {
            "scopes": sorted(grant.rights),
            "read_namespaces": sorted(grant.read_namespaces),
            "write_namespaces": sorted(grant.write_namespaces),
        }
        for name, grant in TEMPLATES.items()
    },
    "incident_response": {
        "token_compromise": [
            "Revoke the token, or all tokens of its peer: POST /v1/security/tokens/revoke.",
            "Look in the audit log for what was done with it since it was issued.",
            "Rotate the signing key without grace if the peer held it: POST /v1/security/keys/rotate with retire_previous.",
            "Issue a narrower token, and trust the peer again only for a reason that is written down.",
        ],
        "replication_conflict": [
            "Stop pulling from the peer, and keep both versions: each is in the history of its document.",
            "Open a reconciliation that names the versions, and let the owner decide.",
            "Resume with the policy that the decision asks for.",
        ],
    },
    "audit_retention": {"api_audit_days": 90, "security_events_days": 180},
}


class ReadGovernance(Request):
    """Nothing to ask; what is sent along is ignored."""

    model_config = ConfigDict(extra="ignore")


class GovernancePolicy(Result):
    """The policy. Keys of the tenant's own file take the place of the server's."""

    ok: bool = True
    policy: dict[str, Any]  # Any: JSON, partly the tenant's own


def governance_operations(documents: Documents, tenant_id: str | None) -> list[Operation[Any]]:
    """The open operation. ``tenant_id`` is the one tenant of the deployment; None where a file would tell on one."""

    def read(request: ReadGovernance, call: Call) -> Answer:  # noqa: ARG001 - the port's shape
        own = {} if tenant_id is None else _own(documents, tenant_id)
        return Answer(GovernancePolicy(policy={**_DEFAULT, **own}))

    return [
        Operation(
            name="relay_governance",
            request=ReadGovernance,
            result=GovernancePolicy,
            capability="",
            effect=Effect.READ,
            tier=Tier.STABLE,
            handler=read,
            summary="How authority is thought of here, and grants that are given often.",
            open=True,
        )
    ]


def _own(documents: Documents, tenant_id: str) -> dict[str, Any]:  # Any: JSON
    """What the tenant's file says; nothing where it is no object, or larger than a page may be."""
    document = documents.read(tenant_id, GOVERNANCE_PATH)
    if document is None or len(document.content) > limits.GOVERNANCE_BYTES_MAX:
        return {}
    try:
        value = from_json(document.content, allow_inf_nan=False)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}

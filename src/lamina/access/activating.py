"""Which vocabularies a policy makes active: the entry of the log that its change is."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.errors import Invalid
from lamina.kernel.defining import definition_entry
from lamina.kernel.operations import Call
from lamina.kernel.vocabularies import ACTIVE_VOCABULARIES, VOCABULARY
from lamina.store.ports.definitions import Definitions
from lamina.store.ports.registry import Activation

__all__ = ["activation_at", "require_registered"]


def activation_at(
    place: str, vocabularies: Sequence[str] | None, call: Call, *, tenant_id: str | None = None
) -> Activation:
    """What a place of policy (``kernel/vocabularies.activation_names``) says is active; None where it says nothing."""
    said = {"place": place, "vocabularies": None if vocabularies is None else list(vocabularies)}
    return Activation(definition_entry(call, ACTIVE_VOCABULARIES, said, tenant_id=tenant_id), place)


def require_registered(definitions: Definitions, tenant_id: str, vocabularies: Sequence[str] | None) -> None:
    """Nothing, or ``Invalid`` (UNKNOWN_VOCABULARY). None is ever taken away, so one that is there stays."""
    known = definitions.named(tenant_id, VOCABULARY, vocabularies or ())
    unknown = sorted(set(vocabularies or ()) - known.keys())
    if unknown:
        raise Invalid(
            "UNKNOWN_VOCABULARY",
            f"vocabulary {unknown[0]!r} is not registered",
            hint="register it first, with POST /v1/vocabularies; GET /v1/vocabularies lists them",
            details={"field": "vocabularies", "unknown": unknown},
        )

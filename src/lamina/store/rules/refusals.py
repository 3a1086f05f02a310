"""What every engine refuses in the same words, where no rule goes with it."""

from __future__ import annotations

from lamina import limits
from lamina.errors import Conflict, NotFound, TooLarge
from lamina.store.ports.idempotency import IdempotencyEntry

__all__ = [
    "check_same",
    "key_exists",
    "list_is_full",
    "not_registered",
    "registration_exists",
    "token_exists",
]


def check_same(known: IdempotencyEntry, body_hash: str) -> None:
    """Nothing when the body is the one that the key was first used with; ``Conflict`` otherwise."""
    if known.body_hash != body_hash:
        raise Conflict(
            "IDEMPOTENCY_CONFLICT",
            "this idempotency key was used with another body",
            hint="use a new key for a new request; repeat the old request unchanged to replay it",
            details={"idempotency_key": known.key.key},
        )


def registration_exists(path: str) -> Conflict:
    """The refusal of registering a scope again."""
    return Conflict(
        "SCOPE_REGISTRATION_EXISTS",
        f"{path[:200]} is registered already",
        hint="change its members with PUT /v1/scopes/members, its policy with PUT /v1/policy/scope",
        details={"scope": path},
    )


def not_registered(path: str) -> NotFound:
    """The refusal of changing the members of a scope that has none."""
    return NotFound(
        "NOT_FOUND",
        f"{path[:200]} is not registered",
        hint="register it with POST /v1/scopes",
        details={"scope": path},
    )


def token_exists(token_id: str) -> Conflict:
    """The refusal of a Relay token whose id or hash is known."""
    return Conflict("TOKEN_EXISTS", f"there is a token {token_id}", hint="choose another id")


def key_exists(key_id: str) -> Conflict:
    """The refusal of a signing key whose id is known."""
    return Conflict("KEY_EXISTS", f"there is a signing key {key_id}", details={"key_id": key_id})


def list_is_full(tenant_id: str) -> TooLarge:
    """The refusal of a revocation for which there is no room."""
    return TooLarge(
        "REVOCATION_LIST_FULL",
        f"{limits.REVOCATIONS_MAX} tokens of tenant {tenant_id} are revoked, and no more fit",
        hint="take the issuer's key out of the issuers file, and let it issue tokens for a shorter time",
        details={"revocations_max": limits.REVOCATIONS_MAX},
    )

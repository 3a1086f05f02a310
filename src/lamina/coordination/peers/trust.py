"""How the registration of a peer may change, as functions of values: the policy of transitions, and what a change makes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from lamina.coordination.peers.requests import ChangeTrust, RegisterPeer
from lamina.errors import Conflict, Malformed
from lamina.kernel.relay import RelayRight
from lamina.kernel.time import Instant
from lamina.store.ports.peers import Peer, TrustLevel, TrustStep

__all__ = ["POLICY_PATH", "TransitionPolicy", "fingerprint", "registered", "retrusted", "transition_policy"]

POLICY_PATH: Final = "peers/trust_policies.json"


class TransitionPolicy(BaseModel):
    """Which level of trust leads to which, and what a change takes."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    schema_version: str = "1.0"
    allowed_transitions: Mapping[TrustLevel, Sequence[TrustLevel]] = {
        "untrusted": ["restricted"],
        "restricted": ["trusted", "untrusted"],
        "trusted": ["restricted"],
    }
    require_reason_on_transition: bool = True
    require_fingerprint_for_trusted: bool = True

    def stored(self) -> dict[str, Any]:  # Any: JSON
        """The policy as its file has it."""
        return self.model_dump(mode="json")


def transition_policy(stored: bytes | None) -> TransitionPolicy:
    """The policy in a file; the default, which asks for the most, where there is none or it cannot be read."""
    try:
        return TransitionPolicy() if stored is None else TransitionPolicy.model_validate_json(stored)
    except ValidationError:
        return TransitionPolicy()


def fingerprint(public_key: str) -> str:
    """``sha256:<hex>`` of a key's text."""
    return f"sha256:{hashlib.sha256(public_key.encode()).hexdigest()}"


@dataclass(frozen=True, slots=True)
class _Change:
    at: Instant
    by: str
    reason: str | None

    def step(self, before: TrustLevel | None, to: TrustLevel) -> TrustStep:
        return TrustStep(self.at, before, to, self.reason, self.by)


def registered(
    known: Peer | None, request: RegisterPeer, policy: TransitionPolicy, *, at: Instant, by: str
) -> Peer:
    """The registration that a request makes. A new key takes the place of the one before, with its fingerprint.

    Raises ``Malformed`` (INVALID_PEER), ``Conflict`` (FINGERPRINT_MISMATCH, PEER_TRANSITION_DENIED).
    """
    unknown = sorted(set(request.allowed_scopes) - set(RelayRight))
    if unknown:
        raise _invalid("allowed_scopes", f"there is no scope {unknown[0]!r}")
    change = _Change(at, by, request.transition_reason or None)
    level, sent = request.trust_level, request.public_key
    key = sent if sent is not None or known is None else known.public_key
    mark = known.public_key_fingerprint if known is not None else None
    if sent is not None:
        mark = fingerprint(sent)
    _check_expected(request.expected_public_key_fingerprint, mark)
    before = known.trust_level if known is not None else None
    if level == "trusted" and policy.require_fingerprint_for_trusted and mark is None:
        raise _invalid("public_key", "is needed of a peer that is trusted")
    steps = known.history if known is not None else ()
    if before != level:
        if before is not None:
            _check_transition(policy, before, level)
            if policy.require_reason_on_transition and change.reason is None:
                raise _invalid("transition_reason", f"is needed to go from {before} to {level}")
        steps = (*steps, change.step(before, level))
    return Peer(
        peer_id=request.peer_id,
        base_url=request.base_url,
        public_key=key,
        public_key_fingerprint=mark,
        capabilities_url=request.capabilities_url,
        trust_level=level,
        allowed_scopes=tuple(dict.fromkeys(request.allowed_scopes)),
        created_at=known.created_at if known is not None else at,
        updated_at=at,
        history=steps,
    )


def retrusted(known: Peer, request: ChangeTrust, policy: TransitionPolicy, *, at: Instant, by: str) -> Peer:
    """The registration with another level of trust, or the same, said again for a reason. Raises as ``registered`` does."""
    _check_expected(request.expected_public_key_fingerprint, known.public_key_fingerprint)
    if known.trust_level != request.trust_level:
        _check_transition(policy, known.trust_level, request.trust_level)
    step = _Change(at, by, request.reason).step(known.trust_level, request.trust_level)
    return replace(known, trust_level=request.trust_level, updated_at=at, history=(*known.history, step))


def _check_expected(expected: str | None, mark: str | None) -> None:
    if expected is not None and expected != mark:
        raise Conflict("FINGERPRINT_MISMATCH", "the peer's key has another fingerprint than the one expected")


def _check_transition(policy: TransitionPolicy, before: TrustLevel, to: TrustLevel) -> None:
    allowed = policy.allowed_transitions.get(before, ())
    if to not in allowed:
        raise Conflict(
            "PEER_TRANSITION_DENIED",
            f"trust does not go from {before} to {to}",
            hint=f"from {before} it goes to {', '.join(allowed) or 'nothing'}",
            details={"from": before, "to": to},
        )


def _invalid(field: str, reason: str) -> Malformed:
    return Malformed("INVALID_PEER", f"{field} {reason}", details={"field": field})

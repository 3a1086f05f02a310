"""Signed envelopes: whether one proves what it came with, and who may be said to have sent a message."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from lamina.coordination.messages.names import refused
from lamina.coordination.messages.requests import SignedEnvelope, Verification, VerificationReason
from lamina.errors import Forbidden, Invalid, Malformed, NotFound, Unauthenticated
from lamina.kernel.canonical import canonical
from lamina.kernel.operations import Call
from lamina.kernel.signatures import SIGNATURE_ALGORITHM, Signatures, signed_bytes
from lamina.kernel.time import SECOND_US, Instant, instant
from lamina.store.ports.messages import Messages, SeenNonce
from lamina.store.tallies import Bucket, Buckets

__all__ = ["FailureBounds", "Proof", "ProvedEnvelope", "Proving", "VerificationFailures"]

_TALLY: Final = "verification failures"
Json = Mapping[str, Any]  # Any: JSON


@dataclass(frozen=True, slots=True)
class FailureBounds:
    """After how many refused envelopes within ``window_s`` a caller is not listened to."""

    most: int
    window_s: int


class VerificationFailures:
    """How many envelopes of each caller were refused lately, counted by all processes together."""

    def __init__(self, buckets: Buckets, bounds: FailureBounds) -> None:
        self._buckets = buckets
        self._bounds = bounds

    def throttles(self, failures: int) -> bool:
        """Whether so many are too many."""
        return failures >= self._bounds.most

    def count(self, call: Call, *, more: int = 0) -> int:
        """The failures within the window, with so many more. They wear off evenly over that time."""
        name, most = _tally_of(call), self._bounds.most
        with self._buckets.held() as table:
            held = table.get(name) or Bucket(most, call.now)
            passed = max(0, call.now - held.at) / (self._bounds.window_s * SECOND_US)
            left = min(most, held.tokens + passed * most)
            if more:
                left = max(0.0, left - more)
                table.put(name, Bucket(left, call.now))
        return most - math.floor(left)


def _tally_of(call: Call) -> tuple[str, ...]:
    caller, token = call.principal, call.principal.token
    return (_TALLY, caller.tenant_id, caller.actor if token is None else f"{token.iss} {token.jti}")


@dataclass(frozen=True, slots=True)
class ProvedEnvelope:
    """What an envelope proves, and its nonce, which is not used up yet."""

    verification: Verification
    nonce: SeenNonce


@dataclass(frozen=True, slots=True)
class Proof:
    """Who is said to have sent a message: whether that was proved, and by which envelope, whose nonce lands with the message."""

    verified: bool
    judged: ProvedEnvelope | None = None

    @property
    def nonce(self) -> SeenNonce | None:
        """What is used up with the message."""
        return None if self.judged is None else self.judged.nonce

    def shown(self, *, used: bool) -> Verification | None:
        """The verification as the answer has it."""
        found = None if self.judged is None else self.judged.verification
        return None if found is None else found.model_copy(update={"nonce_consumed": used})


class Proving:
    """Judges envelopes. ``strict`` takes no message without one."""

    def __init__(
        self, messages: Messages, signatures: Signatures, failures: VerificationFailures, *, strict: bool
    ) -> None:
        self._messages = messages
        self._signatures = signatures
        self._failures = failures
        self._strict = strict

    def of_sender(
        self, call: Call, sender: str, payload: Json, envelope: SignedEnvelope | None, *, repeated: bool
    ) -> Proof:
        """The proof that ``sender`` sends what ``payload`` says; raises ``Forbidden`` (SENDER_NOT_PROVEN) where there is none.

        ``repeated`` is what was sent before under the same key: then the envelope of then proves it again. Raises as
        ``if_signed`` does.
        """
        proof = self.if_signed(call, sender, payload, envelope, repeated=repeated)
        if not proof.verified:
            raise Forbidden(
                "SENDER_NOT_PROVEN",
                f"{call.relay.peer_id[:64]!r} may not send as {sender[:64]!r} without an envelope that proves it",
                hint="send as yourself, or sign the message with a key of this server: signed_envelope",
                details={"field": "sender"},
            )
        return proof

    def if_signed(
        self,
        call: Call,
        sender: str,
        payload: Json,
        envelope: SignedEnvelope | None,
        *,
        repeated: bool = False,
    ) -> Proof:
        """Whether it is proved that ``sender`` sends this: by the caller's token, or by an envelope.

        Raises ``Malformed`` (SIGNATURE_REQUIRED) where envelopes are asked of everybody, ``Unauthenticated``
        (ENVELOPE_REFUSED) for one that proves nothing, and as ``judge`` does.
        """
        if envelope is None:
            if self._strict:
                raise _unsigned()
            return Proof(sender == call.relay.peer_id)
        judged = self.judge(call, payload, envelope, repeated=repeated)
        found = judged.verification
        if not found.valid:
            raise Unauthenticated(
                "ENVELOPE_REFUSED",
                f"the signed envelope does not prove who sent this: {found.reason}",
                hint="sign the very fields that are sent, with a fresh nonce and an expiry ahead",
                details={"reason": found.reason, "failure_count": found.failure_count},
            )
        return Proof(verified=True, judged=judged)

    def judge(
        self, call: Call, payload: Json, envelope: SignedEnvelope, *, repeated: bool = False
    ) -> ProvedEnvelope:
        """What an envelope proves of a payload. A refused one is counted; who had too many refused is not listened to for a while.

        Raises ``Malformed`` (INVALID_MESSAGE), ``NotFound`` (KEY_NOT_FOUND), ``Unavailable`` (KEY_UNREADABLE, KEY_FILE_UNUSABLE).
        """
        if envelope.algorithm != SIGNATURE_ALGORITHM:
            raise refused("algorithm", f"only {SIGNATURE_ALGORITHM} is taken")
        expires_at = _expiry(envelope.expires_at)
        nonce = SeenNonce(_hash(envelope), call.now, expires_at)
        failures = self._failures.count(call)
        if self._failures.throttles(failures):
            return ProvedEnvelope(_verification(envelope, "verification_throttled", failures), nonce)
        try:
            holds = self._signatures.holds(
                call.principal.tenant_id,
                envelope.key_id,
                _signed(payload, envelope),
                envelope.signature,
                call.now,
            )
        except NotFound:
            self._failures.count(call, more=1)
            raise
        reason: VerificationReason = "ok"
        if not holds:
            reason = "invalid_signature"
        elif expires_at is not None and expires_at <= call.now:
            reason = "expired"
        elif not repeated and self._messages.seen(call.principal.tenant_id, nonce):
            reason = "replay_detected"
        if reason != "ok":
            failures = self._failures.count(call, more=1)
        return ProvedEnvelope(_verification(envelope, reason, failures), nonce)

    def used(self, call: Call, judged: ProvedEnvelope) -> ProvedEnvelope:
        """The same with its nonce used up; what somebody else used up meanwhile is a replay."""
        found = judged.verification
        if self._messages.use(call.principal.tenant_id, judged.nonce):
            return replace(judged, verification=found.model_copy(update={"nonce_consumed": True}))
        failures = self._failures.count(call, more=1)
        more = {
            "valid": False,
            "reason": "replay_detected",
            "replay_detected": True,
            "failure_count": failures,
        }
        return replace(judged, verification=found.model_copy(update=more))


def _unsigned() -> Malformed:
    return Malformed(
        "SIGNATURE_REQUIRED",
        "this server takes messages with a signed envelope only",
        hint="sign the message: signed_envelope",
        details={"field": "signed_envelope"},
    )


def _expiry(text: str | None) -> Instant | None:
    if text is None:
        return None
    try:
        return instant(text)
    except Invalid as error:
        raise refused("expires_at", "must be a time of RFC 3339") from error


def _hash(envelope: SignedEnvelope) -> str:
    return hashlib.sha256(canonical([envelope.key_id, envelope.nonce])).hexdigest()


def _signed(payload: Json, envelope: SignedEnvelope) -> bytes:
    try:
        return signed_bytes(
            payload, key_id=envelope.key_id, nonce=envelope.nonce, expires_at=envelope.expires_at
        )
    except ValueError as error:
        raise refused("payload", "has a number or a letter that is none in JSON") from error


def _verification(envelope: SignedEnvelope, reason: VerificationReason, failures: int) -> Verification:
    return Verification(
        valid=reason == "ok",
        reason=reason,
        algorithm=envelope.algorithm,
        key_id=envelope.key_id,
        nonce=envelope.nonce,
        expires_at=envelope.expires_at,
        signature_valid=reason in ("ok", "expired", "replay_detected"),
        expired=reason == "expired",
        replay_detected=reason == "replay_detected",
        consume_nonce=envelope.consume_nonce,
        nonce_consumed=False,
        failure_count=failures,
    )

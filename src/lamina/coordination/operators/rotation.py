"""The job that says which tokens end soon, and which key is signed with (Relay contract 1.16)."""

from __future__ import annotations

from lamina.coordination.operators.requests import CheckRotation, ExpiringToken, RotationChecked
from lamina.kernel.operations import Answer, Call
from lamina.kernel.time import SECOND_US, rfc3339
from lamina.store.ports.relay_tokens import RelayTokens
from lamina.store.ports.signing_keys import SealedKeys

__all__ = ["Rotation"]


class Rotation:
    """Lists tokens that end soon and the key that is signed with. It rotates nothing itself."""

    def __init__(self, tokens: RelayTokens, keys: SealedKeys) -> None:
        self._tokens = tokens
        self._keys = keys

    def check(self, request: CheckRotation, call: Call) -> Answer:
        """Tokens that hold now and end within the time, the next to end first."""
        tenant_id, now = call.principal.tenant_id, call.now
        until = now + request.lookahead_hours * 3600 * SECOND_US
        ending = sorted(
            (token.expires_at, token.id, token.peer_id)
            for token in self._tokens.listed(tenant_id)
            if token.revoked_at is None and token.expires_at is not None and now < token.expires_at <= until
        )
        active = next((key for key in self._keys.listed(tenant_id) if key.is_active), None)
        return Answer(
            RotationChecked(
                checked_at=rfc3339(now),
                lookahead_hours=request.lookahead_hours,
                active_key_id=None if active is None else active.key_id,
                active_key_status="missing" if active is None else "active",
                expiring_tokens=[
                    ExpiringToken(token_id=token_id, peer_id=peer_id, expires_at=rfc3339(ends))
                    for ends, token_id, peer_id in ending
                ],
                expiring_token_count=len(ending),
            )
        )

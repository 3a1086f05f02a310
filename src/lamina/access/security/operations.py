"""The operations on tokens and signing keys: for who administers peers, each in a rate bucket of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel

from lamina import limits
from lamina.access.security import requests
from lamina.access.security.keyring import Keyring
from lamina.access.security.tokens import TokenHandlers, newest_commit, require_no_key
from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Answer, Call, Effect, Operation, Tier
from lamina.kernel.relay import Mode, RelayNeed, RelayRight
from lamina.kernel.time import rfc3339
from lamina.store.ports.documents import Documents
from lamina.store.ports.signing_keys import SealedKey

__all__ = ["KeyHandlers", "security_operations"]

_TOKENS: Final = "config/peer_tokens.json"
_KEYS: Final = "config/security_keys.json"
"""Where the contract has them: namespaces are compared with it. Nothing stands there."""


@dataclass(frozen=True, slots=True)
class KeyHandlers:
    """Rotate the signing keys of the caller's tenant."""

    keyring: Keyring
    documents: Documents

    def rotate(self, request: requests.RotateKey, call: Call) -> Answer:
        """Make a key, or activate a staged one. Its secret is in the answer for who asks for it."""
        require_no_key(call)
        tenant_id, now = call.principal.tenant_id, call.now
        grace_s = 0 if request.retire_previous else limits.SIGNING_KEY_GRACE_S
        key: SealedKey | None = None
        secret: str | None = None
        if request.key_id is not None and request.secret is None and request.activate:
            key = self.keyring.activated(tenant_id, request.key_id, now, grace_s=grace_s)
        if key is None:
            key, secret = self.keyring.make(
                tenant_id,
                now,
                key_id=request.key_id,
                secret=request.secret,
                activate=request.activate,
                grace_s=grace_s,
            )
        active = self.keyring.active(tenant_id)
        shown = requests.KeyShown(
            key_id=key.key_id,
            algorithm=key.algorithm,
            status="staged" if key.activated_at is None else "active",
            created_at=rfc3339(key.created_at),
            rotated_at=rfc3339(now),
        )
        if request.return_secret:
            secret = secret or self.keyring.secret_of(key)
            shown = requests.KeyWithSecret(**shown.model_dump(), secret=secret)
        return Answer(
            requests.RotatedKey(
                active_key_id=active.key_id if active is not None else None,
                key=shown,
                committed=True,
                latest_commit=newest_commit(self.documents, call),
            )
        )


def security_operations(tokens: TokenHandlers, keys: KeyHandlers) -> list[Operation[Any]]:
    """The five operations. Those whose answer is a secret keep no idempotency keys: the answer would be kept with them."""
    selected = ("INVALID_GRANT", "TOKEN_NOT_FOUND")
    return [
        _declared("security_tokens_list", requests.ListTokens, requests.TokenList, tokens.listed,
                  "List the tokens of peers, without their texts.", reads=True),
        _declared("security_tokens_issue", requests.IssueToken, requests.IssuedToken, tokens.issue,
                  "Make a token for a peer, and show it this once.", secret=True,
                  fails=("INVALID_GRANT", "TOKEN_EXISTS")),
        _declared("security_tokens_revoke", requests.RevokeTokens, requests.RevokedTokens, tokens.revoke,
                  "Take tokens back, at once.", fails=selected),
        _declared("security_tokens_rotate", requests.RotateToken, requests.RotatedToken, tokens.rotate,
                  "Put a new token in the place of one that holds, and show it this once.", secret=True,
                  fails=(*selected, "TOKEN_INACTIVE", "TOKEN_EXISTS")),
        _declared("security_keys_rotate", requests.RotateKey, requests.RotatedKey, keys.rotate,
                  "Make the next key to sign messages with, or activate one that is staged.", _KEYS, secret=True,
                  fails=("KEY_EXISTS", "KEY_UNREADABLE", "KEY_FILE_UNUSABLE")),
    ]  # fmt: skip


def _declared(
    name: str,
    request: type[BaseModel],
    result: type[BaseModel],
    handler: Callable[[Any, Call], Answer],  # Any: requests of several types
    summary: str,
    place: str = _TOKENS,
    *,
    reads: bool = False,
    secret: bool = False,
    fails: tuple[str, ...] = (),
) -> Operation[Any]:
    mode: Mode = "read" if reads else "write"
    return Operation(
        name=name,
        request=request,
        result=result,
        capability=Capability.SCOPE_READ_LOCAL if reads else Capability.SCOPE_WRITE,
        effect=Effect.READ if reads else Effect.WRITE,
        tier=Tier.STABLE,
        handler=handler,
        summary=summary,
        relay=(RelayNeed(RelayRight.ADMIN_PEERS, mode, place),),
        bucket=name,
        keeps_keys=secret,
        fails=fails + (("SECRET_SHOWN_ONCE",) if secret else ()) + (() if reads else ("PAYLOAD_TOO_LARGE",)),
    )

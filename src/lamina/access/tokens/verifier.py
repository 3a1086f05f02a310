"""From an ``Authorization`` header to a principal, in the order of seed 002, 4.3: the first fault is the answer.

A token is judged only once its signature holds. Before that nothing that it says is told back, so that nobody
learns from refusals which issuers, tenants or tokens exist.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lamina import limits
from lamina.access.principals import Credentials
from lamina.access.tokens.claims import (
    Claims,
    actor_of,
    caps_of,
    check_times,
    expiry_of,
    id_of,
    scopes_of,
    tenant_of,
)
from lamina.access.tokens.issuers import Issuer
from lamina.access.tokens.keys import VerifyingKey, matching
from lamina.access.tokens.wire import BadToken, WireToken, bearer, read_token, strict_json
from lamina.errors import Unauthenticated
from lamina.kernel.operations import Principal
from lamina.kernel.time import SECOND_US, Clock
from lamina.kernel.tokens import TokenFacts
from lamina.store.ports.revocations import Revocations

__all__ = ["SignedPrincipals", "TokenVerifier", "VerifiedToken"]


@dataclass(frozen=True, slots=True)
class VerifiedToken:
    """A token whose signature holds: the issuer that it is from, and the key that signed it."""

    issuer: Issuer
    key: VerifyingKey
    claims: Claims = field(repr=False)

    def stands(self) -> bool:
        """Whether the issuer is still known by that key: a key set that was read anew has keys of its own."""
        return any(key is self.key for key in self.issuer.keys.known())


class SignedPrincipals:
    """``Principals`` of every preset that takes signed tokens."""

    waits = True

    def __init__(self, issuers: Mapping[str, Issuer], revocations: Revocations, clock: Clock) -> None:
        self._verifier = TokenVerifier(issuers)
        self._revocations = revocations
        self._clock = clock

    def identify(self, credentials: Credentials) -> Principal:
        """Mirrors ``Principals.identify``; the steps are those of 4.3, the policy comes after."""
        verified = self._verifier.verified(bearer(credentials.authorization))
        issuer, claims = verified.issuer, verified.claims
        tenant_id = tenant_of(claims, issuer)
        check_times(claims, self._clock.now() / SECOND_US)
        token_id = id_of(claims)
        # Asked of the store each time: a look-up by key takes microseconds, and is right in every process at once.
        if self._revocations.is_revoked(tenant_id, issuer.id, token_id):
            raise Unauthenticated(
                "REVOKED_TOKEN", "the token was revoked", hint="ask its issuer for a new one"
            )
        actor = actor_of(claims, credentials.actor)
        facts = TokenFacts(token_id, issuer.id, expiry_of(claims), caps_of(claims), scopes_of(claims))
        return Principal(tenant_id, actor, credentials.channel, facts)


class TokenVerifier:
    """Steps 1 and 2: a configured key signed the token, and its issuer is one of ours.

    Callers show the same token for hours, and its signature is most of what signing in costs. So the claims of a
    token that verified are remembered under the token's hash for as long as its key is trusted. Whatever can change
    without the token changing (time, revocation, the actor) is no part of that.
    """

    def __init__(self, issuers: Mapping[str, Issuer]) -> None:
        self._issuers = issuers
        self._remembered: dict[bytes, VerifiedToken] = {}

    def verified(self, text: str) -> VerifiedToken:
        """The token with its issuer and claims; raises ``Unauthenticated``."""
        digest = hashlib.sha256(text.encode()).digest()
        known = self._remembered.get(digest)
        if known is not None and known.stands():
            return known
        verified = self._verify(text)
        if len(self._remembered) >= limits.TOKENS_REMEMBERED_MAX:
            self._remembered = {}
        self._remembered[digest] = verified
        return verified

    def _verify(self, text: str) -> VerifiedToken:
        """An unknown issuer's token is tried with the keys at hand. Only when one of them signed it is the answer
        UNKNOWN_ISSUER: somebody whose key we trust used another name.
        """
        try:
            token = read_token(text)
            issuer = self._issuers.get(token.claimed_issuer() or "")
            if issuer is not None:
                key, payload = _tried(token, _candidates(token, issuer))
                return VerifiedToken(issuer, key, _renamed(strict_json(payload), issuer.claims))
            _tried(
                token,
                [key for other in self._issuers.values() for key in matching(other.keys.known(), token)],
            )
        except BadToken as error:
            raise Unauthenticated(
                "INVALID_TOKEN_SIGNATURE",
                f"the token could not be verified: {error}",
                hint="it must be PASETO v4.public, or a JWT signed with RS256 or ES256, by a key of an issuer configured here",
            ) from None
        raise Unauthenticated(
            "UNKNOWN_ISSUER",
            "the token names an issuer that is not configured here",
            hint="iss must be spelt exactly as in the issuers file",
        )


def _candidates(token: WireToken, issuer: Issuer) -> Sequence[VerifyingKey]:
    candidates = issuer.keys.candidates(token)
    if not candidates and not issuer.keys.known():
        raise Unauthenticated(
            "ISSUER_KEYS_UNAVAILABLE",
            "the keys of the token's issuer cannot be read now, so no token of it can be verified",
            hint="try again in a minute; the server's log says what keeps it from the keys",
        )
    return candidates


def _tried(token: WireToken, keys: Sequence[VerifyingKey]) -> tuple[VerifyingKey, bytes]:
    for key in keys:
        try:
            return key, key.verified(token)
        except BadToken:
            continue
    raise BadToken("none of the keys known here signed it")


def _renamed(claims: dict[str, Any], names: Mapping[str, str]) -> Claims:
    """The claims under our names. A mapped claim is taken from its mapped place only."""
    return {**claims, **{ours: claims.get(theirs) for ours, theirs in names.items()}} if names else claims

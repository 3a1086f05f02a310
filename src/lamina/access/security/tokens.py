"""Handlers of ``/v1/security/tokens``. An empty grant means nothing, and what does not hold any more is not made to hold again."""

from __future__ import annotations

from dataclasses import dataclass

from lamina import limits
from lamina.access.relay_tokens import NewToken, check_useful, made_token
from lamina.access.security.requests import (
    IssuedToken,
    IssueToken,
    ListTokens,
    RevokedTokens,
    RevokeTokens,
    RotatedToken,
    RotateToken,
    TokenList,
    TokenShown,
    TokenState,
)
from lamina.errors import Conflict, Invalid, Malformed, NotFound
from lamina.kernel.ids import IdSource
from lamina.kernel.operations import Answer, Call
from lamina.kernel.relay import RelayGrant
from lamina.kernel.time import SECOND_US, Instant, instant, rfc3339, rfc3339_or_none
from lamina.store.ports.documents import Documents
from lamina.store.ports.relay_tokens import RelayToken, RelayTokens

__all__ = ["TokenHandlers", "newest_commit", "require_no_key"]


@dataclass(frozen=True, slots=True)
class TokenHandlers:
    """List, issue, revoke and rotate the tokens of the caller's tenant."""

    tokens: RelayTokens
    documents: Documents
    ids: IdSource

    def listed(self, request: ListTokens, call: Call) -> Answer:
        """Tokens, the newest first; a ``status`` asks for those that are in it, whether they hold or not."""
        inactive = request.include_inactive or request.status is not None
        wanted = [
            shown
            for shown in (_shown(token, call.now) for token in self.tokens.listed(call.principal.tenant_id))
            if request.peer_id in (None, shown.peer_id)
            and request.status in (None, shown.effective_status)
            and (inactive or shown.effective_status == "active")
        ]
        tokens = wanted[: limits.TOKENS_LISTED_MAX]
        return Answer(TokenList(count=len(tokens), total=len(wanted), tokens=tokens))

    def issue(self, request: IssueToken, call: Call) -> Answer:
        """Make a token. Its text is in the answer and nowhere else."""
        require_no_key(call)
        grant = RelayGrant(
            frozenset(request.scopes), frozenset(request.read_namespaces), frozenset(request.write_namespaces)
        )
        check_useful(grant)
        made = made_token(
            self.ids,
            call.now,
            tenant_id=call.principal.tenant_id,
            peer_id=request.peer_id,
            grant=grant,
            token_id=request.token_id,
            expires_at=_end(request.expires_at, request.ttl_seconds, call.now),
            description=request.description or "",
        )
        self.tokens.add(made.token)
        return Answer(
            IssuedToken(
                token=made.text,
                token_meta=_shown(made.token, call.now),
                committed=True,
                latest_commit=newest_commit(self.documents, call),
            )
        )

    def revoke(self, request: RevokeTokens, call: Call) -> Answer:
        """Take tokens back, at once and for every process. Again it changes nothing."""
        if request.token_id is None and request.token_sha256 is None:
            _require_whole_peer(request)
        matched = self._named(request, call)
        if request.peer_id is not None:
            matched = [token for token in matched if token.peer_id == request.peer_id]
        if not matched:
            raise _not_found()
        tenant_id = call.principal.tenant_id
        revoked = sum(self.tokens.revoke(tenant_id, each.id, call.now, request.reason) for each in matched)
        known = {token.id: token for token in self.tokens.listed(tenant_id)}
        tokens = [_shown(known[each.id], call.now) for each in matched[: limits.TOKENS_LISTED_MAX]]
        return Answer(
            RevokedTokens(
                matched=len(matched),
                revoked=revoked,
                tokens=tokens,
                committed=revoked > 0,
                latest_commit=newest_commit(self.documents, call),
            )
        )

    def rotate(self, request: RotateToken, call: Call) -> Answer:
        """Put a new token in the place of one that holds: the old one ends as the new one begins."""
        require_no_key(call)
        if request.token_id is None and request.token_sha256 is None:
            raise _no_selector("token_id or token_sha256")
        old = next(iter(self._named(request, call)), None)
        if old is None:
            raise _not_found()
        if _state(old, call.now) != "active":
            raise _inactive(old, call.now)
        made = self._replacement(old, request, call)
        if not self.tokens.rotate(old.id, made.token, request.reason):
            raise _inactive(old, call.now)
        ended = self.tokens.find(old.sha256) or old
        return Answer(
            RotatedToken(
                token=made.text,
                from_token=_shown(ended, call.now),
                token_meta=_shown(made.token, call.now),
                committed=True,
                latest_commit=newest_commit(self.documents, call),
            )
        )

    def _replacement(self, old: RelayToken, request: RotateToken, call: Call) -> NewToken:
        parts = (request.scopes, request.read_namespaces, request.write_namespaces)
        had = (old.grant.rights, old.grant.read_namespaces, old.grant.write_namespaces)
        grant = RelayGrant(
            *(old if new is None else frozenset(new) for new, old in zip(parts, had, strict=True))
        )
        check_useful(grant)
        end = _end(request.expires_at, request.ttl_seconds, call.now)
        return made_token(
            self.ids,
            call.now,
            tenant_id=old.tenant_id,
            peer_id=old.peer_id,
            grant=grant,
            token_id=request.new_token_id,
            expires_at=old.expires_at if end is None else end,
            description=old.description if request.description is None else request.description,
            rotated_from=old.id,
        )

    def _named(self, request: RevokeTokens | RotateToken, call: Call) -> list[RelayToken]:
        sha256 = (request.token_sha256 or "").removeprefix("sha256:").lower()
        return [
            token
            for token in self.tokens.listed(call.principal.tenant_id)
            if request.token_id in (None, token.id) and sha256 in ("", token.sha256)
        ]


def newest_commit(documents: Documents, call: Call) -> str | None:
    """The hash of the newest commit of the caller's documents; None before the first."""
    head = documents.head(call.principal.tenant_id)
    return head.sha if head is not None and head.sha else None


def require_no_key(call: Call) -> None:
    """Nothing, or ``Malformed`` (SECRET_SHOWN_ONCE) for a call whose answer would have to be kept to be given again."""
    if call.key is not None:
        raise Malformed(
            "SECRET_SHOWN_ONCE",
            "the answer is a secret and is kept nowhere, so an idempotency key cannot bring it back",
            details={"field": "idempotency_key"},
        )


def _require_whole_peer(request: RevokeTokens) -> None:
    if request.peer_id is None:
        raise _no_selector("token_id, token_sha256, or peer_id with revoke_all_for_peer")
    if not request.revoke_all_for_peer:
        raise _no_selector("revoke_all_for_peer beside peer_id, to take back all of its tokens")


def _no_selector(wanted: str) -> Malformed:
    return Malformed("INVALID_GRANT", "no token is named", hint=f"send {wanted}")


def _not_found() -> NotFound:
    return NotFound("TOKEN_NOT_FOUND", "the tenant has no such token")


def _inactive(token: RelayToken, now: Instant) -> Conflict:
    state = "has expired" if _state(token, now) == "expired" else "was revoked"
    return Conflict(
        "TOKEN_INACTIVE", f"the token {token.id} {state}, and is not rotated", details={"token_id": token.id}
    )


def _end(expires_at: str | None, ttl_seconds: int | None, now: Instant) -> Instant | None:
    """When a token ends; raises ``Malformed`` (INVALID_GRANT) for both, for what is no time, and for one that is over."""
    if expires_at is not None and ttl_seconds is not None:
        raise Malformed(
            "INVALID_GRANT", "expires_at and ttl_seconds exclude each other", hint="send one of them"
        )
    if ttl_seconds is not None:
        return now + ttl_seconds * SECOND_US
    if expires_at is None:
        return None
    try:
        end = instant(expires_at, field="expires_at")
    except Invalid as error:
        raise Malformed("INVALID_GRANT", error.message, hint="write it as 2027-01-31T12:00:00Z") from error
    if end <= now:
        raise Malformed("INVALID_GRANT", f"expires_at {rfc3339(end)} is over", hint="name a time to come")
    return end


def _state(token: RelayToken, now: Instant) -> TokenState:
    if token.revoked_at is not None:
        return "revoked"
    return "expired" if token.expires_at is not None and token.expires_at <= now else "active"


def _shown(token: RelayToken, now: Instant) -> TokenShown:
    return TokenShown(
        token_id=token.id,
        peer_id=token.peer_id,
        scopes=sorted(token.grant.rights),
        read_namespaces=sorted(token.grant.read_namespaces),
        write_namespaces=sorted(token.grant.write_namespaces),
        status="active" if token.revoked_at is None else "revoked",
        effective_status=_state(token, now),
        issued_at=rfc3339(token.issued_at),
        expires_at=rfc3339_or_none(token.expires_at),
        revoked_at=rfc3339_or_none(token.revoked_at),
        revoked_reason=token.revoked_reason,
        rotated_at=rfc3339_or_none(token.rotated_at),
        rotated_to_token_id=token.rotated_to,
        rotated_from_token_id=token.rotated_from,
        description=token.description or None,
        token_sha256=token.sha256,
    )

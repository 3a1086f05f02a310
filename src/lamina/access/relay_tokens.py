"""Opaque bearer tokens of Relay peers: issued once, kept by their hash, and what a caller with one may do."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from lamina import limits
from lamina.access.principals import Credentials, Principals
from lamina.access.tokens.wire import bearer
from lamina.errors import Forbidden, Invalid, Malformed, Unauthenticated
from lamina.kernel.capabilities import Capability
from lamina.kernel.ids import IdSource, Prefix
from lamina.kernel.operations import Grant, Permits, Principal
from lamina.kernel.relay import EVERYWHERE, RELAY_SCOPE, Mode, RelayGrant, RelayRight, may, namespace_of
from lamina.kernel.time import SECOND_US, Clock, Instant
from lamina.kernel.tokens import ScopeLimit, TokenFacts
from lamina.store.ports.peers import Peers
from lamina.store.ports.relay_tokens import RelayToken, RelayTokens

__all__ = [
    "PEER_ID",
    "ByForm",
    "NewToken",
    "RelayPermits",
    "RelayPrincipals",
    "check_useful",
    "configured",
    "issue",
    "made_token",
    "owner_grant",
    "token_hash",
    "without_narrowing",
]

_ISSUER: Final = "relay"
_UNTRUSTED: Final = "untrusted"
_SIGNED: Final = re.compile(r"v\d+\..*|[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*.*")
PEER_ID: Final = re.compile(r"[A-Za-z0-9_\-.@+]{1,128}")
"""What a peer may be called: the name of an ``agent:``."""
_NEVER_S: Final = 253_402_300_799  # the last second of the year 9999
_WRITES: Final = frozenset({RelayRight.WRITE_JOURNAL, RelayRight.WRITE_MESSAGES, RelayRight.WRITE_PROJECTS})
_READS: Final = frozenset({RelayRight.READ_FILES, RelayRight.READ_INDEX, RelayRight.SEARCH})


# ---- issuing


def owner_grant() -> RelayGrant:
    """Every right in every folder."""
    everywhere = frozenset({EVERYWHERE})
    return RelayGrant(frozenset(RelayRight), everywhere, everywhere)


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token and its text, which is kept nowhere."""

    text: str = field(repr=False)
    token: RelayToken


def made_token(
    ids: IdSource,
    now: Instant,
    *,
    tenant_id: str,
    peer_id: str,
    grant: RelayGrant,
    token_id: str | None = None,
    expires_at: Instant | None = None,
    description: str = "",
    rotated_from: str | None = None,
) -> NewToken:
    """A token that is not kept yet; raises ``Malformed`` (INVALID_GRANT). What is left empty grants nothing."""
    if not PEER_ID.fullmatch(peer_id):
        raise Malformed("INVALID_GRANT", f"the peer id {peer_id[:64]!r} is not made of A-Za-z0-9_-.@+")
    unknown = grant.rights - set(RelayRight)
    if unknown:
        raise Malformed("INVALID_GRANT", f"there is no scope {sorted(unknown)[0][:64]!r}")
    text = f"cgr_{secrets.token_hex(20)}"
    token = RelayToken(
        tenant_id=tenant_id,
        id=token_id or ids.stamped(Prefix.TOKEN, now),
        sha256=token_hash(text),
        peer_id=peer_id,
        grant=RelayGrant(grant.rights, _folders(grant.read_namespaces), _folders(grant.write_namespaces)),
        issued_at=now,
        expires_at=expires_at,
        description=description,
        rotated_from=rotated_from,
    )
    return NewToken(text, token)


def issue(
    tokens: RelayTokens, ids: IdSource, now: Instant, **of: Any
) -> str:  # Any: as ``made_token`` has them
    """A new token's text, which nobody can read again; the token is kept. Raises as ``made_token`` does."""
    made = made_token(ids, now, **of)
    tokens.add(made.token)
    return made.text


def check_useful(grant: RelayGrant) -> None:
    """Nothing for a grant of scopes with folders to use them in; raises ``Malformed`` (INVALID_GRANT) otherwise.

    An empty list grants nothing here, where the original lets it grant everything: who leaves one out means something else.
    """
    if not grant.rights:
        raise Malformed(
            "INVALID_GRANT",
            "a token without scopes may nothing",
            hint=f"give scopes: {', '.join(RelayRight)}",
        )
    for mode, rights, folders in (
        ("read", _READS, grant.read_namespaces),
        ("write", _WRITES, grant.write_namespaces),
    ):
        needing = sorted(grant.rights & rights)
        if needing and not folders and not grant.admin:
            raise Malformed(
                "INVALID_GRANT",
                f"{needing[0]} without a folder to {mode} may nothing",
                hint=f"name the folders that it may {mode}, or * for all",
            )


def configured(text: str, tenant_id: str) -> dict[str, RelayToken]:
    """The tokens of the setting ``relay_tokens`` by their hash: ``token:scope|scope``, with commas between.

    Each is of the peer ``peer-<place>`` and holds its scopes in every folder (contract 4.2). An item of which the scopes
    cannot be read stops the start: the original takes it whole for a token that may everything. Raises ``Invalid``
    (INVALID_SETTING), which names an item by its place and never by its text.
    """
    tokens: dict[str, RelayToken] = {}
    everywhere = frozenset({EVERYWHERE})
    for place, item in enumerate((each.strip() for each in text.split(",")), 1):
        secret, _, named = item.partition(":")
        rights = frozenset(part.strip() for part in named.split("|"))
        if not secret or not rights <= set(RelayRight):
            raise _not_configured(place, "does not have the form token:scope|scope with known scopes")
        if _SIGNED.fullmatch(secret) or not secret.isascii() or not secret.isprintable() or " " in secret:
            raise _not_configured(
                place, "has a token that no caller could show: printable ASCII, no two dots in it"
            )
        if token_hash(secret) in tokens:
            raise _not_configured(place, "has the token of an item before it")
        peer_id = f"peer-{place}"
        grant = RelayGrant(rights, everywhere, everywhere)
        tokens[token_hash(secret)] = RelayToken(
            tenant_id=tenant_id,
            id=f"configured:{peer_id}",
            sha256=token_hash(secret),
            peer_id=peer_id,
            grant=grant,
            issued_at=0,
        )
    return tokens


def _not_configured(place: int, wrong: str) -> Invalid:
    return Invalid(
        "INVALID_SETTING",
        f"item {place} of LAMINA_RELAY_TOKENS or COGNIRELAY_TOKENS {wrong}",
        hint=f"write token:scope|scope; scopes are {', '.join(RelayRight)}; lamina token issue makes narrower ones",
        details={"setting": "LAMINA_RELAY_TOKENS"},
    )


def _folders(namespaces: Collection[str]) -> frozenset[str]:
    """Namespaces as they are compared: without slashes at their ends, and none that leads outside."""
    folders = {each if each == EVERYWHERE else namespace_of(each) for each in namespaces}
    found = {folder for folder in folders if folder is not None}
    if len(found) != len(folders):
        raise Malformed(
            "INVALID_GRANT", "a namespace is no folder", hint="name folders such as memory/coordination"
        )
    return frozenset(found)


def token_hash(text: str) -> str:
    """What a token is kept and found by."""
    return hashlib.sha256(text.encode()).hexdigest()


# ---- signing in


class RelayPrincipals:
    """``Principals`` of callers with a Relay token."""

    waits = False  # a look-up by key takes microseconds

    def __init__(
        self,
        tokens: RelayTokens,
        clock: Clock,
        fixed: Mapping[str, RelayToken] | None = None,
        peers: Peers | None = None,
    ) -> None:
        """``fixed`` are tokens of the settings by their hash: they hold as long as they stand there. ``peers`` says whose tokens
        hold nothing, since the tenant does not trust them."""
        self._tokens = tokens
        self._peers = peers
        self._clock = clock
        self._fixed = fixed or {}

    def identify(self, credentials: Credentials) -> Principal:
        """Mirrors ``Principals.identify``."""
        sha256 = token_hash(bearer(credentials.authorization))
        token = self._fixed.get(sha256) or self._tokens.find(sha256)
        if token is None:
            raise Unauthenticated(
                "INVALID_TOKEN_SIGNATURE",
                "the token is not known here",
                hint="send a token that this server or one of its issuers gave out",
            )
        if token.revoked_at is not None:
            raise Unauthenticated("REVOKED_TOKEN", "the token was revoked", hint="ask for a new one")
        if token.expires_at is not None and token.expires_at <= self._clock.now():
            raise Unauthenticated("EXPIRED_TOKEN", "the token has expired", hint="ask for a new one")
        actor = f"agent:{token.peer_id}"
        if credentials.actor not in (None, actor):
            raise Unauthenticated(
                "ACTOR_MISMATCH", "X-Cortex-Actor names somebody else than the token", hint="leave it out"
            )
        trust = None if self._peers is None else self._peers.trust_of(token.tenant_id, token.peer_id)
        if trust == _UNTRUSTED:
            token = replace(token, trust=_UNTRUSTED)
        return Principal(token.tenant_id, actor, credentials.channel, _facts(token))


def _facts(token: RelayToken) -> TokenFacts:
    grant = token.grant if token.trust != _UNTRUSTED else RelayGrant()
    capabilities = _capabilities(grant)
    limits = tuple(ScopeLimit(each, RELAY_SCOPE, below=False) for each in sorted(capabilities))
    exp = _NEVER_S if token.expires_at is None else token.expires_at // SECOND_US
    return TokenFacts(token.id, _ISSUER, exp, frozenset(capabilities), limits, grant)


def _capabilities(grant: RelayGrant) -> set[str]:
    """What the token holds outside of Relay's own operations: reading or writing the one scope as a whole.

    A grant that is narrowed to folders holds none of it: events know nothing of folders. Events tell documents in full,
    so reading them takes the right to read files.
    """
    held: set[str] = set()
    if grant.admin or (RelayRight.READ_FILES in grant.rights and EVERYWHERE in grant.read_namespaces):
        held.add(Capability.SCOPE_READ_LOCAL.value)
    if grant.admin or (grant.rights >= _WRITES and EVERYWHERE in grant.write_namespaces):
        held.add(Capability.SCOPE_WRITE.value)
    return held


class ByForm:
    """``Principals`` for every caller: signed tokens by their form, other tokens Relay's, and those without any."""

    def __init__(self, signed: Principals, relay: RelayPrincipals) -> None:
        """``signed`` answers for PASETO, JWT and callers without a token."""
        self._signed = signed
        self._relay = relay

    @property
    def waits(self) -> bool:
        """Mirrors ``Principals.waits``."""
        return self._signed.waits

    def identify(self, credentials: Credentials) -> Principal:
        """Mirrors ``Principals.identify``."""
        shown = credentials.authorization
        if shown is None or not shown.strip() or _SIGNED.fullmatch(bearer(shown)):
            return self._signed.identify(credentials)
        return self._relay.identify(credentials)


# ---- what they may


def without_narrowing(principal: Principal) -> Principal:
    """The caller without what a Relay token narrows: ``RelayPermits`` asks the grant itself."""
    token = principal.token
    if token is None or token.relay is None:
        return principal
    return replace(principal, token=replace(token, caps=None, scopes=()))


class RelayPermits:
    """``RelayAccess`` of one caller: the grant of a Relay token, or for others what policy says of the scope.

    Policy is asked either way, so that a document that denies an actor holds for its tokens too.
    """

    def __init__(
        self, principal: Principal, permits: Permits, noted: dict[str, list[Any]] | None = None
    ) -> None:
        """``permits`` are those of the caller ``without_narrowing``. What ``admin:peers`` alone let pass is ``noted``."""
        self._noted = {} if noted is None else noted
        token = principal.token
        self._grant = token.relay if token is not None else None
        self._actor = principal.actor
        self._permits = permits

    @property
    def peer_id(self) -> str:
        """Mirrors ``RelayAccess.peer_id``: an agent by its bare name."""
        return self._actor.removeprefix("agent:")

    @property
    def admin(self) -> bool:
        """Mirrors ``RelayAccess.admin``."""
        if self._grant is not None:
            return self._grant.admin
        return self._permits.allows(Grant(Capability.POLICY_ADMINISTER_SCOPE, RELAY_SCOPE))

    def allows(self, right: str | None, mode: Mode | None = None, path: str | None = None) -> bool:
        """Mirrors ``RelayAccess.allows``."""
        return self._granted(right, mode, path) is None and self._permits.allows(_needed(right, mode))

    def require(self, right: str | None, mode: Mode | None = None, path: str | None = None) -> None:
        """Mirrors ``RelayAccess.require``."""
        refusal = self._granted(right, mode, path)
        if refusal is not None:
            raise refusal
        self._permits.require(_needed(right, mode))

    def _granted(self, right: str | None, mode: Mode | None, path: str | None) -> Forbidden | None:
        """What the grant refuses. Callers without one hold the rights of their capabilities, in every folder."""
        everywhere = frozenset({EVERYWHERE})
        held = frozenset({right} - {None, RelayRight.ADMIN_PEERS})
        if right == RelayRight.ADMIN_PEERS and self.admin:
            held = frozenset({right})
        grant = self._grant
        if grant is None:
            grant = RelayGrant(frozenset(str(each) for each in held), everywhere, everywhere)
        if not may(grant, right):
            return Forbidden("MISSING_SCOPE", f"Missing scope: {right}", details={"scope": str(right)})
        if not may(grant, right, mode, path):
            place = namespace_of(path or "") or path
            named = "Write" if mode == "write" else "Read"
            return Forbidden(
                "NAMESPACE_DENIED",
                f"{named} path namespace not allowed: {place}",
                details={"path": str(place)[:256], "mode": mode},
            )
        if self._grant is not None and grant.admin:
            self._note_bypass(grant, right, mode, path)
        return None

    def _note_bypass(self, grant: RelayGrant, right: str | None, mode: Mode | None, path: str | None) -> None:
        """Note what the token's own scopes and folders would have refused, each once, and the first few alone."""
        own = replace(grant, rights=grant.rights - {RelayRight.ADMIN_PEERS})
        passed: list[dict[str, str]] = []
        if right not in (None, RelayRight.ADMIN_PEERS) and not may(own, right):
            passed.append({"kind": "scope", "required": str(right)})
        if path is not None and not may(own, None, mode, path):
            place = namespace_of(path) or path
            passed.append({"kind": "namespace", "mode": mode or "read", "path": place[:256]})
        for each in passed:
            known = self._noted.setdefault("admin_bypass", [])
            if each not in known and len(known) < limits.AUDIT_BYPASSES_MAX:
                known.append(each)


def _needed(right: str | None, mode: Mode | None) -> Grant:
    """The capability on the scope of Relay that stands behind a right."""
    writes = mode == "write" or (
        mode is None and right in {*_WRITES, RelayRight.COMPACT_TRIGGER, RelayRight.REPLICATION_SYNC}
    )
    return Grant(Capability.SCOPE_WRITE if writes else Capability.SCOPE_READ_LOCAL, RELAY_SCOPE)

"""The audit log: one row for every gated call, allowed or denied (seed 002, section 14).

The row of a write lands in the transaction of that write. A denial, and a write that changed nothing, is on disk
before it is answered. The row of a read waits for the next commit: a crash can lose those of the last half second,
and nothing else.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from lamina import limits
from lamina.access.policy import Decision, PolicyPermits
from lamina.access.rules import AuditRules
from lamina.errors import Forbidden, LaminaError, outcome_of
from lamina.kernel.audit import AuditDraft, Pepper
from lamina.kernel.canonical import canonical
from lamina.kernel.ids import IdSource, Prefix
from lamina.kernel.operations import Answer, Effect, Grant, Operation, Permits, Principal
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.store.ports.audit import Ride
from lamina.store.ports.store import Store

__all__ = ["AuditEntry", "AuditLog", "AuditedCall", "PepperBook", "Witness", "canonical_headers"]

_LOG = logging.getLogger("lamina.audit")
_PEPPER_BYTES = 32
_SECRET_HEADERS = frozenset({b"authorization", b"cookie", b"proxy-authorization", b"x-internal-token"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedCall:
    """A call as its door saw it. ``endpoint`` is the row of its table, ``path`` what was asked for, without query."""

    method: str = ""
    path: str = ""
    endpoint: str = ""
    headers: Sequence[tuple[bytes, bytes]] = ()
    client_ip: str | None = None
    user_agent: str | None = None
    started_ns: int = 0
    """``time.perf_counter_ns`` when it came in."""


def canonical_headers(headers: Sequence[tuple[bytes, bytes]]) -> bytes:
    """Names in lower case, values without white space around them, sorted, a line each; no tokens and no cookies."""
    lowered = ((name.lower(), value.strip()) for name, value in headers)
    return b"\n".join(sorted(b"%b:%b" % item for item in lowered if item[0] not in _SECRET_HEADERS))


class Witness:
    """``Permits`` that remember what was decided, for the row and for the header."""

    def __init__(self, permits: PolicyPermits) -> None:
        self._permits = permits
        self.decision: Decision | None = None
        self.scope: str | None = None

    def allows(self, grant: Grant) -> bool:
        """Mirrors ``Permits.allows``."""
        return self._permits.allows(grant)

    def require(self, grant: Grant) -> None:
        """Mirrors ``Permits.require``. The first grant stands for the call, unless one is denied."""
        self.scope = self.scope or grant.scope
        try:
            allowed = self._permits.granted(grant)
        except Forbidden as denied:
            self.decision = _denied(grant, denied)
            self.scope = grant.scope or self.scope
            raise
        if self.decision is None:
            self.decision = allowed

    def reason(self, grant: Grant) -> str | None:
        """Mirrors ``Permits.reason``."""
        return self._permits.reason(grant)

    def tier_of(self, grant: Grant) -> str:
        """Mirrors ``Permits.tier_of``."""
        return self._permits.tier_of(grant)

    def above(self, scope: Scope) -> Sequence[Scope]:
        """Mirrors ``Permits.above``."""
        return self._permits.above(scope)

    def denials(self, scope: Scope | None) -> Mapping[str, str]:
        """Mirrors ``Permits.denials``."""
        return self._permits.denials(scope)

    def renewed(self) -> Permits:
        """Mirrors ``Permits.renewed``; what goes on after the call has no part in its row."""
        return self._permits.renewed()

    def refuse(self, denied: Forbidden) -> None:
        """A rule of its own, not a grant, denied the call."""
        if self.decision is not None and self.decision.allowed:
            self.decision = _denied(self.decision.grant, denied)


def _denied(grant: Grant, denied: Forbidden) -> Decision:
    details = denied.details
    named = Grant(details.get("capability", grant.capability), grant.scope)
    tier, preset = details.get("denied_by_tier", "scope"), details.get("deployment_preset", "")
    return Decision(named, allowed=False, tier=tier, preset=preset)


class PepperBook:
    """The pepper that a tenant's rows are hashed with now; once ``pepper_rotation_us`` are over the first row makes a new one."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._current: dict[str, Pepper] = {}
        self._lock = threading.Lock()

    def current(self, tenant_id: str, now: Instant, rules: AuditRules) -> Pepper:
        """The tenant's pepper at an instant."""
        pepper = self._current.get(tenant_id)
        if pepper is None or _is_old(pepper, now, rules):
            with self._lock:
                pepper = self._renewed(tenant_id, now, rules)
                if len(self._current) >= limits.TENANTS_CACHED_MAX:
                    self._current.clear()
                self._current[tenant_id] = pepper
        return pepper

    def has(self, tenant_id: str, now: Instant, rules: AuditRules) -> bool:
        """Whether the tenant's pepper is at hand."""
        pepper = self._current.get(tenant_id)
        return pepper is not None and not _is_old(pepper, now, rules)

    def _renewed(self, tenant_id: str, now: Instant, rules: AuditRules) -> Pepper:
        pepper = self._store.peppers.current(tenant_id)
        if pepper is not None and not _is_old(pepper, now, rules):
            return pepper
        version = 1 if pepper is None else pepper.version + 1
        return self._store.peppers.add(Pepper(tenant_id, version, secrets.token_bytes(_PEPPER_BYTES), now))


def _is_old(pepper: Pepper, now: Instant, rules: AuditRules) -> bool:
    return now >= pepper.created_at + rules.pepper_rotation_us


class AuditEntry:
    """The row of a call, while it is still to be seen how the call ends."""

    def __init__(
        self,
        *,
        audit_id: str,
        at: Instant,
        principal: Principal,
        asked: AuditedCall,
        request_id: str,
        body_hash: str,
        headers_hash: str,
        body_bytes: int | None,
        pepper_version: int,
        witness: Witness,
        capability: str,
        noted: Mapping[str, Any],
        hidden: Callable[[bytes], str],
    ) -> None:
        """``hidden`` is what stands in the row for a name that a call noted."""
        self.audit_id = audit_id
        self.witness = witness
        # Where no grant was asked for, what the call does is every known caller's to do.
        self._everybody = Decision(Grant(capability), allowed=True, tier="deployment", preset="")
        self._at = at
        self._principal = principal
        self._asked = asked
        self._request_id = request_id
        self._hashes = (body_hash, headers_hash, body_bytes, pepper_version)
        self._noted, self._hidden = noted, hidden

    def draft(self, status: int, event_id: str | None = None) -> AuditDraft:
        """The row, with how the call ended."""
        decision, asked = self.witness.decision or self._everybody, self._asked
        body_hash, headers_hash, body_bytes, pepper_version = self._hashes
        capability = str(decision.grant.capability)
        return AuditDraft(
            tenant_id=self._principal.tenant_id,
            id=self.audit_id,
            at=self._at,
            actor=self._principal.actor,
            token_jti=_jti(self._principal),
            scope=None if self.witness.scope is None else str(self.witness.scope),
            endpoint=asked.endpoint,
            capability=capability,
            decision="allow" if decision.allowed else "deny",
            decided_by_tier=decision.tier,
            method=asked.method,
            path=_fit(asked.path) or "",
            body_hash=body_hash,
            headers_hash=headers_hash,
            body_bytes=body_bytes,
            pepper_version=pepper_version,
            response_status=status,
            event_id=event_id,
            client_ip=asked.client_ip,
            user_agent=_fit(asked.user_agent),
            request_id=self._request_id,
            elapsed_ms=(time.perf_counter_ns() - asked.started_ns) // 1_000_000 if asked.started_ns else 0,
            gdpr=int(capability.startswith("forget.gdpr")),
            detail=canonical(self._detail()).decode() if self._noted else None,
        )

    def _detail(self) -> dict[str, Any]:
        """What was noted, without names: the chain outlasts the memory of whoever they are of."""
        return {name: [self._without_names(each) for each in values] for name, values in self._noted.items()}

    def _without_names(self, noted: Any) -> Any:  # Any: JSON
        if isinstance(noted, str):
            return self._hidden(noted.encode())
        return {key: self._hidden(value.encode()) if key == "path" else value for key, value in noted.items()}


def _jti(principal: Principal) -> str | None:
    token: Any = getattr(principal, "token", None)  # Any: callers without a signed token have none
    return getattr(token, "jti", None)


def _fit(text: str | None) -> str | None:
    """Bounded, and without what a database or a terminal trips over."""
    if text is None:
        return None
    if not text.isprintable():
        text = "".join(char if char.isprintable() else "\ufffd" for char in text)
    return text[: limits.AUDIT_TEXT_LENGTH_MAX]


def _outcome_of(run: Callable[[], Answer]) -> Callable[[], Answer]:
    """Run it now, and give back or raise later what came of it."""
    try:
        answer = run()
    except Exception as error:
        failure = error  # the name of the block ends with it

        def fail() -> Answer:
            raise failure

        return fail
    return lambda: answer


class AuditLog:
    """Opens entries for calls and sees to it that their rows land."""

    def __init__(self, store: Store, ids: IdSource, rules: Callable[[str], AuditRules]) -> None:
        self._store = store
        self._ids = ids
        self._rules = rules
        self._peppers = PepperBook(store)

    def entry(
        self,
        principal: Principal,
        asked: AuditedCall,
        operation: Operation[Any],
        *,
        body: bytes,
        request_id: str,
        now: Instant,
        witness: Witness,
        noted: Mapping[str, Any],
    ) -> AuditEntry:
        """The entry of a call; its id is known from here on. What is ``noted`` until its row lands is in the row."""
        tenant_id = principal.tenant_id
        rules = self._rules(tenant_id)
        pepper = self._peppers.current(tenant_id, now, rules)
        return AuditEntry(
            audit_id=self._ids.stamped(Prefix.AUDIT, now),
            at=now,
            principal=principal,
            asked=asked,
            request_id=request_id,
            body_hash=pepper.hash(body),
            headers_hash=pepper.hash(canonical_headers(asked.headers)),
            body_bytes=len(body) if rules.store_body_bytes else None,
            pepper_version=pepper.version,
            witness=witness,
            capability=str(operation.capability),
            noted=noted,
            hidden=pepper.hash,
        )

    def watch(self, entry: AuditEntry, operation: Operation[Any], run: Callable[[], Answer]) -> Answer:
        """Run a call; its row lands however it ends.

        A write's row lands with its commit, under the status that the operation commits with.
        """
        if operation.effect is Effect.READ:
            try:
                answer = run()
            except Exception as error:
                self._end(entry, error, 500, waits=isinstance(error, Forbidden))
                raise
            self._end(entry, None, 202 if answer.accepted else 200, waits=False)
            return answer
        with self.riding(entry, operation) as ride:
            outcome = _outcome_of(run)
        return self.landed(entry, operation, ride, outcome)

    def riding(self, entry: AuditEntry, operation: Operation[Any]) -> AbstractContextManager[Ride]:
        """A block in which the row of a write boards with what is written."""
        return self._store.audit.ride(lambda event_id: entry.draft(operation.commits_with, event_id))

    def landed(
        self, entry: AuditEntry, operation: Operation[Any], ride: Ride, outcome: Callable[[], Answer]
    ) -> Answer:
        """What a write came to, which gives back or raises; its row lands by itself where it has not landed with it."""
        failure: Exception | None = None
        try:
            answer = outcome()
        except Exception as error:
            failure = error
        if not ride.landed:
            self._end(entry, failure, operation.commits_with, waits=True)
        if failure is not None:
            raise failure
        return answer

    def is_ready(self, tenant_id: str, now: Instant) -> bool:
        """Whether ``entry`` waits for nothing: the tenant's pepper is at hand."""
        return self._peppers.has(tenant_id, now, self._rules(tenant_id))

    def _end(self, entry: AuditEntry, error: Exception | None, status: int, *, waits: bool) -> None:
        if isinstance(error, Forbidden):
            entry.witness.refuse(error)
        if entry.witness.decision is None and (error is not None or not waits):
            return  # it ended before policy was asked, or read what every known caller may read
        if error is not None:
            status = outcome_of(error).status if isinstance(error, LaminaError) else 500
        try:
            self._store.audit.note(entry.draft(status))
        except LaminaError as failure:
            if error is None:
                raise  # what cannot be recorded is not answered
            # The caller is told what went wrong first, and that is no news of this disk.
            _LOG.error("an audit row could not be queued (%s): %s", entry.audit_id, failure.code)
            return
        if not waits:
            return
        try:
            self._store.audit.flush()
        except LaminaError as failure:
            # The row stays queued. What the caller is told is older news than this disk's.
            _LOG.error("an audit row could not be written yet (%s): %s", entry.audit_id, failure.code)

"""The one path from a door to a slice: who calls, may they, run it, say how it went.

A door hands over an operation, its parsed request and what the caller showed. Nothing else in Lamina identifies
callers or decides grants, so no door can forget to.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NoReturn

from pydantic import BaseModel

from lamina import limits
from lamina.access.addresses import client_address, is_local
from lamina.access.audit import AuditedCall, AuditEntry, AuditLog, Witness
from lamina.access.idempotency import Replays, family_of
from lamina.access.policy import Decision, Policy, PolicyPermits
from lamina.access.principals import Credentials, Principals
from lamina.access.ratelimit import RateLimiter, RelayRates
from lamina.access.relay_tokens import RelayPermits, without_narrowing
from lamina.access.rules import Rules
from lamina.errors import Forbidden, LaminaError, TooLarge
from lamina.json_scan import digest_in_parts
from lamina.kernel.canonical import canonical
from lamina.kernel.ids import IdSource, Prefix
from lamina.kernel.operations import (
    Answer,
    Call,
    CallKey,
    Effect,
    Grant,
    Operation,
    Posted,
    Principal,
    Tier,
    require_experimental,
    stays,
)
from lamina.kernel.relay import NoRelayAccess
from lamina.kernel.time import Clock
from lamina.observe.figures import CallCounts
from lamina.observe.traces import Kind, collects_spans, span
from lamina.store.keyed import key_of
from lamina.store.ports.audit import Ride
from lamina.store.ports.store import Store
from lamina.store.tallies import Buckets

__all__ = ["Gateway", "Inbound", "PostedCall", "Reply"]

_REQUEST_ID = re.compile(r"[A-Za-z0-9_\-.:]+")
_NOTICE = (
    "experimental: it may change or go without notice; "
    "https://lamina.dev/docs/reference/http#experimental-operations"
)


@dataclass(frozen=True, slots=True)
class Inbound:
    """What a door knows of a call besides its request.

    ``asked`` is what the audit row says of it, ``query`` its query string and ``key`` the caller's idempotency key.
    The gateway puts the headers of seed 002, 6.8, into ``out``: they are part of the answer however the call ends. ``is_gone`` tells
    whether the caller has gone away or taken the call back.
    """

    credentials: Credentials
    request_id: str
    body: bytes = b""
    asked: AuditedCall = field(default_factory=AuditedCall)
    query: str = ""
    key: str | None = None
    out: dict[str, str] = field(default_factory=dict)
    is_gone: Callable[[], bool] = stays


@dataclass(frozen=True, slots=True)
class Reply:
    """What a door sends back: the answer, and the headers of seed 002, 6.8 that only the gateway knows."""

    answer: Answer
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PostedCall:
    """A call whose write is on its way. ``posted`` is None where it failed before."""

    posted: Posted | None
    ride: Ride
    end: Callable[[], Reply]
    """What the call comes to, once its write is over; raises as ``execute`` does."""

    @property
    def ends_at_once(self) -> bool:
        """Whether ``end`` waits for nothing: the write has landed, and the row with it."""
        return self.ride.landed


class Gateway:
    """Runs operations for callers."""

    def __init__(
        self,
        *,
        principals: Principals,
        policy: Policy,
        clock: Clock,
        ids: IdSource,
        store: Store,
        rules: Rules,
        relay_rates: RelayRates | None = None,
        relay_payload_bytes_max: int = limits.RELAY_PAYLOAD_BYTES_MAX,
        buckets: Buckets | None = None,
        calls: CallCounts | None = None,
        experimental: bool = True,
    ) -> None:
        self._principals = principals
        self._policy = policy
        self._clock = clock
        self._ids = ids
        self._audit = AuditLog(store, ids, rules.audit_rules)
        self._rates = RateLimiter(rules.rate_rules, buckets=buckets)
        self._relay_rates = relay_rates
        self._relay_payload_bytes_max = relay_payload_bytes_max
        self._replays = Replays(store.idempotency)
        self._calls = calls or CallCounts()
        self._experimental = experimental

    def request_id(self, offered: str | None) -> str:
        """The caller's own request id where it is fit to be echoed, else a new one."""
        if offered and len(offered) <= limits.REQUEST_ID_LENGTH_MAX and _REQUEST_ID.fullmatch(offered):
            return offered
        return self._ids.stamped(Prefix.REQUEST, self._clock.now())

    @property
    def identifying_waits(self) -> bool:
        """Whether ``identify`` may wait for a disk or another machine: then it has no place on an event loop."""
        return self._principals.waits

    def identify(self, inbound: Inbound, operation: Operation[Any] | None) -> Principal:
        """The caller, nobody of an open operation; doors call it before they read a body.

        Raises as ``Principals.identify``, ``Busy`` (RATE_LIMITED), ``Unsupported`` (EXPERIMENTAL_DISABLED). Callers who
        stay unknown share a bucket by their address. Without an operation it only counts the call.
        """
        try:
            return self._identify(inbound, operation)
        except LaminaError as error:
            if operation is not None:
                self.refused(operation, error)
            raise

    def refused(self, operation: Operation[Any], error: BaseException) -> None:
        """An operation was not run for what is wrong with its request: it counts among those that ended so."""
        self._calls.ended(operation.name, None, error)

    def _identify(self, inbound: Inbound, operation: Operation[Any] | None) -> Principal:
        nobody = Principal(tenant_id="", actor="", channel=inbound.credentials.channel)
        if operation is None or operation.open:
            self._count(inbound, "", inbound.asked.client_ip or "", Effect.READ)
            return nobody
        inbound.out.update(_stability(operation.tier, operation.deprecated))
        try:
            principal = self._principals.identify(inbound.credentials)
        except LaminaError:
            self._count(inbound, "", inbound.asked.client_ip or "", Effect.READ)
            raise
        self._count(inbound, principal.tenant_id, principal.actor, operation.effect)
        if operation.bucket is not None and self._relay_rates is not None:
            self._count_in_relay(operation.bucket, self._relay_rates, inbound, principal)
        if operation.tier is Tier.EXPERIMENTAL:
            require_experimental(operation.name, offered=self._experimental)
        return principal

    def recognise(self, inbound: Inbound) -> Principal:
        """The caller, for a door that has to know them before it can tell which operation is meant.

        Only who stays unknown is counted here: ``identify`` counts the operations. Raises as it does.
        """
        try:
            return self._principals.identify(inbound.credentials)
        except LaminaError:
            self._count(inbound, "", inbound.asked.client_ip or "", Effect.READ)
            raise

    def known(self, inbound: Inbound) -> Principal:
        """The caller, for a door that serves those who stay unknown as well; raises as ``Principals.identify``, and counts nobody."""
        return self._principals.identify(inbound.credentials)

    def _count(self, inbound: Inbound, tenant_id: str, actor: str, effect: Effect) -> None:
        taken = self._rates.take(tenant_id, actor, effect, self._clock.now())
        inbound.out.update(taken.headers())
        taken.check()

    def _count_in_relay(self, bucket: str, rates: RelayRates, inbound: Inbound, principal: Principal) -> None:
        token = principal.token
        caller = principal.actor if token is None else f"{token.iss} {token.jti}"
        shares = {
            f"token {principal.tenant_id} {caller}": rates.token,
            f"address {client_address(inbound.asked)}": rates.address,
        }
        self._rates.take_from(bucket, shares, self._clock.now())

    def execute(
        self, operation: Operation[Any], request: Any, inbound: Inbound, principal: Principal
    ) -> Reply:
        """Check every grant that the operation names, then run its handler; its audit row lands either way."""
        started_ns, failure = time.perf_counter_ns(), None
        try:
            with span(*_spanned(operation, inbound)):
                return self._execute(operation, request, inbound, principal)
        except BaseException as error:
            failure = error
            raise
        finally:
            self._calls.ended(operation.name, (time.perf_counter_ns() - started_ns) / 1e9, failure)

    def posts(self, operation: Operation[Any], request: Any, inbound: Inbound, principal: Principal) -> bool:
        """Whether ``post`` may begin a call, in so little time that nobody has to leave the event loop for it."""
        return (
            operation.posting is not None
            and len(inbound.body) <= limits.BODY_PLAIN_BYTES_MAX
            and operation.posting.fits(request)
            and self._audit.is_ready(principal.tenant_id, self._clock.now())
            and not collects_spans()
        )

    def post(
        self, operation: Operation[Any], request: Any, inbound: Inbound, principal: Principal
    ) -> PostedCall:
        """As ``execute``, for what ``posts`` tells of: nothing is waited for, and what goes wrong is told by the call's end."""
        assert operation.posting is not None, "asked of it before"
        started_ns = time.perf_counter_ns()
        try:
            call, entry, witness = self._opened(operation, inbound, principal)
        except LaminaError as error:
            self.refused(operation, error)
            raise
        assert entry is not None, "no open operation posts"
        posted: Posted | None = None
        with self._audit.riding(entry, operation) as ride:
            try:
                self._check(operation, request, inbound, call, witness)
                landing = operation.posting.begin(request, _keyed(operation, inbound, call))
            except Exception as error:
                outcome: Callable[[], Answer] = partial(_raise, error)
            else:
                posted, outcome = landing.posted, landing.answer

        def end() -> Reply:
            failure: BaseException | None = None
            try:
                return _reply(self._audit.landed(entry, operation, ride, outcome), inbound)
            except BaseException as error:
                failure = error
                raise
            finally:
                _tell_decision(witness, inbound)
                self._calls.ended(operation.name, (time.perf_counter_ns() - started_ns) / 1e9, failure)

        return PostedCall(posted, ride, end)

    def _execute(
        self, operation: Operation[Any], request: Any, inbound: Inbound, principal: Principal
    ) -> Reply:
        call, entry, witness = self._opened(operation, inbound, principal)
        if entry is None:
            return _reply(operation.handler(request, call), inbound)

        def run() -> Answer:
            self._check(operation, request, inbound, call, witness)
            return self._run(operation, request, inbound, call)

        try:
            answer = self._audit.watch(entry, operation, run)
        finally:
            _tell_decision(witness, inbound)
        return _reply(answer, inbound)

    def _opened(
        self, operation: Operation[Any], inbound: Inbound, principal: Principal
    ) -> tuple[Call, AuditEntry | None, Witness]:
        """A call, its row, which an open operation has none of, and what notes how policy decides."""
        now = self._clock.now()
        witness = Witness(self._permits(operation, inbound.credentials, principal))
        entry = None
        noted: dict[str, list[Any]] = {}
        if not operation.open:
            entry = self._audit.entry(
                principal,
                inbound.asked,
                operation,
                body=inbound.body,
                request_id=inbound.request_id,
                now=now,
                witness=witness,
                noted=noted,
            )
        call = Call(
            principal=principal,
            request_id=inbound.request_id,
            now=now,
            permits=witness,
            body=inbound.body or b"null",
            audit_id=None if entry is None else entry.audit_id,
            relay=RelayPermits(principal, witness, noted) if operation.relay else NoRelayAccess(),
            noted=noted,
            digest_of=digest_in_parts,
            address=inbound.asked.client_ip and client_address(inbound.asked),
            is_gone=inbound.is_gone,
        )
        return call, entry, witness

    def _check(
        self, operation: Operation[Any], request: Any, inbound: Inbound, call: Call, witness: Witness
    ) -> None:
        """Nothing where the caller may make a call; raises what it is refused with."""
        part = operation.experimental_part(request)
        if part is not None:
            inbound.out.update(_stability(Tier.EXPERIMENTAL))
            require_experimental(part, offered=self._experimental)
        if operation.bucket is not None and operation.effect is not Effect.READ:
            _check_payload(request, self._relay_payload_bytes_max)
        if operation.local_only:
            _check_local(inbound)
        for need in operation.relay:
            call.relay.require(need.right, need.mode, need.path)
        grants = operation.grants(request, call.principal)
        if not (grants or operation.personal or operation.relay):
            grants = [Grant(operation.capability)]
        for grant in grants:
            witness.require(grant)

    def _permits(
        self, operation: Operation[Any], credentials: Credentials, principal: Principal
    ) -> PolicyPermits:
        def policy_asks_of(caller: Principal) -> Principal:
            # A Relay token's grant is asked by itself: policy says what the actor may.
            return without_narrowing(caller) if operation.relay else caller

        def identify() -> Principal:
            # All that signing in looks at is looked at again: times, revocation, and whether the key is still known.
            return policy_asks_of(self._principals.identify(credentials))

        return PolicyPermits(self._policy, policy_asks_of(principal), None if operation.open else identify)

    def _run(self, operation: Operation[Any], request: Any, inbound: Inbound, call: Call) -> Answer:
        keyed = _keyed(operation, inbound, call)
        key = key_of(keyed)
        if key is None or operation.keeps_keys:
            return operation.handler(request, keyed)
        return self._replays.once(
            key,
            keyed.keyed_hash(),
            call.now,
            lambda: operation.handler(request, keyed),
            erases=operation.effect is Effect.ERASE,
        )


def _keyed(operation: Operation[Any], inbound: Inbound, call: Call) -> Call:
    """The call with the key under which it writes, where it has one."""
    if inbound.key is None or operation.effect is Effect.READ:
        return call
    asked = inbound.asked
    # A door without paths and verbs has the name of the operation in their place.
    family = family_of(asked.endpoint) or operation.name
    # One family may stand for several paths and verbs: they are part of what must be the same.
    place = (asked.method or operation.name, asked.path, inbound.query)
    return replace(call, key=CallKey(family, inbound.key, place))


def _spanned(operation: Operation[Any], inbound: Inbound) -> tuple[str, Kind, Mapping[str, str]]:
    """The span of a call: where an agent calls a tool, that of OpenTelemetry's conventions for it."""
    named = {"lamina.operation": operation.name, "lamina.request.id": inbound.request_id}
    called, _, tool = inbound.asked.endpoint.partition(" ")
    if called != "mcp":
        return f"lamina {operation.name}", "internal", named
    return (
        f"execute_tool {tool}",
        "internal",
        named | {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool},
    )


def _check_payload(request: BaseModel, bytes_max: int) -> None:
    """Nothing for a request that a Relay bucket takes; raises ``TooLarge`` (PAYLOAD_TOO_LARGE). What was left out does not count."""
    size = len(canonical(request.model_dump(mode="json", exclude_none=True)))
    if size > bytes_max:
        raise TooLarge(
            "PAYLOAD_TOO_LARGE",
            f"Payload too large: {size} bytes > limit {bytes_max}",
            hint="send less at once",
            details={"bytes": size, "bytes_max": bytes_max},
        )


def _check_local(inbound: Inbound) -> None:
    """Nothing for a caller on this machine; raises ``Forbidden`` (LOCAL_ONLY) for any other, and where no address is known."""
    if not is_local(client_address(inbound.asked)):
        raise Forbidden("LOCAL_ONLY", "this operation is for callers on the server's own machine")


def _stability(tier: Tier, deprecated: str | None = None) -> dict[str, str]:
    headers = {"X-Cortex-Stability": tier.value}
    if tier is Tier.EXPERIMENTAL:
        headers["X-Cortex-Experimental-Notice"] = _NOTICE
    if deprecated is not None:
        headers["X-Cortex-Deprecation"] = deprecated
    return headers


def _policy_header(decision: Decision) -> str:
    verdict = "allow" if decision.allowed else "deny"
    return f"tier={decision.tier}; decision={verdict}; capability={decision.grant.capability}"


def _raise(error: Exception) -> NoReturn:
    raise error


def _tell_decision(witness: Witness, inbound: Inbound) -> None:
    if witness.decision is not None:
        inbound.out["X-Cortex-Policy"] = _policy_header(witness.decision)


def _reply(answer: Answer, inbound: Inbound) -> Reply:
    if answer.replayed:
        inbound.out["X-Cortex-Replay"] = "true"
    if answer.warnings:
        inbound.out["X-Cortex-Warning"] = ", ".join(answer.warnings)
    return Reply(answer, inbound.out)

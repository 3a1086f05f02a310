"""An operation is declared once; doors are tables over operations, and the gateway runs them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel
from pydantic_core import from_json

from lamina.errors import LaminaError, Malformed, Unsupported
from lamina.kernel.canonical import digest, digest_of_json, not_finite
from lamina.kernel.capabilities import Capability
from lamina.kernel.relay import NoRelayAccess, RelayAccess, RelayNeed
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.kernel.tokens import TokenFacts

__all__ = [
    "Answer",
    "Call",
    "CallKey",
    "Effect",
    "Grant",
    "Landing",
    "Operation",
    "Permits",
    "Posted",
    "Posting",
    "Principal",
    "Tier",
    "require_experimental",
    "stays",
]

RequestT = TypeVar("RequestT", bound=BaseModel)


class Effect(StrEnum):
    """What running the operation may do to the store."""

    READ = "read"
    WRITE = "write"
    ERASE = "erase"


class Tier(StrEnum):
    """How firmly the shape of an operation is promised (seed 002, 2.4)."""

    STABLE = "stable"
    BETA = "beta"
    EXPERIMENTAL = "experimental"


@dataclass(frozen=True, slots=True)
class Principal:
    """The authenticated caller: who, of which tenant, through which door, and by which token where one was shown."""

    tenant_id: str
    actor: str
    channel: str
    token: TokenFacts | None = None


@dataclass(frozen=True, slots=True)
class Grant:
    """A capability wanted on a scope; None for what is not bound to one."""

    capability: str
    scope: Scope | None = None


class Permits(Protocol):
    """What policy lets the caller of one call do. Silence means no."""

    def allows(self, grant: Grant) -> bool:
        """Whether the caller holds the grant."""
        ...

    def require(self, grant: Grant) -> None:
        """Nothing, or ``Forbidden`` (POLICY_DENIED, NOT_A_MEMBER) that cites tier and capability."""
        ...

    def reason(self, grant: Grant) -> str | None:
        """Why the caller does not hold the grant, in words that cite the tier; None when they do."""
        ...

    def tier_of(self, grant: Grant) -> str:
        """The tier that a decision about a grant is put down to: of an allowed one the innermost that says something here."""
        ...

    def above(self, scope: Scope) -> Sequence[Scope]:
        """The further scopes that a holistic read of a scope walks, nearest first; each is still to be allowed."""
        ...

    def denials(self, scope: Scope | None) -> Mapping[str, str]:
        """Every capability that the caller does not hold on a scope, with the tier that denies it."""
        ...

    def renewed(self) -> Permits:
        """What policy lets the same caller do now: for what goes on after its call.

        Raises ``Unauthenticated`` once what the caller showed holds no more.
        """
        ...


@dataclass(frozen=True, slots=True)
class CallKey:
    """The idempotency key of a call: its endpoint family (seed 002, 18.2 item 9), the key, and what else of the request
    must be the same beside its body."""

    family: str
    key: str
    place: tuple[str, ...]


def stays() -> bool:
    """Whether a caller of whom nothing is known has gone: no."""
    return False


@dataclass(frozen=True, slots=True)
class Call:
    """One use of an operation: by whom, when, under which id, and what they may do."""

    principal: Principal
    request_id: str
    now: Instant
    permits: Permits
    body: bytes = b"null"
    """The request as it came: JSON."""
    audit_id: str | None = None
    """The id of this call's audit row; None where the operation is open."""
    relay: RelayAccess = field(default_factory=NoRelayAccess)
    """What the caller may do with Relay's documents; handlers ask it for every path that they learn on the way."""
    noted: dict[str, list[Any]] = field(default_factory=dict)
    """What the call's audit row says beside its columns; handlers add to it, never what a memory says."""
    key: CallKey | None = None
    """The caller's idempotency key, for who lands it with what it led to."""
    digest_of: Callable[[bytes], str] = digest_of_json
    """``digest`` of the value of a JSON text; the gateway's does not hold up others with a large one."""
    address: str | None = None
    """Where the call came from, as far as its door knows."""
    is_gone: Callable[[], bool] = stays
    """Whether nobody waits for the answer any more; who waits for something asks now and then."""

    def body_hash(self, *, without: str | None = None) -> str:
        """``sha256:<hex>`` of the canonical body: the same request with its keys in another order is the same, and so is one that
        differs in the field ``without``.

        Raises ``Malformed`` (INVALID_BODY) for a number that is none in JSON, also in a field that nobody reads.
        """
        try:
            return self.digest_of(self.body) if without is None else digest(_without(self.body, without))
        except ValueError as error:
            field = (not_finite(from_json(self.body)) or "body")[:256]
            raise Malformed(
                "INVALID_BODY", f"{field}: is not a finite number", details={"field": field}
            ) from error

    def keyed_hash(self) -> str:
        """The hash of all that must be the same where the call's idempotency key is used again."""
        assert self.key is not None, "only who has a key asks for what it stands for"
        return digest([*self.key.place, self.body_hash()])

    def may_read(self, scope: Scope) -> bool:
        """Whether the caller may read what is in a scope: ids of anything else are not shown to them."""
        return self.permits.allows(Grant(Capability.SCOPE_READ_LOCAL, scope))

    def require_known(self, scope: Scope | None, missing: LaminaError, *more: str) -> None:
        """Nothing where what an id names lies in a scope that the caller may read; ``scope`` is None for an id that names nothing.

        Otherwise ``Forbidden`` for who may read nowhere, and ``missing`` for everybody else: whether there is something
        in a scope that is closed to the caller makes no difference. Some ids can be worked out.
        """
        wanted = (Capability.SCOPE_READ_LOCAL, *more)
        if scope is not None and all(self.permits.allows(Grant(each, scope)) for each in wanted):
            return
        for capability in wanted:
            self.permits.require(Grant(capability))
        raise missing


@dataclass(frozen=True, slots=True)
class Answer:
    """What a handler gives back.

    ``accepted`` says that work goes on behind the answer, ``created`` that something new stands. ``replayed``
    marks what an idempotency key brought back. ``warnings`` are stable words for things done differently than
    asked. A result that is not a model is bytes, an iterable of server-sent events where the operation streams, or
    None where there is nothing to say.
    """

    result: Any  # Any: a model, bytes, a stream or None, as the operation's row says
    accepted: bool = False
    created: bool = False
    replayed: bool = False
    warnings: tuple[str, ...] = ()


class Posted(Protocol):
    """A write that waits for others which share its commit, until one of them is sent or waited for."""

    def send(self) -> None:
        """Have it written now, with all that wait."""
        ...

    def tell(self, told: Callable[[], None]) -> None:
        """Have ``told`` called once the write has landed or failed, in whichever thread; at once where it has. It may not raise."""
        ...

    def result(self) -> Any:  # Any: whatever the write came to
        """What the write came to, once that is on disk; raises what it raised."""
        ...


@dataclass(frozen=True, slots=True)
class Landing:
    """An answer that stands once a write has landed, and is made of what it came to."""

    posted: Posted
    made: Callable[[Any], Answer]

    def answer(self) -> Answer:
        """Wait for it; raises what the write raised."""
        return self.made(self.posted.result())


@dataclass(frozen=True, slots=True)
class Posting(Generic[RequestT]):
    """How an operation begins its write without waiting for it, so that no thread has to wait either.

    ``fits`` tells of a request whether ``begin`` waits for nothing and reads no more than a row or two: it runs between other calls.
    """

    fits: Callable[[RequestT], bool]
    begin: Callable[[RequestT, Call], Landing]


def require_experimental(what: str, *, offered: bool) -> None:
    """Nothing, or ``Unsupported`` (EXPERIMENTAL_DISABLED) where the deployment does not offer what is experimental."""
    if not offered:
        raise Unsupported(
            "EXPERIMENTAL_DISABLED",
            f"{what} is experimental, and this deployment does not offer such operations",
            hint="an operator turns them on with CORTEX_ENABLE_EXPERIMENTAL=1",
        )


def _nothing(request: Any) -> str | None:  # noqa: ARG001 - the port's shape
    return None


def _no_grants(request: Any, principal: Principal) -> Sequence[Grant]:  # noqa: ARG001 - the port's shape
    return ()


@dataclass(frozen=True, slots=True)
class Operation(Generic[RequestT]):
    """What the product can do, in one row.

    ``grants`` names what the caller must hold, read from the request, and nothing where it is left out; a handler asks ``call.permits`` for what
    it learns only on the way. An ``open`` operation asks nobody who they are and nothing of policy. A
    ``personal`` one is for every known caller: where it names no grant, only its handler asks for some. One over
    Relay's documents names in ``relay`` what it takes, in place of grants. A write
    ``keeps_keys`` when it lands its idempotency keys itself, with what they led to; ``commits_with`` is the status
    that the audit row of a write carries, since that row lands before the answer is made. ``deprecated`` links to
    what takes the operation's place. Calls of one with a ``bucket`` of Relay's also count there, by token and by address,
    and a write of them may send no more than Relay's payloads have. One that is ``local_only`` is for callers on this machine. With
    ``posting`` a write that waits for nothing but the disk can be begun and ended apart; it lands its keys itself. ``experimental_part`` names
    what of a request is experimental, where the operation is not.

    The rest is for readers of the OpenAPI document: ``answers`` are the HTTP statuses of a success, ``fails`` the
    error codes that are this operation's own, beside those of its door and the gateway; ``streams`` says whether
    it answers with server-sent events.
    """

    name: str
    request: type[RequestT]
    result: type[BaseModel]
    capability: str
    effect: Effect
    tier: Tier
    handler: Callable[[RequestT, Call], Answer]
    summary: str
    grants: Callable[[RequestT, Principal], Sequence[Grant]] = _no_grants
    open: bool = False
    personal: bool = False
    relay: tuple[RelayNeed, ...] = ()
    keeps_keys: bool = False
    commits_with: int = 200
    deprecated: str | None = None
    bucket: str | None = None
    local_only: bool = False
    posting: Posting[RequestT] | None = None
    experimental_part: Callable[[RequestT], str | None] = _nothing
    answers: tuple[int, ...] = (200,)
    fails: tuple[str, ...] = ()
    streams: Literal["never", "asked", "always"] = "never"


def _without(body: bytes, field: str) -> Any:  # Any: whatever JSON can hold
    value = from_json(body)
    if isinstance(value, dict):
        value.pop(field, None)
    return value

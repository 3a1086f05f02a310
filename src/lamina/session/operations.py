"""The operations of the session contract: the two calls of a turn, and what stands beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Effect, Operation, Tier
from lamina.session.asking import (
    Asking,
    Correct,
    Found,
    Handover,
    HandoverAsked,
    LoopList,
    LoopsAsked,
    Query,
    UserAsked,
)
from lamina.session.brief import Briefing
from lamina.session.closing import Close, Closed, SessionClosing, SessionTaken, TakeSession
from lamina.session.ingest import Ingesting
from lamina.session.inside import (
    Inside,
    OutboxInside,
    OutboxShown,
    Revive,
    Revived,
    SessionInside,
    SessionShown,
    UserInside,
    UserShown,
)
from lamina.types.sessions import Brief, BriefAsked, Identity, Ingest, Ingested

__all__ = ["SessionHandlers", "session_operations"]

_DATED: Final = ("INVALID_TIMESTAMP",)
_CLOSED: Final = ("INTERNAL_TOKEN_REQUIRED",)


@dataclass(frozen=True, slots=True)
class SessionHandlers:
    """The handlers behind the operations."""

    ingesting: Ingesting
    briefing: Briefing
    closing: SessionClosing
    asking: Asking
    inside: Inside


def session_operations(handlers: SessionHandlers) -> list[Operation[Any]]:
    """Every operation of the contract."""
    return [*_turn(handlers), *_whole(handlers.closing), *_asked(handlers.asking), *_inside(handlers.inside)]


def _turn(handlers: SessionHandlers) -> list[Operation[Any]]:
    return [
        Operation(
            name="session_ingest_turn",
            request=Ingest,
            result=Ingested,
            capability=Capability.SCOPE_WRITE,
            effect=Effect.WRITE,
            tier=Tier.STABLE,
            grants=handlers.ingesting.grants,
            handler=handlers.ingesting.ingest,
            summary="Store one turn of a conversation.",
            fails=_DATED,
            keeps_keys=True,
        ),
        Operation(
            name="session_brief",
            request=BriefAsked,
            result=Brief,
            capability=Capability.SCOPE_READ_LOCAL,
            effect=Effect.READ,
            tier=Tier.STABLE,
            grants=handlers.briefing.grants,
            handler=handlers.briefing.brief,
            summary="Fetch the memory for a turn of a conversation.",
            fails=_DATED,
        ),
    ]


def _whole(closing: SessionClosing) -> list[Operation[Any]]:
    return [
        Operation(
            name="session_close",
            request=Close,
            result=Closed,
            capability=Capability.SCOPE_WRITE,
            effect=Effect.WRITE,
            tier=Tier.BETA,
            grants=closing.close_grants,
            handler=closing.close,
            summary="Close a session.",
        ),
        Operation(
            name="session_ingest",
            request=TakeSession,
            result=SessionTaken,
            capability=Capability.SCOPE_WRITE,
            effect=Effect.WRITE,
            tier=Tier.BETA,
            grants=closing.take_grants,
            handler=closing.take,
            summary="Store the turns of a whole session, all or none.",
            fails=_DATED,
        ),
    ]


def _asked(asking: Asking) -> list[Operation[Any]]:
    def read(
        name: str, request: Any, result: Any, handler: Any, summary: str, fails: tuple[str, ...] = ()
    ) -> Operation[Any]:
        return Operation(
            name=name,
            request=request,
            result=result,
            capability=Capability.SCOPE_READ_LOCAL,
            effect=Effect.READ,
            tier=Tier.BETA,
            grants=asking.read_grants,
            handler=handler,
            summary=summary,
            fails=fails,
        )

    return [
        read("session_query", Query, Found, asking.query, "Ask a user's memory."),
        read("session_loops", LoopsAsked, LoopList, asking.loops, "List what a user left open."),
        read("session_identity", UserAsked, Identity, asking.identity, "Say who a user is."),
        read(
            "session_startbrief",
            HandoverAsked,
            Handover,
            asking.handover,
            "Say what to know before a session begins, and why.",
            _DATED,
        ),
        Operation(
            name="session_correct",
            request=Correct,
            result=Identity,
            capability=Capability.SCOPE_WRITE,
            effect=Effect.WRITE,
            tier=Tier.BETA,
            grants=asking.correct_grants,
            handler=asking.correct,
            summary="Correct who a user is.",
            answers=(200, 202),
        ),
    ]


def _inside(inside: Inside) -> list[Operation[Any]]:
    def look(
        name: str, request: Any, result: Any, handler: Any, summary: str, grants: Any = inside.user_grants
    ) -> Operation[Any]:
        return Operation(
            name=name,
            request=request,
            result=result,
            capability=Capability.SCOPE_READ_LOCAL,
            effect=Effect.READ,
            tier=Tier.BETA,
            grants=grants,
            handler=handler,
            summary=summary,
            fails=_CLOSED,
        )

    return [
        look("debug_session", SessionInside, SessionShown, inside.session, "Look inside a session."),
        look("debug_user", UserInside, UserShown, inside.user, "Look at what is known of a user."),
        look(
            "debug_outbox",
            OutboxInside,
            OutboxShown,
            inside.outbox,
            "Look at what waits behind the calls.",
            inside.outbox_grants,
        ),
        Operation(
            name="outbox_revive",
            request=Revive,
            result=Revived,
            capability=Capability.SCOPE_WRITE,
            effect=Effect.WRITE,
            tier=Tier.BETA,
            grants=inside.revive_grants,
            handler=inside.revive,
            summary="Try again what had failed for good.",
            fails=_CLOSED,
        ),
    ]

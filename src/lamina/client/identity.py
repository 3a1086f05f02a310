"""Who a client speaks as, and the scope it means when none is named."""

from __future__ import annotations

from dataclasses import dataclass

from lamina.errors import Invalid
from lamina.kernel.scopes import LOCAL_ACTOR, Scope

__all__ = ["Identity"]


@dataclass(frozen=True, slots=True)
class Identity:
    """``actor`` is sent as ``X-Cortex-Actor``; ``scope`` is the default of every call.

    ``signed`` says that a token names the caller, so that nothing may be guessed from its absence.
    """

    actor: str | None = None
    scope: str | None = None
    signed: bool = False

    def scope_for(self, given: str | None) -> str:
        """The scope of a call: the one given, the client's, or the actor's own, such as ``user:maya``.

        Raises ``Invalid`` (INVALID_ACTOR) where the actor's name is no scope, and (INVALID_REQUEST) where a
        signed caller named neither: then the actor is what is missing, since a signed token wants to hear it said.
        """
        if given or self.scope:
            return given or self.scope or ""
        if self.actor is None and self.signed:
            raise Invalid(
                "INVALID_REQUEST",
                "no actor was named",
                hint="pass actor= to the client, exactly as the token names it, or scope= to the call",
                details={"field": "actor"},
            )
        actor = self.actor or LOCAL_ACTOR
        try:
            return Scope.parse(actor)
        except Invalid as error:
            raise Invalid(
                "INVALID_ACTOR",
                f"actor {actor[:120]!r} is malformed: {error.details['reason']}",
                hint="an actor is type:id, for example user:maya or agent:planner",
                details={"field": "actor"},
            ) from error

    def actor_for_session(self) -> str:
        """The speaker of an experience that names a session and nobody."""
        if self.actor is None and self.signed:
            raise Invalid(
                "INVALID_REQUEST",
                "a session was named and nobody who speaks in it",
                hint="pass observed_actor=",
                details={"field": "session"},
            )
        return self.actor or LOCAL_ACTOR

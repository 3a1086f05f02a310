"""Mem0's four ids and the scopes of Lamina: where a memory lives, and whose it is by where it lives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from lamina import limits
from lamina.access.principals import ACTOR
from lamina.errors import Invalid, Malformed
from lamina.kernel.names import decoded, encoded
from lamina.kernel.scopes import Scope

__all__ = ["FIELDS", "OwnerIds", "actor_of", "entities_of", "prefix_of_all", "require_id"]

FIELDS: Final = ("user_id", "agent_id", "app_id", "run_id")
_TYPES: Final = {"user_id": "user", "agent_id": "agent", "run_id": "ws"}
"""The type of the inner segment. An app is the segment around it."""


@dataclass(frozen=True, slots=True)
class OwnerIds:
    """Whom a memory belongs to; None where nobody was named."""

    user_id: str | None = None
    agent_id: str | None = None
    app_id: str | None = None
    run_id: str | None = None

    @property
    def named(self) -> dict[str, str]:
        """The ids that are there, by field."""
        return {name: value for name in FIELDS if (value := getattr(self, name)) is not None}

    def home(self) -> Scope:
        """Where such a memory is kept: with the user, else the agent, else the run; inside the app where there is one.

        Raises ``Malformed`` (MISSING_REQUIRED_FIELD) where nobody is named.
        """
        inner = next(
            (f"{_TYPES[name]}:{encoded(self.named[name])}" for name in _TYPES if name in self.named), None
        )
        outer = None if self.app_id is None else f"app:{encoded(self.app_id)}"
        path = "/".join(part for part in (outer, inner) if part is not None)
        if not path:
            raise Malformed(
                "MISSING_REQUIRED_FIELD",
                "one of user_id, agent_id, app_id and run_id is required",
                hint='name whose memory is meant, as user_id="ana", or filters={"user_id": "ana"} where you read',
                details={"field": "user_id"},
            )
        return Scope.parse(path)


def entities_of(scope: str) -> OwnerIds | None:
    """Whose memory a scope is; None for a scope that ``home`` never gives."""
    found: dict[str, str] = {}
    for segment in scope.split("/"):
        kind, _, name = segment.partition(":")
        field = (
            "app_id" if kind == "app" else next((each for each, own in _TYPES.items() if own == kind), None)
        )
        if field is None:
            return None
        found[field] = decoded(name)
    known = OwnerIds(**found)
    return known if known.home() == scope else None


def prefix_of_all(wanted: OwnerIds, of: str) -> str:
    """How the scopes of every memory begin that is like ``wanted`` in all but the field ``of``."""
    outer = "" if wanted.app_id is None or of == "app_id" else f"app:{encoded(wanted.app_id)}/"
    return outer + ("app:" if of == "app_id" else f"{_TYPES[of]}:")


def actor_of(field: str, value: str) -> str:
    """The actor whose words a user's or an agent's messages are: as tokens name them where an actor can be called so."""
    plain = f"{_TYPES[field]}:{value}"
    return plain if ACTOR.fullmatch(plain) else f"{_TYPES[field]}:{encoded(value)}"


def require_id(field: str, value: object) -> str:
    """An id as Mem0's clients send it, in text; raises ``Invalid``."""
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    longest = limits.PARTICIPANT_ID_BYTES_MAX
    plain = isinstance(text, str) and text.strip() and "\x00" not in text and text.isprintable()
    if not isinstance(text, str) or not plain or len(text.encode()) > longest:
        raise Invalid(
            "INVALID_REQUEST",
            f"{field} must be text that is not blank, of at most {longest} bytes",
            details={"field": field},
        )
    return text

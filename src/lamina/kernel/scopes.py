"""Scope paths: ``org:acme/dept:eng/user:alice`` (seed 002, 3.4 and Appendix B)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Self

from lamina import limits
from lamina.errors import Invalid

__all__ = ["BUILTIN_SCOPE_TYPES", "LOCAL_ACTOR", "Scope"]

BUILTIN_SCOPE_TYPES: Final = frozenset(
    {"org", "dept", "team", "app", "user", "agent", "service", "ws", "project", "global", "system"}
)

LOCAL_ACTOR: Final = "user:local"
"""Who calls without saying who they are, where the setting ``actor`` names nobody else; also the scope that is then meant."""

_SEGMENT = re.compile(
    rf"[a-z][a-z0-9_]{{0,{limits.SCOPE_TYPE_LENGTH_MAX - 1}}}"
    rf":[A-Za-z0-9_\-]{{1,{limits.SCOPE_ID_LENGTH_MAX}}}"
)
_HINT = (
    "a scope is 1 to 32 segments of type:id joined by '/'; type matches [a-z][a-z0-9_]*, id matches "
    "[A-Za-z0-9_-]+; for example org:acme/user:alice"
)


class Scope(str):
    """A parsed scope path. It is the text itself, so it stores, compares and prints as one.

    Only ``Scope.parse`` makes one from outside input: whoever holds a ``Scope`` holds a valid path.
    """

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """The scope named by ``text``; raises ``Invalid`` (INVALID_SCOPE_GRAMMAR) with what is wrong."""
        return cls(_checked(text))

    @property
    def segments(self) -> tuple[str, ...]:
        """The ``type:id`` parts, outermost first."""
        return tuple(self.split("/"))

    @property
    def type(self) -> str:
        """The type of the innermost segment: ``user`` for ``org:acme/user:alice``."""
        return self.rsplit("/", 1)[-1].split(":", 1)[0]

    @property
    def types(self) -> tuple[str, ...]:
        """The type of every segment, outermost first."""
        return tuple(segment.split(":", 1)[0] for segment in self.segments)

    @property
    def person(self) -> str | None:
        """The outermost ``user`` segment: whose memory the path lies in, if anybody's."""
        return next((segment for segment in self.segments if segment.startswith("user:")), None)

    def ancestors(self) -> tuple[Scope, ...]:
        """The paths above this one, nearest first; empty for a top-level scope."""
        parts = self.segments
        return tuple(Scope("/".join(parts[:depth])) for depth in range(len(parts) - 1, 0, -1))

    def lineage(self) -> tuple[Scope, ...]:
        """This scope, then its ancestors, nearest first: what ``view=holistic`` walks."""
        return (self, *self.ancestors())

    def contains(self, other: Scope) -> bool:
        """Whether ``other`` is this scope or lies below it. ``org:a`` does not contain ``org:ab``."""
        return other == self or other.startswith(f"{self}/")


@lru_cache(maxsize=8192)
def _checked(text: str) -> str:
    if not text:
        raise _invalid(text, "it is empty")
    if len(text) > limits.SCOPE_LENGTH_MAX:
        raise _invalid(text, f"it has {len(text)} characters, {limits.SCOPE_LENGTH_MAX} are allowed")
    segments = text.split("/")
    if len(segments) > limits.SCOPE_SEGMENTS_MAX:
        raise _invalid(text, f"it has {len(segments)} segments, {limits.SCOPE_SEGMENTS_MAX} are allowed")
    for number, segment in enumerate(segments, start=1):
        if not _SEGMENT.fullmatch(segment):
            raise _invalid(text, f"segment {number} ({segment[:64]!r}) is not type:id")
    return text


def _invalid(text: str, reason: str) -> Invalid:
    return Invalid(
        "INVALID_SCOPE_GRAMMAR",
        f"scope {text[:120]!r} is malformed: {reason}",
        hint=_HINT,
        details={"scope": text[:256], "reason": reason},
    )

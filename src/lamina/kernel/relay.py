"""What a Relay token grants: operations by scope, and places by namespace; a pure question, asked in one place.

An empty grant means nothing. ``admin:peers`` satisfies every scope and every namespace, but no path that leads outside.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Literal, Protocol

from lamina.kernel.events import EventDraft
from lamina.kernel.scopes import Scope

__all__ = [
    "DOCUMENTS_CHANNEL",
    "EVERYWHERE",
    "RELAY_SCOPE",
    "TEMPLATES",
    "Mode",
    "NoRelayAccess",
    "RelayAccess",
    "RelayGrant",
    "RelayNeed",
    "RelayRight",
    "may",
    "namespace_of",
    "rests_on",
    "told_path",
    "write_right",
]

RELAY_SCOPE: Final = Scope("app:relay")
"""The scope of every event that a Relay document leads to."""

DOCUMENTS_CHANNEL: Final = "documents"
"""The channel of an event that landed with a document, which no caller's request can have: only such an event tells of one."""

EVERYWHERE: Final = "*"

Mode = Literal["read", "write"]


class RelayRight(StrEnum):
    """What Relay calls a token's scopes."""

    READ_FILES = "read:files"
    READ_INDEX = "read:index"
    WRITE_JOURNAL = "write:journal"
    WRITE_MESSAGES = "write:messages"
    WRITE_PROJECTS = "write:projects"
    SEARCH = "search"
    COMPACT_TRIGGER = "compact:trigger"
    ADMIN_PEERS = "admin:peers"
    REPLICATION_SYNC = "replication:sync"


@dataclass(frozen=True, slots=True)
class RelayGrant:
    """What one token holds: rights, and the folders that it may read and write. ``*`` is every folder."""

    rights: frozenset[str] = frozenset()
    read_namespaces: frozenset[str] = frozenset()
    write_namespaces: frozenset[str] = frozenset()

    @property
    def admin(self) -> bool:
        """Whether it passes every check of rights and namespaces."""
        return RelayRight.ADMIN_PEERS in self.rights


TEMPLATES: Final[Mapping[str, RelayGrant]] = {
    "collaboration_peer": RelayGrant(
        frozenset({"read:files", "search", "write:messages", "write:projects"}),
        frozenset({"memory/coordination", "messages", "tasks"}),
        frozenset(
            {
                "memory/coordination/handoffs",
                "memory/coordination/shared",
                "memory/coordination/reconciliations",
                "messages",
                "tasks",
            }
        ),
    ),
    "replication_peer": RelayGrant(
        frozenset({"replication:sync", "read:files", "write:messages"}),
        frozenset({EVERYWHERE}),
        frozenset(
            {"archive", "essays", "journal", "memory", "messages", "patches", "peers", "projects", "runs"}
            | {"snapshots", "tasks"}
        ),
    ),
}
"""Grants that operators give often. Issuing a token applies none by itself."""


def may(grant: RelayGrant, right: str | None, mode: Mode | None = None, path: str | None = None) -> bool:
    """Whether a grant holds a right (None: whoever has a token), and may read or write at a path."""
    if right is not None and right not in grant.rights and not grant.admin:
        return False
    if path is None:
        return True
    place = namespace_of(path)
    if place is None:
        return False
    namespaces = grant.write_namespaces if mode == "write" else grant.read_namespaces
    if grant.admin or EVERYWHERE in namespaces:
        return True
    return any(place == each or place.startswith(f"{each}/") for each in namespaces)


def namespace_of(path: str) -> str | None:
    """A path as namespaces are compared with it, None where it leads outside. Letters keep their case."""
    place = posixpath.normpath(path) if path else "."
    outside = place in (".", "..") or place.startswith(("/", "../")) or "\0" in place
    return None if outside else place


def write_right(path: str) -> RelayRight:
    """The right that writing a document takes, by its first folder."""
    first = (namespace_of(path) or "").partition("/")[0]
    named = {"journal": RelayRight.WRITE_JOURNAL, "messages": RelayRight.WRITE_MESSAGES}
    return named.get(first, RelayRight.WRITE_PROJECTS)


def told_path(event: EventDraft) -> str | None:
    """The path of the document that an event tells of, None of every other event."""
    path = event.content.get("path")
    return path if event.origin.channel == DOCUMENTS_CHANNEL and isinstance(path, str) else None


def rests_on(content: Mapping[str, Any], channel: str) -> tuple[str, ...]:  # Any: JSON
    """The events that a document was made from, by the content and the channel of the event that tells of it: what was handed over,
    answered or disputed.

    Empty for every other event: what a caller's own request says of it is only said.
    """
    named = content.get("rests_on") if channel == DOCUMENTS_CHANNEL else None
    return tuple(each for each in named if isinstance(each, str)) if isinstance(named, list) else ()


@dataclass(frozen=True, slots=True)
class RelayNeed:
    """What an operation takes whatever it is asked for: a right, and where it always touches the same place, that too.

    None is the right of whoever has a token: where the path that a request names says which right it takes.
    """

    right: RelayRight | None
    mode: Mode | None = None
    path: str | None = None


class RelayAccess(Protocol):
    """What the caller of one call may do with Relay's documents. Silence means no."""

    @property
    def peer_id(self) -> str:
        """Who calls, by the name that Relay has for them."""
        ...

    @property
    def admin(self) -> bool:
        """Whether the caller administers peers, and with them everything of Relay."""
        ...

    def allows(self, right: str | None, mode: Mode | None = None, path: str | None = None) -> bool:
        """Whether the caller holds the right, and may read or write at the path."""
        ...

    def require(self, right: str | None, mode: Mode | None = None, path: str | None = None) -> None:
        """Nothing, or ``Forbidden`` (MISSING_SCOPE, NAMESPACE_DENIED, POLICY_DENIED)."""
        ...


class NoRelayAccess:
    """``RelayAccess`` of nobody."""

    peer_id = "anonymous"
    admin = False

    def allows(self, right: str | None, mode: Mode | None = None, path: str | None = None) -> bool:  # noqa: ARG002
        """Mirrors ``RelayAccess.allows``."""
        return False

    def require(self, right: str | None, mode: Mode | None = None, path: str | None = None) -> None:
        """Mirrors ``RelayAccess.require``."""
        raise AssertionError(f"nobody asks for {right} {mode} {path}: the operation is open")

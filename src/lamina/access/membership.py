"""Who belongs to a scope, and what each role may.

The nearest registered scope at or above a path governs it: its members enter and nobody else does. A path without
one is a scratchpad: whoever wrote there first owns it, and everybody in the tenant with the capability may use it.
The memory of a person, ``user:ana`` and all below it, is Ana's own whoever wrote there first, and closed to other people.
The scope of Relay's documents is the server's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from lamina.access.documents import CATALOGUE
from lamina.kernel.capabilities import Capability
from lamina.kernel.names import encoded
from lamina.kernel.relay import RELAY_SCOPE
from lamina.kernel.scopes import Scope
from lamina.store.ports.registry import ScopeState

__all__ = [
    "CREATE_CAPABILITIES",
    "Place",
    "Role",
    "crosses_tenants",
    "needed_role",
    "owners_of",
    "place_of",
    "written_names",
]

_PERSON: Final = "user:"


class Role(IntEnum):
    """What a member may; each role may what the one before may."""

    NONE = 0
    READER = 1
    WRITER = 2
    OWNER = 3

    @classmethod
    def of(cls, word: str | None) -> Role:
        """The role behind its word; NONE for no word."""
        return cls[word.upper()] if word else cls.NONE


CREATE_CAPABILITIES: Final[Mapping[str, Capability]] = {
    "org": Capability.SCOPE_CREATE_ORG,
    "user": Capability.SCOPE_CREATE_USER,
    "agent": Capability.SCOPE_CREATE_AGENT,
    "ws": Capability.SCOPE_CREATE_WS,
    "global": Capability.SCOPE_CREATE_GLOBAL,
}
"""The capability that registering a scope of a type takes; types that are not named take none of their own."""

_BY_READERS: Final = (
    "scope.read.", "understanding.read", "lifecycle.", "export.", "blob.read", "llm.", "diagnostics.", "audit.",
    "temporal.phrases.read", "vocabulary.read",
)  # fmt: skip
_BY_WRITERS: Final = ("scope.write", "understanding.synthesize", "import.", "blob.upload", "forget.cascade.")
_BY_ANYBODY: Final = (
    "scope.create.",
    "policy.administer.tenant",
    "policy.administer.deployment",
    "admin.",
    "auth.",
)


def _needed(capability: Capability) -> Role:
    for prefixes, role in ((_BY_ANYBODY, Role.NONE), (_BY_READERS, Role.READER), (_BY_WRITERS, Role.WRITER)):
        if capability.startswith(prefixes):
            return role
    return Role.OWNER


_NEEDED: Final = {capability: _needed(capability) for capability in CATALOGUE}


def needed_role(capability: Capability) -> Role:
    """The role that using a capability on a registered scope takes. What nobody thought of takes an owner."""
    return _NEEDED[capability]


def crosses_tenants(scope: Scope, tenant_id: str) -> bool:
    """Whether a path names another tenant: an ``org`` segment with another id than the caller's tenant."""
    return any(segment.startswith("org:") and segment[4:] != tenant_id for segment in scope.segments)


def written_names(actor: str) -> tuple[str, ...]:
    """The segments that name a person in a path, of which the second writes an id that no scope can hold; none for an agent or a service."""
    return (actor, _PERSON + encoded(actor.removeprefix(_PERSON))) if actor.startswith(_PERSON) else ()


def owners_of(path: Scope, creator: str) -> tuple[str, ...]:
    """Who owns a scope that nobody registered: whoever wrote first; in a person's memory the person, and with them an agent or a service
    that wrote first."""
    person = path.person
    if person is None or person in written_names(creator):
        return (creator,)
    return (person,) if creator.startswith(_PERSON) else (person, creator)


@dataclass(frozen=True, slots=True)
class Place:
    """A path as membership sees it: what governs it, and who owns it and the unregistered scopes above it."""

    path: Scope
    exists: bool
    governing: ScopeState | None
    creators: Mapping[Scope, str]
    """Who wrote first, by path, of the path and those above it that exist unregistered below the governing one."""

    @property
    def is_servers_own(self) -> bool:
        """Whether the server owns it: what every peer of Relay keeps lies here, whoever wrote first."""
        return self.governing is None and self.path == RELAY_SCOPE

    def is_own(self, actor: str) -> bool:
        """Whether it lies in the actor's own memory, and no registration governs it."""
        return self.governing is None and self.path.person in written_names(actor)

    def is_of_another(self, actor: str) -> bool:
        """Whether it lies in the memory of a person, no registration governs it, and the actor is another person."""
        names = written_names(actor)
        return self.governing is None and self.path.person not in (None, *names) and bool(names)

    def role(self, actor: str) -> Role:
        """The actor's role in the registered scope that governs the path; none where there is none."""
        return Role.NONE if self.governing is None else Role.of(self.governing.members.get(actor))

    def natural_level(self, actor: str) -> Scope | None:
        """The deepest path at or above this one where the actor is an owner or writer (seed 002, 18.2 item 5).

        Nothing that was written above a person's memory, or in it, gives another person a level there.
        """
        if self.is_of_another(actor):
            return None
        own = self.is_own(actor)
        levels = [
            path for path, creator in self.creators.items() if creator == actor or (own and path.person)
        ]
        if self.role(actor) >= Role.WRITER:
            assert self.governing is not None, "only a registered scope has roles"
            levels.append(self.governing.path)
        return max(levels, key=len, default=None)

    @property
    def children_register_themselves(self) -> bool:
        """Whether a first write below the governing scope may make a new scope."""
        children = self.governing.policies.get("children") if self.governing else None
        return not isinstance(children, Mapping) or children.get("auto_register") is not False

    def above(self) -> Sequence[Scope]:
        """What a holistic read walks after this path: the ancestors, or what the registration says to inherit."""
        ancestors = self.path.ancestors()
        inherits = self.governing.policies.get("inherit_from") if self.governing else None
        if self.governing is None or inherits is None:
            return ancestors
        own = [path for path in ancestors if self.governing.path.contains(path)]
        return list(dict.fromkeys([*own, *map(Scope, inherits)]))


def place_of(path: Scope, states: Mapping[Scope, ScopeState]) -> Place:
    """The place of a path, from the states of its lineage."""
    creators: dict[Scope, str] = {}
    for each in path.lineage():
        state = states.get(each)
        if state is not None and state.registered:
            return Place(path, path in states, state, creators)
        if state is not None and each != RELAY_SCOPE:
            creators[each] = state.created_by
    return Place(path, path in states, None, creators)

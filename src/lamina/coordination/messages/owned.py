"""Which documents of messages go with a person: what they sent, whoever wrote it down, what was sent to them, and the answers."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.store.ports.messages import Messages
from lamina.store.ports.traces import About

__all__ = ["with_messages"]

_AGENT = "agent:"


def with_messages(about: About, messages: Messages) -> About:
    """Tells what ``about`` does of a tenant's actors, and beside it the paths of messages that name them as sender or recipient."""

    def of(tenant_id: str, actors: Sequence[str]) -> list[str]:
        named = messages.paths_naming(tenant_id, [actor.removeprefix(_AGENT) for actor in actors])
        return sorted({*about(tenant_id, actors), *named})

    return of

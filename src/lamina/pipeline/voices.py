"""Whose voice a statement is: corroboration counts those who vouch independently of each other, not messages.

Who writes under their own token is a voice. Who writes for somebody else is one with them, and so are all for whom they write: nobody
else saw any of them say it. What a tool or a document says is vouched for by whoever brought it. A program that writes into a person's
own memory does so for that person (decisions 0016 and 0017), and what it read there and says again is nothing new.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from lamina.kernel.events import Event, Trust

__all__ = ["independent", "voices_of"]

_PROGRAMS = frozenset({"agent", "service", "app", "system"})
_PERSON = "user:"


def voices_of(event: Event) -> frozenset[str]:
    """The actors who are one in what an event says."""
    actor, origin = event.observed_actor, event.origin
    match origin.trust:
        case Trust.PRINCIPAL:
            voices = {actor.id}
        case Trust.DELEGATED:
            voices = {actor.id, origin.principal}
        case Trust.EXTERNAL:
            voices = {origin.principal}
    if any(voice.partition(":")[0] in _PROGRAMS for voice in voices):
        voices |= {segment for segment in event.scope.split("/") if segment.startswith(_PERSON)}
    return frozenset(voices)


def independent(said: Iterable[Collection[str]]) -> Mapping[str, str]:
    """For each actor a name for those who are one with them, directly or through others: the first of them in the order of names.

    >>> independent([("user:ana", "agent:b"), ("agent:b", "user:eve"), ("user:tom",)])["user:eve"]
    'agent:b'
    """
    first: dict[str, str] = {}

    def root(actor: str) -> str:
        while first.setdefault(actor, actor) != actor:
            actor = first[actor]
        return actor

    for voices in said:
        roots = sorted({root(voice) for voice in voices})
        for other in roots[1:]:
            first[other] = roots[0]
    return {actor: root(actor) for actor in list(first)}

"""From an event to the utterance that extraction reads: who speaks, to whom, after what."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.kernel.events import Event, Modality, Trust, role_of, text_of
from lamina.kernel.local import to_local
from lamina.language.quarantine import gives_orders, quarantine_of
from lamina.pipeline.extract.values import Previous, Utterance

__all__ = ["PREVIOUS_READ", "extracts", "role_of", "utterance_of"]

PREVIOUS_READ = 2
"""How many earlier turns of a session are read to resolve pronouns."""

_STRUCTURED = frozenset(modality.value for modality in Modality)
_WORDED = ("message", "text")
_AGENT = "agent"


def extracts(event: Event) -> bool:
    """Whether an event's words are read for facts: a known modality, in natural language, somebody wants them, and they are no
    orders to whoever reads them."""
    wanted = event.directives.wants("facts") or event.directives.wants("entities")
    worded = wanted and event.modality in _STRUCTURED and event.content.get("kind") in _WORDED
    return worded and not gives_orders(quarantine_of(event))


def utterance_of(event: Event, previous: Sequence[Event]) -> Utterance:
    """What extraction reads; ``previous`` are the session's turns before it, oldest first."""
    speaker = event.observed_actor
    previous = [turn for turn in previous if not gives_orders(quarantine_of(turn))]
    others = [turn.observed_actor for turn in previous if turn.observed_actor.id != speaker.id]
    is_assistants = role_of(event) == "assistant" or speaker.type == _AGENT
    return Utterance(
        text=text_of(event.content),
        speaker=speaker.id,
        observed_at=to_local(event.context.observed_at, event.offset),
        speaker_name=speaker.display_name,
        role=role_of(event),
        addressee_name=others[-1].display_name if others else None,
        previous=tuple(Previous(turn.observed_actor.id, text_of(turn.content)) for turn in previous),
        participants=tuple(dict.fromkeys(turn.observed_actor.display_name for turn in previous)),
        personal=event.origin.trust is not Trust.EXTERNAL,
        advises=is_assistants and bool(others) and others[-1].type != _AGENT,
    )

"""Expiry: what is over by its time to live, as an entry of the log says it (decision 0052)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from lamina.kernel.erasure_rules import LegalHold
from lamina.kernel.events import EXPIRY, Event
from lamina.kernel.records import Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant

__all__ = ["Expiry", "TtlRules", "expiry_of"]

_MADE_OF: Final[Mapping[Layer, tuple[Layer, ...]]] = {
    Layer.EVENTS: (Layer.EPISODES, Layer.FACTS, Layer.BELIEFS, Layer.UNDERSTANDING),
    Layer.FACTS: (Layer.BELIEFS, Layer.UNDERSTANDING),
}
"""What is made of a layer, and so ends with it where nothing else is laid down."""


@dataclass(frozen=True, slots=True)
class Expiry:
    """What one entry of the log says is over: ``ids`` of one layer.

    ``until`` is the newest instant that is too old: a derived record that was borne out later is not over. Of ``follows`` those layers go
    with it that have no time to live of their own. ``through`` is the position of the log up to which all events of the scope are over,
    0 where these were over by what they said themselves.
    """

    layer: Layer
    ids: tuple[str, ...]
    until: Instant
    follows: frozenset[Layer] = frozenset()
    through: int = 0

    def content(self) -> dict[str, Any]:  # Any: JSON
        """What the entry holds: ids and figures, and no word of anybody."""
        return {
            "kind": EXPIRY,
            "layer": self.layer.value,
            "ids": list(self.ids),
            "until": self.until,
            "follows": sorted(each.value for each in self.follows),
            "through": self.through,
        }


def expiry_of(event: Event) -> Expiry | None:
    """What an entry of the log says is over, None for any other event, and for an entry that lost its content."""
    if event.origin.channel != EXPIRY or event.redacted_by is not None:
        return None
    said = event.content
    return Expiry(
        Layer(said["layer"]),
        tuple(str(each) for each in said["ids"]),
        int(said["until"]),
        frozenset(Layer(each) for each in said["follows"]),
        int(said["through"]),
    )


@dataclass(frozen=True, slots=True)
class TtlRules:
    """What is laid down for the records of one scope: by layer how long they live, in microseconds; nothing for ever.

    Events count from when they were recorded, derived records from when they were borne out last. ``erases`` says whether what is over is
    erased, too; ``holds`` are the tenant's legal holds.
    """

    ttl_us: Mapping[Layer, int] = field(default_factory=dict)
    erases: bool = False
    holds: Collection[LegalHold] = ()

    def follows(self, layer: Layer) -> frozenset[Layer]:
        """The layers that go with what is over in one: they are made of it, and have no time to live of their own."""
        return frozenset(each for each in _MADE_OF.get(layer, ()) if each not in self.ttl_us)

    def keeps(self, scope: Scope) -> bool:
        """Whether a legal hold keeps a scope as it is: nothing of it is hidden or erased."""
        return any(hold.scope.contains(scope) for hold in self.holds)

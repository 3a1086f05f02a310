"""What an answer is made from: the lines of a pack with the items behind them, as they stand for a minute.

A pack may be asked about again while it lasts (seed 002, 8.4 and 18.2): by its caller, as they may read now, and without what
was cancelled or forgotten since.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from lamina import limits
from lamina.errors import Gone, NotFound
from lamina.kernel.operations import Call
from lamina.kernel.records import Layer, is_event
from lamina.kernel.scopes import Scope
from lamina.kernel.time import SECOND_US
from lamina.kernel.wire import Result
from lamina.recall.kept import Basis, packed, unpacked
from lamina.recall.pack import Item
from lamina.store.ports.packs import PackKind, StoredPack
from lamina.store.ports.store import Store
from lamina.types.layers import TraversedScope
from lamina.types.recall import CitedLayer, Pack, PackLayers

__all__ = ["GroundLine", "Grounds", "grounds_of", "keep_grounds", "kept_grounds"]

_CITED: Mapping[Layer, CitedLayer] = {
    Layer.EVENTS: "event",
    Layer.EPISODES: "episode",
    Layer.FACTS: "fact",
    Layer.BELIEFS: "belief",
    Layer.UNDERSTANDING: "concept",
}


class GroundLine(Result):
    """A line with its marker. ``score`` is comparable inside a layer only; ``at`` is when it was said or since when it holds, µs."""

    marker: str
    layer: CitedLayer
    id: str
    text: str
    score: float
    at: int

    @property
    def words(self) -> str:
        """What was said, of an event without who said it and when; of anything else the line."""
        return self.text.split('"')[1] if self.layer == "event" and self.text.count('"') >= 2 else self.text


class Grounds(Result):
    """A pack without its layers, and the lines of its block; of a view without a block, those that its items would have there.
    ``removals`` are those of its ``Basis``."""

    pack: Pack
    lines: list[GroundLine]
    removals: int

    @property
    def scopes(self) -> list[Scope]:
        """Every scope that the pack was made from."""
        walked = [each.scope for each in self.pack.scopes_traversed or () if isinstance(each, TraversedScope)]
        return [Scope(each) for each in dict.fromkeys([self.pack.scope, *walked])]

    def standing(self, store: Store, call: Call) -> Grounds:
        """The same without the lines of what was cancelled or forgotten since, of what rests on what was cancelled, and of concepts that the
        caller may not read any more; nor does its provenance name what is gone. Of a concept and of an episode not all sources are cited:
        once something was cancelled, it may be one of these."""
        basis = Basis.of(store, self.scopes, call)
        if basis.without_concepts:
            # A line does not say which scope it is of.
            lines = [line for line in self.lines if line.layer != "concept"]
            return self.model_copy(update={"lines": lines})._standing(store, call, basis.removals)
        return self._standing(store, call, basis.removals)

    def _standing(self, store: Store, call: Call, removals: int) -> Grounds:
        if removals == self.removals:
            return self
        told = self.pack.provenance
        cited = told.citations
        resting = {line.id: _events_of(line.id, cited) for line in self.lines}
        named = {*resting, *told.markers.values(), *cited, *chain(*cited.values(), *resting.values())}
        event_ids = {each for each in named if is_event(each)}
        events = store.log.get(call.principal.tenant_id, event_ids)
        # A record may be forgotten by itself, and its events stay.
        records = store.records.heads(call.principal.tenant_id, named - event_ids)
        there = {key for held in (events, records) for key, each in held.items() if not each.excluded}
        gone = named - there
        kept = [
            line
            for line in self.lines
            if line.layer not in ("concept", "episode")
            and not gone.intersection([line.id, *resting[line.id]])
        ]
        left: dict[str, object] = {
            "citations": {
                key: [each for each in sources if each in there]
                for key, sources in cited.items()
                if key in there
            },
            "markers": {marker: key for marker, key in told.markers.items() if key in there},
        }
        pack_ = self.pack.model_copy(update={"provenance": told.model_copy(update=left)})
        return self.model_copy(update={"pack": pack_, "lines": kept, "removals": removals})


def _events_of(record_id: str, cited: Mapping[str, Sequence[str]]) -> list[str]:
    seen: dict[str, None] = {record_id: None}
    front = [record_id]
    while front:
        front = [below for each in front for below in cited.get(each, ()) if below not in seen]
        seen |= dict.fromkeys(front)
    return [each for each in seen if is_event(each)]


def grounds_of(pack: Pack, cited: Mapping[str, tuple[Item, str]], removals: int) -> Grounds:
    """What an answer about a pack is made from; ``cited`` are items with their lines by marker (``Block.cited``), ``removals`` those of
    what it was made from."""
    lines = [
        GroundLine(
            marker=marker, layer=_CITED[item.layer], id=item.id, text=text, score=item.score, at=_since(item)
        )
        for marker, (item, text) in cited.items()
    ]
    return Grounds(pack=pack, lines=lines, removals=removals)


def _since(item: Item) -> int:
    value = item.value
    return value.context.observed_at if item.layer is Layer.EVENTS else value.valid_from  # type: ignore[union-attr] # by the layer


def keep_grounds(store: Store, call: Call, grounds: Grounds) -> None:
    """Keep what an answer is made from for as long as the pack lasts."""
    nothing = {
        "layers": PackLayers.empty(),
        "knowledge_subgraph": None,
        "diagnostics": None,
        "context_block": "",
    }
    bare = grounds.model_copy(update={"pack": grounds.pack.model_copy(update=nothing)})
    body = bare.model_dump_json(by_alias=True)
    store.packs.keep(
        StoredPack(
            tenant_id=call.principal.tenant_id,
            kind=PackKind.PACK,
            caller=call.principal.actor,
            id=grounds.pack.pack_id,
            body_hash="",
            made_at=call.now,
            content=packed(body.encode()),
        )
    )


def kept_grounds(store: Store, call: Call, pack_id: str) -> Grounds:
    """What an answer about the caller's pack is made from.

    Raises ``NotFound`` (PACK_NOT_FOUND) for an id that is nobody's or another's, ``Gone`` (PACK_EXPIRED) past its minute.
    """
    kept = store.packs.find(call.principal.tenant_id, PackKind.PACK, call.principal.actor, pack_id)
    if kept is None:
        raise NotFound(
            "PACK_NOT_FOUND",
            f"there is no pack {pack_id} of yours",
            hint="use_pack_id takes the pack_id of a recall that you made within the last minute",
            details={"field": "use_pack_id"},
        )
    if not kept.content or call.now - kept.made_at > limits.PACK_TTL_S * SECOND_US:
        raise Gone(
            "PACK_EXPIRED",
            f"the pack {pack_id} is older than {limits.PACK_TTL_S} seconds",
            hint="recall again, or leave use_pack_id out",
            details={"field": "use_pack_id"},
        )
    return Grounds.model_validate_json(unpacked(kept.content))

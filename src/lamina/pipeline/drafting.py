"""How an experience envelope becomes a draft of an event (seed 002, 3.5)."""

from __future__ import annotations

from lamina.kernel.events import PLAIN, Context, Directives, EventDraft, Modality, Origin, Party, Trust
from lamina.kernel.operations import Principal
from lamina.kernel.scopes import Scope
from lamina.kernel.time import duration_us
from lamina.types.envelope import EnvelopeContext, EnvelopeDirectives, Item, PartyIn

__all__ = ["Drafting", "draft_of"]


def draft_of(item: Item, scope: Scope, principal: Principal) -> EventDraft:
    """The draft of an experience: identities and directives filled in, origin set from the principal."""
    return Drafting(scope, principal).draft_of(item)


class Drafting:
    """Makes the drafts of a batch. It has up to a thousand, so what they share, as who speaks and whose word it is, is made once.

    ``defaults`` and ``actor`` are the batch's own, used where an item says nothing.
    """

    def __init__(
        self,
        scope: Scope,
        principal: Principal,
        *,
        defaults: EnvelopeDirectives | None = None,
        actor: PartyIn | None = None,
        batch_id: str | None = None,
    ) -> None:
        self._scope = scope
        self._principal = principal
        self._defaults = _directives(defaults)
        self._actor = actor
        self._batch_id = batch_id
        self._caller = Party.of(principal.actor)
        self._parties: dict[tuple[str, str | None, str | None], Party] = {}
        self._origins: dict[Trust, Origin] = {}

    def draft_of(self, item: Item) -> EventDraft:
        """The draft of the event that an item becomes."""
        principal, named = self._principal, item.observed_actor or self._actor
        observed_actor = self._party(named) if named else self._caller
        return EventDraft(
            tenant_id=principal.tenant_id,
            scope=self._scope,
            caller=principal.actor,
            observed_actor=observed_actor,
            subject=self._party(item.subject) if item.subject else observed_actor,
            session=named.session if named else None,
            modality=item.modality,
            content=item.content,
            context=_context(item.context),
            directives=_directives(item.directives) if item.directives else self._defaults,
            origin=self._origin(_trust(item, observed_actor, principal)),
            batch_id=self._batch_id,
        )

    def _origin(self, trust: Trust) -> Origin:
        """The same value for the same trust."""
        origin = self._origins.get(trust)
        if origin is None:
            origin = self._origins[trust] = Origin(self._principal.actor, self._principal.channel, trust)
        return origin

    def _party(self, given: PartyIn) -> Party:
        """The same value for the same words."""
        words = (given.id, given.type, given.name)
        party = self._parties.get(words)
        if party is None:
            party = self._parties[words] = given.party()
        return party


def _context(context: EnvelopeContext) -> Context:
    told = context.told_at
    # In the order of its fields: by their names it takes twice as long.
    return Context(
        told.at,
        told.offset,
        context.source_recorded_at,
        context.location,
        tuple(context.preceded_by),
        context.intent,
        tuple(context.labels),
    )


_EXTERNAL = frozenset({Modality.TOOL_RESULT.value, Modality.DOCUMENT.value})


def _directives(given: EnvelopeDirectives | None) -> Directives:
    if given is None:
        return PLAIN
    belief_ttl, event_ttl = given.ttl_for_belief_layer, given.ttl_for_event_layer
    return Directives(
        extract=None if given.extract is None else tuple(given.extract),
        consolidate_into=Scope(given.consolidate_into) if given.consolidate_into else None,
        consolidate_only=None if given.consolidate_only is None else tuple(given.consolidate_only),
        confidence_floor=given.confidence_floor,
        belief_ttl_us=duration_us(belief_ttl) if belief_ttl else None,
        event_ttl_us=duration_us(event_ttl) if event_ttl else None,
        embed=given.embed or "eager",
    )


def _trust(item: Item, observed_actor: Party, principal: Principal) -> Trust:
    """The authority of an event: whatever came out of a tool or a document is nobody's word."""
    external = item.modality in _EXTERNAL or item.content.get("role") == "tool"
    if external:
        return Trust.EXTERNAL
    return Trust.PRINCIPAL if observed_actor.id == principal.actor else Trust.DELEGATED

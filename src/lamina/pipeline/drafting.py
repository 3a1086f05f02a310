"""How an experience envelope becomes a draft of an event (seed 002, 3.5)."""

from __future__ import annotations

from lamina.kernel.events import PLAIN, Context, Directives, EventDraft, Modality, Origin, Party, Trust
from lamina.kernel.operations import Principal
from lamina.kernel.scopes import Scope
from lamina.kernel.time import duration_us
from lamina.types.envelope import EnvelopeDirectives, Item, PartyIn

__all__ = ["draft_of"]


def draft_of(
    item: Item,
    scope: Scope,
    principal: Principal,
    *,
    defaults: EnvelopeDirectives | None = None,
    actor: PartyIn | None = None,
    batch_id: str | None = None,
) -> EventDraft:
    """The draft of an experience: identities and directives filled in, origin set from the principal.

    ``defaults`` and ``actor`` are a batch's own, used where an item says nothing.
    """
    named = item.observed_actor or actor
    observed_actor = named.party() if named else Party.of(principal.actor)
    subject = item.subject.party() if item.subject else observed_actor
    context, told = item.context, item.context.told_at
    return EventDraft(
        tenant_id=principal.tenant_id,
        scope=scope,
        caller=principal.actor,
        observed_actor=observed_actor,
        subject=subject,
        session=named.session if named else None,
        modality=item.modality,
        content=item.content,
        context=Context(
            observed_at=told.at,
            observed_offset=told.offset,
            source_recorded_at=context.source_recorded_at,
            location=context.location,
            preceded_by=tuple(context.preceded_by),
            intent=context.intent,
            labels=tuple(context.labels),
        ),
        directives=_directives(item.directives or defaults),
        origin=Origin(principal.actor, principal.channel, _trust(item, observed_actor, principal)),
        batch_id=batch_id,
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

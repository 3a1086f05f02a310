"""The codes of claims that are corrected, and of what a tenant defines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lamina.catalogue.entries import STATE, ErrorCode

__all__ = ["CODES"]

CODES: Final[Mapping[str, ErrorCode]] = {
    "PHRASE_EXISTS": ErrorCode(
        "Conflict",
        STATE,
        "Another phrase of the tenant has the name or the words, upper and lower case being the same: `details.field` says which, "
        "`details.name` whose. Nothing was changed.",
        hint="take that one back first, with DELETE /v1/temporal/phrases/{name}",
    ),
    "TOO_MANY_PHRASES": ErrorCode(
        "Conflict",
        STATE,
        "The tenant has as many phrases as it may, `details.phrases_max`.",
        hint="take one back, with DELETE /v1/temporal/phrases/{name}",
    ),
    "FACT_ENDED": ErrorCode(
        "Conflict",
        STATE,
        "The fact to correct or to retract holds no more: it ended at `details.ended_at`, or `details.superseded_by` took "
        "its place. Nothing was stored.",
        hint="correct the fact that holds now",
    ),
    "SAME_ENTITY": ErrorCode(
        "Conflict",
        STATE,
        "The two entities to merge are one already, `details.canonical_id`. Nothing was stored.",
        hint="GET /v1/entities/{id} says as which entity one is known",
    ),
    "ENTITY_NAME_TAKEN": ErrorCode(
        "Conflict",
        STATE,
        "The scope knows another entity, `details.name_of`, by the name that the new one was to have. Nothing was stored.",
        hint="split with a name that nobody has, and merge the new one into that entity",
    ),
    "SCOPE_OWNER_STAYS": ErrorCode(
        "Conflict",
        STATE,
        "The entity to be taken in is the person whose memory the scope is, and they stay who they are. Nothing was stored.",
        hint="merge the other entity into this one",
    ),
}

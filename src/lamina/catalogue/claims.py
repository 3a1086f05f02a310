"""The codes of claims that are corrected, and of what a tenant defines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lamina.catalogue.entries import REQUESTS, STATE, ErrorCode

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
    "VOCABULARY_EXISTS": ErrorCode(
        "Conflict",
        STATE,
        "A vocabulary of the tenant has the name, `details.name`. Nothing was changed.",
        hint="change it, with PUT /v1/vocabularies/{name}",
    ),
    "TOO_MANY_VOCABULARIES": ErrorCode(
        "Conflict",
        STATE,
        "The tenant has as many vocabularies as it may, `details.vocabularies_max`.",
        hint="add terms to one of them, with PUT /v1/vocabularies/{name}",
    ),
    "UNKNOWN_VOCABULARY": ErrorCode(
        "Invalid",
        REQUESTS,
        "A policy names vocabularies that are not registered, `details.unknown`. Nothing was changed.",
        hint="register it first, with POST /v1/vocabularies",
    ),
    "VALUE_NOT_IN_VOCABULARY": ErrorCode(
        "Invalid",
        REQUESTS,
        "A stated value is none that the vocabulary of the scope has for its predicate: it is not on a closed list, or of another "
        "datatype. `details.vocabulary` and `details.predicate` say which term, `details.fits` what would do. Nothing was stored.",
        hint="GET /v1/vocabularies/{name} shows what the term may be",
    ),
    "WRONG_UNIT": ErrorCode(
        "Invalid",
        REQUESTS,
        "A stated number is in another unit than the vocabulary of the scope has for its predicate, `details.fits`. Nothing was stored.",
        hint="state it in the unit of the term, or without a unit",
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

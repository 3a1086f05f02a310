"""The operations on a tenant's vocabularies (seed 002, 8.14). Each change is an entry of the log with a place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lamina import limits
from lamina.errors import Conflict, Invalid, NotFound
from lamina.kernel.canonical import canonical
from lamina.kernel.capabilities import Capability
from lamina.kernel.defining import definition_entry
from lamina.kernel.operations import Answer, Call, Effect, Grant, Operation, Tier
from lamina.kernel.vocabularies import VOCABULARY, vocabulary_of
from lamina.store.ports.definitions import Definition, Definitions
from lamina.types.vocabularies import (
    RegisterVocabulary,
    ReplaceVocabulary,
    VocabulariesRequest,
    VocabularyList,
    VocabularyNamed,
    VocabularyReplaced,
    VocabularySummary,
    VocabularyView,
)

__all__ = ["vocabulary_operations"]


class VocabularyHandlers:
    """Handlers of a tenant's vocabularies."""

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions

    def register(self, request: RegisterVocabulary, call: Call) -> Answer:
        """Register a vocabulary; raises ``Conflict`` (VOCABULARY_EXISTS, TOO_MANY_VOCABULARIES)."""
        body = _bounded(request.body(request.name))

        def check(standing: Sequence[Definition]) -> None:
            if any(each.name == request.name for each in standing):
                raise Conflict(
                    "VOCABULARY_EXISTS",
                    "there is a vocabulary of this name",
                    hint="change it with PUT /v1/vocabularies/{name}, or take another name",
                    details={"name": request.name},
                )
            if len(standing) >= limits.VOCABULARIES_MAX:
                raise Conflict(
                    "TOO_MANY_VOCABULARIES",
                    "the tenant has as many vocabularies as it may",
                    hint="add terms to one of them with PUT /v1/vocabularies/{name}",
                    details={"vocabularies_max": limits.VOCABULARIES_MAX},
                )

        made = self._definitions.define(
            definition_entry(call, VOCABULARY, body), (VOCABULARY, request.name), check
        )
        return Answer(VocabularyView(**_fields(made)), created=True)

    def replace(self, request: ReplaceVocabulary, call: Call) -> Answer:
        """Put a vocabulary in the place of the one of its name; raises ``NotFound``."""
        body = _bounded(request.body(request.name))
        kept = {term.id for term in request.terms}
        gone: list[str] = []

        def check(standing: Sequence[Definition]) -> None:
            if all(each.name != request.name for each in standing):
                raise _unknown(request.name)

        def lost(standing: Definition | None) -> Sequence[str]:
            before = () if standing is None else standing.body["terms"]
            gone[:] = sorted({term["id"] for term in before} - kept)
            return gone

        made = self._definitions.define(
            definition_entry(call, VOCABULARY, body), (VOCABULARY, request.name), check, lost=lost
        )
        return Answer(VocabularyReplaced(**_fields(made), deprecates=gone))

    def listed(self, request: VocabulariesRequest, call: Call) -> Answer:
        """Every vocabulary that stands, or stood as of an earlier time."""
        held = self._definitions.held(call.principal.tenant_id, VOCABULARY, seen_at=request.as_of)
        return Answer(
            VocabularyList(
                items=[
                    VocabularySummary(
                        name=each.name,
                        kind=each.body["vocabulary_kind"],
                        description=each.body.get("description"),
                        terms=len(each.body["terms"]),
                        changed_at=each.recorded_from,
                    )
                    for each in held
                ]
            )
        )

    def one(self, request: VocabularyNamed, call: Call) -> Answer:
        """One vocabulary, now or as of an earlier time; raises ``NotFound``."""
        found = self._definitions.named(
            call.principal.tenant_id, VOCABULARY, [request.name], seen_at=request.as_of
        )
        if request.name not in found:
            raise _unknown(request.name)
        return Answer(VocabularyView(**_fields(found[request.name])))


def vocabulary_operations(definitions: Definitions) -> list[Operation[Any]]:
    """The operations on a tenant's vocabularies."""
    vocabularies = VocabularyHandlers(definitions)
    reads = [Grant(Capability.VOCABULARY_READ)]
    # What a predicate means is decided for everybody in the tenant (seed 002, 8.14.1).
    writes = [Grant(Capability.VOCABULARY_WRITE), Grant(Capability.POLICY_ADMINISTER_TENANT)]
    return [
        Operation(
            name="vocabulary_register",
            request=RegisterVocabulary,
            result=VocabularyView,
            capability=Capability.POLICY_ADMINISTER_TENANT,
            effect=Effect.WRITE,
            tier=Tier.BETA,
            grants=lambda r, p: writes,  # noqa: ARG005 - the port's shape
            handler=vocabularies.register,
            summary="Register a vocabulary of predicates or of relations.",
            answers=(201,),
            commits_with=201,
            fails=("VOCABULARY_EXISTS", "TOO_MANY_VOCABULARIES"),
        ),
        Operation(
            name="vocabularies",
            request=VocabulariesRequest,
            result=VocabularyList,
            capability=Capability.VOCABULARY_READ,
            effect=Effect.READ,
            tier=Tier.BETA,
            grants=lambda r, p: reads,  # noqa: ARG005 - the port's shape
            handler=vocabularies.listed,
            summary="List the tenant's vocabularies.",
        ),
        Operation(
            name="vocabulary",
            request=VocabularyNamed,
            result=VocabularyView,
            capability=Capability.VOCABULARY_READ,
            effect=Effect.READ,
            tier=Tier.BETA,
            grants=lambda r, p: reads,  # noqa: ARG005 - the port's shape
            handler=vocabularies.one,
            summary="One vocabulary with its terms.",
            fails=("NOT_FOUND",),
        ),
        Operation(
            name="vocabulary_put",
            request=ReplaceVocabulary,
            result=VocabularyReplaced,
            capability=Capability.VOCABULARY_WRITE,
            effect=Effect.WRITE,
            tier=Tier.BETA,
            grants=lambda r, p: writes,  # noqa: ARG005 - the port's shape
            handler=vocabularies.replace,
            summary="Replace a vocabulary; facts by terms that it has no more leave the default reads.",
            fails=("NOT_FOUND",),
        ),
    ]


def _bounded(body: dict[str, Any]) -> dict[str, Any]:  # Any: JSON
    size = len(canonical(body))
    if size > limits.VOCABULARY_BYTES_MAX:
        raise Invalid(
            "INVALID_REQUEST",
            f"the vocabulary has {size} bytes, {limits.VOCABULARY_BYTES_MAX} are allowed",
            hint="make two vocabularies of it; a policy may name several",
            details={"bytes": size, "bytes_max": limits.VOCABULARY_BYTES_MAX},
        )
    return body


def _unknown(name: str) -> NotFound:
    return NotFound(
        "NOT_FOUND",
        "there is no such vocabulary",
        hint="GET /v1/vocabularies lists them; POST /v1/vocabularies registers one",
        details={"name": name},
    )


def _fields(held: Definition) -> dict[str, Any]:  # Any: the fields of the view
    kind = held.body["vocabulary_kind"]
    terms = [{"synonyms": [], **term} for term in held.body["terms"]]
    return {
        "name": held.name,
        "kind": kind,
        "description": held.body.get("description"),
        "predicates": terms if kind == "predicate" else None,
        "relations": terms if kind == "relation" else None,
        "text": vocabulary_of(held.name, held.body).text,
        "changed_at": held.recorded_from,
    }

"""A tenant's own words for stretches of time: registered, listed and taken back (seed 002, 8.17 and 12.4).

Each change is an entry of the log with a place, so that a reader of an earlier time is answered by the words of then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lamina import limits
from lamina.errors import Conflict, NotFound
from lamina.kernel.capabilities import Capability
from lamina.kernel.defining import definition_entry
from lamina.kernel.operations import Answer, Call, Effect, Grant, Operation, Tier
from lamina.kernel.time import Instant, rfc3339
from lamina.kernel.wire import Nothing
from lamina.recall.layers.words import PHRASE_KIND
from lamina.store.ports.definitions import Definition, Definitions
from lamina.types.phrases import (
    PhraseList,
    PhraseNamed,
    PhrasesRequest,
    PhraseView,
    RegisterPhrase,
    ResolutionView,
)

__all__ = ["phrase_operations"]


class PhraseHandlers:
    """Handlers of a tenant's phrases."""

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions

    def register(self, request: RegisterPhrase, call: Call) -> Answer:
        """Register a phrase; raises ``Conflict`` (PHRASE_EXISTS, TOO_MANY_PHRASES)."""
        start, end = request.resolves_to.valid_during
        said = {
            "name": request.name,
            "pattern": " ".join(request.pattern.split()),
            "valid_during": [rfc3339(start), rfc3339(end)],
            "from": start,
            "to": end,
        }

        def check(standing: Sequence[Definition]) -> None:
            for each in standing:
                for field in ("name", "pattern"):
                    if each.body[field].casefold() == str(said[field]).casefold():
                        raise _taken(field, each)
            if len(standing) >= limits.PHRASES_MAX:
                raise Conflict(
                    "TOO_MANY_PHRASES",
                    "the tenant has as many phrases as it may",
                    hint="take one back with DELETE /v1/temporal/phrases/{name}",
                    details={"phrases_max": limits.PHRASES_MAX},
                )

        made = self._definitions.define(
            definition_entry(call, PHRASE_KIND, said), (PHRASE_KIND, request.name), check
        )
        return Answer(_view(made), created=True)

    def listed(self, request: PhrasesRequest, call: Call) -> Answer:  # noqa: ARG002 - the port's shape
        """Every phrase that stands."""
        held = self._definitions.held(call.principal.tenant_id, PHRASE_KIND)
        return Answer(PhraseList(items=[_view(each) for each in held]))

    def remove(self, request: PhraseNamed, call: Call) -> Answer:
        """Take a phrase back; raises ``NotFound``."""
        entry = definition_entry(call, PHRASE_KIND, {"name": request.name, "withdrawn": True})
        if self._definitions.withdraw(entry, (PHRASE_KIND, request.name)) is None:
            raise NotFound("NOT_FOUND", "there is no such phrase", details={"name": request.name})
        return Answer(None)


def phrase_operations(definitions: Definitions) -> list[Operation[Any]]:
    """The operations on a tenant's words for stretches of time."""
    phrases = PhraseHandlers(definitions)
    # They are words of everybody in the tenant (seed 002, 8.17.1).
    writes = [Grant(Capability.TEMPORAL_PHRASES_WRITE), Grant(Capability.POLICY_ADMINISTER_TENANT)]
    return [
        Operation(
            name="temporal_phrase_register",
            request=RegisterPhrase,
            result=PhraseView,
            capability=Capability.TEMPORAL_PHRASES_WRITE,
            effect=Effect.WRITE,
            tier=Tier.BETA,
            grants=lambda r, p: writes,  # noqa: ARG005 - the port's shape
            handler=phrases.register,
            summary="Register words of your own for a stretch of time.",
            answers=(201,),
            commits_with=201,
            fails=("PHRASE_EXISTS", "TOO_MANY_PHRASES"),
        ),
        Operation(
            name="temporal_phrases",
            request=PhrasesRequest,
            result=PhraseList,
            capability=Capability.TEMPORAL_PHRASES_READ,
            effect=Effect.READ,
            tier=Tier.BETA,
            grants=lambda r, p: [Grant(Capability.TEMPORAL_PHRASES_READ)],  # noqa: ARG005 - the port's shape
            handler=phrases.listed,
            summary="List the tenant's words for stretches of time.",
        ),
        Operation(
            name="temporal_phrase_remove",
            request=PhraseNamed,
            result=Nothing,
            capability=Capability.TEMPORAL_PHRASES_WRITE,
            effect=Effect.WRITE,
            tier=Tier.BETA,
            grants=lambda r, p: writes,  # noqa: ARG005 - the port's shape
            handler=phrases.remove,
            summary="Take words for a stretch of time back; readers of an earlier time still have them.",
            answers=(204,),
            commits_with=204,
            fails=("NOT_FOUND",),
        ),
    ]


def _taken(field: str, by: Definition) -> Conflict:
    return Conflict(
        "PHRASE_EXISTS",
        f"another phrase has this {field}",
        hint="take that one back first: DELETE /v1/temporal/phrases/{name}",
        details={"field": field, "name": by.name},
    )


def _view(held: Definition) -> PhraseView:
    during: tuple[Instant, Instant] = (held.body["from"], held.body["to"])
    return PhraseView(
        name=held.name, pattern=held.body["pattern"], resolves_to=ResolutionView(valid_during=during)
    )

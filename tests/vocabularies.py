"""Vocabularies of tests: put into a store as the server puts them, and made active."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from given import ALICE, TENANT, draft
from lamina.kernel.events import DEFINITION, Directives, EventDraft, Origin, Trust
from lamina.kernel.scopes import Scope
from lamina.kernel.vocabularies import ACTIVE_VOCABULARIES, VOCABULARY
from lamina.store.ports.definitions import Definition
from lamina.store.ports.registry import Activation, PolicyRow
from lamina.types.vocabularies import ReplaceVocabulary
from told import Memory

STAGE = {"id": "deal_stage", "values": ["intro", "poc", "close", "lost"], "synonyms": ["stage"]}


def entry(kind: str, said: dict[str, Any]) -> EventDraft:
    return draft(
        content={"kind": kind, **said},
        scope=Scope("system:definitions"),
        modality=DEFINITION,
        directives=Directives(extract=(), embed="none"),
        origin=Origin("user:admin", DEFINITION, Trust.PRINCIPAL),
    )


def put(memory: Memory, *terms: dict[str, Any], name: str = "sales", kind: str = "predicate") -> Definition:
    """Register a vocabulary or put it in the place of the one before."""
    listed = "predicates" if kind == "predicate" else "relations"
    body = ReplaceVocabulary.model_validate({"name": name, "kind": kind, listed: list(terms)}).body(name)
    kept = {term["id"] for term in terms}

    def lost(standing: Definition | None) -> Sequence[str]:
        return [] if standing is None else sorted({term["id"] for term in standing.body["terms"]} - kept)

    return memory.store.definitions.define(
        entry(VOCABULARY, body), (VOCABULARY, name), lambda standing: None, lost=lost
    )


def activate(memory: Memory, names: list[str] | None, path: str = ALICE) -> None:
    """Put a policy document of a scope that says which vocabularies are active."""
    said: dict[str, Any] = {} if names is None else {"vocabularies": names}
    row = PolicyRow(
        tenant_id=TENANT,
        tier="scope",
        target=path,
        document=said,
        set_by="user:admin",
        set_at=memory.clock.at,
    )
    place = f"policy {path}"
    change = entry(ACTIVE_VOCABULARIES, {"place": place, "vocabularies": names})
    memory.store.registry.put_document(row, Activation(change, place))

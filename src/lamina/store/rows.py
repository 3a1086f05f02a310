"""Derived values as rows, and back. Column order is that of the SQLite engine's ``schema.sql``.

Whatever an engine keeps, its ``snapshot`` shows these rows, so that one engine can be compared with another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from sys import intern
from typing import Any, Final

from pydantic_core import from_json

from lamina.kernel.canonical import compact
from lamina.kernel.events import Trust
from lamina.kernel.heads import RecordHead
from lamina.kernel.records import (
    PROMISED,
    Author,
    Belief,
    Binding,
    Claim,
    Concept,
    Edge,
    Episode,
    Evidence,
    Fact,
    Layer,
    Loop,
    LoopStatus,
    Mention,
    ObjectValue,
    Record,
    Stance,
    Subject,
)
from lamina.kernel.scopes import Scope
from lamina.store.bodies import packed, unpacked
from lamina.store.claim_digests import claim_digest
from lamina.store.fact_bodies import fact_body, spelled
from lamina.store.ports.index import TextRow

__all__ = [
    "BODY",
    "Row",
    "packed_row",
    "parsed",
    "read_head",
    "read_mention",
    "read_record",
    "read_text",
    "record_row",
    "text_row",
    "with_body",
]

Row = tuple[Any, ...]
"""A row as SQLite returns it: its columns are None, int, float, str or bytes."""
BODY: Final = 22
"""The column of ``record`` that holds what is not searched."""


def record_row(record: Record) -> Row:
    """The row of a version: what is searched in columns, the rest in ``body``."""
    columns, body = _WRITERS[record.layer](record)
    return (
        record.tenant_id,
        record.id,
        record.version,
        record.layer.value,
        record.scope,
        record.position,
        columns.get("subject"),
        columns.get("predicate"),
        columns.get("object_key"),
        columns.get("slot"),
        claim_digest(columns["claim_key"]) if "claim_key" in columns else None,
        columns.get("session"),
        columns.get("topic"),
        record.confidence,
        columns.get("stance"),
        record.valid_from,
        record.valid_to,
        record.recorded_from,
        record.recorded_to,
        record.superseded_by,
        record.closed_by,
        int(record.excluded),
        compact(
            body
            if record.trust is Trust.PRINCIPAL or "told" in body
            else {**body, "trust": record.trust.value}
        ),
        *(columns.get(name) for name in _LOOP_STATE),
    )


def packed_row(record: Record) -> Row:
    """As ``record_row``, with the body in few bytes."""
    row = record_row(record)
    return with_body(row, packed(record.layer, row[BODY]))


def with_body(row: Row, body: str | bytes) -> Row:
    """The row of a version with another body."""
    return (*row[:BODY], body, *row[BODY + 1 :])


_Written = tuple[dict[str, Any], dict[str, Any]]
_LOOP_STATE: Final = ("status", "salience", "horizon", "due_at", "due_offset", "seen_at")


def _claim_columns(record: Claim) -> dict[str, Any]:
    return {
        "subject": record.subject.id,
        "predicate": record.predicate,
        "object_key": record.object.key,
        "claim_key": record.claim_key,
    }


def _claim_body(record: Claim) -> dict[str, Any]:
    value = record.object
    told: dict[str, Any] = {"by_assistant": True} if record.by_assistant else {}
    if record.handed_over:
        told["handed_over"] = True
    if record.said_by is not None:
        told["said_by"] = [record.said_by.id, record.said_by.name]
    if (record.from_offset, record.to_offset) != (None, None):
        told["offsets"] = [record.from_offset, record.to_offset]
    return {
        **told,
        "subject": [record.subject.name, record.subject.type],
        "object": [value.type, value.value, value.datatype, value.unit, value.id, value.name],
        "negated": record.negated,
    }


def _write_fact(record: Any) -> _Written:
    fact: Fact = record
    columns = {**_claim_columns(fact), "slot": fact.slot}
    if isinstance(fact, Loop):
        columns["topic"] = fact.topic
        columns |= {name: getattr(fact, name) for name in _LOOP_STATE} | {"status": fact.status.value}
    fades = {} if fact.fades_at is None else {"fades_at": fact.fades_at}
    bound = fact.binding
    binding = {} if bound is None else {"binding": [bound.vocabulary, bound.predicate_said, bound.confidence]}
    return columns, fact_body(fact, {**fades, **binding, **_claim_body(fact)})


def _write_belief(record: Any) -> _Written:
    belief: Belief = record
    demoted = {} if belief.demoted_by is None else {"demoted_by": belief.demoted_by}
    return {**_claim_columns(belief), "stance": belief.stance.value}, {
        **demoted,
        **_claim_body(belief),
        "external": belief.external,
        "alpha": belief.alpha,
        "beta": belief.beta,
        "lower": belief.lower,
        "upper": belief.upper,
        "revision_count": belief.revision_count,
        "contradicts": list(belief.contradicts),
        "evidence": [list(each) for each in belief.evidence],
        "revised_at": list(belief.revised_at),
    }


def _write_episode(record: Any) -> _Written:
    episode: Episode = record
    return {"session": episode.session, "topic": episode.topic}, {
        "name": episode.name,
        "summary": episode.summary,
        "started_at": episode.started_at,
        "ended_at": episode.ended_at,
        "size": episode.size,
        "sealed": episode.sealed,
        "actors": list(episode.actors),
        "centrality": episode.centrality,
        "follows": episode.follows,
        **({"resting": True} if episode.resting else {}),
    }


def _write_concept(record: Any) -> _Written:
    concept: Concept = record
    columns = {"subject": concept.about, "topic": concept.topic, "stance": concept.stance.value}
    came: dict[str, Any] = {}
    if concept.canonical_id is not None:
        came["canonical_id"] = concept.canonical_id
    if concept.derived_from:
        came["derived_from"] = list(concept.derived_from)
    if concept.support_lost:
        came["support_lost"] = concept.support_lost
    if concept.worded_from is not None:
        came["worded"] = [concept.worded_from, [[text, list(cites)] for text, cites in concept.sentences]]
    return columns, {
        **came,
        "name": concept.name,
        "summary": concept.summary,
        "synthesizer": concept.synthesizer,
        "consulted": concept.consulted,
        "available": concept.available,
        "edges": [_edge(edge) for edge in concept.edges],
        "inputs": list(concept.inputs),
        "unread": list(concept.unread),
    }


def _edge(edge: Edge) -> list[str | float]:
    told: list[str | float] = [edge.to, edge.relation, edge.weight]
    return told if edge.vocabulary == "default" else [*told, edge.vocabulary]


_WRITERS: Mapping[Layer, Callable[[Any], _Written]] = {
    Layer.FACTS: _write_fact,
    Layer.BELIEFS: _write_belief,
    Layer.EPISODES: _write_episode,
    Layer.UNDERSTANDING: _write_concept,
}


def read_record(row: Row) -> Record:
    """The version of a ``record`` row, its body packed or not."""
    (tenant_id, record_id, version, layer, scope, position, subject, predicate, object_key, slot, _, session, topic,
     confidence, stance, valid_from, valid_to, recorded_from, recorded_to, superseded_by, closed_by, excluded,
     body, *state) = row  # fmt: skip
    common: dict[str, Any] = {
        "tenant_id": tenant_id,
        "id": record_id,
        "version": version,
        "scope": Scope(scope),
        "position": position,
        "confidence": confidence,
        "valid_from": valid_from,
        "valid_to": valid_to,
        "recorded_from": recorded_from,
        "recorded_to": recorded_to,
        "superseded_by": superseded_by,
        "closed_by": closed_by,
        "excluded": bool(excluded),
    }
    said = spelled(parsed(unpacked(body)), object_key)
    common["trust"] = Trust(said.pop("trust", Trust.PRINCIPAL))
    match Layer(layer):
        case Layer.FACTS:
            return _read_fact(said, slot, state, {**common, **_read_claim(subject, predicate, said)})
        case Layer.BELIEFS:
            return Belief(
                **common,
                **_read_claim(subject, predicate, said),
                stance=Stance(stance),
                external=said["external"],
                alpha=said["alpha"],
                beta=said["beta"],
                lower=said["lower"],
                upper=said["upper"],
                revision_count=said["revision_count"],
                contradicts=tuple(said["contradicts"]),
                evidence=tuple(Evidence(*each) for each in said.get("evidence", ())),
                revised_at=tuple(said.get("revised_at", ())),
                demoted_by=said.get("demoted_by"),
            )
        case Layer.EPISODES:
            return Episode(**common, session=session, **{**said, "actors": tuple(said["actors"])})
        case Layer.UNDERSTANDING:
            said["edges"] = tuple(Edge(*edge) for edge in said["edges"])
            for name in ("inputs", "unread", "derived_from"):
                said[name] = tuple(said.get(name, ()))
            if "worded" in said:
                said["worded_from"], sentences = said.pop("worded")
                said["sentences"] = tuple((text, tuple(cites)) for text, cites in sentences)
            return Concept(**common, about=subject, topic=topic, stance=Stance(stance), **said)
        case Layer.EVENTS:
            raise AssertionError("events are not derived")


def _read_fact(
    said: Mapping[str, Any], slot: str | None, state: Sequence[Any], claimed: dict[str, Any]
) -> Fact:
    values = {
        **claimed,
        "event_id": said["event_id"],
        "kind": said["kind"],
        "text": said["text"],
        "external": said.get("external", False),
        "extractor": said["extractor"],
        "slot": slot,
        "supersedes": said.get("supersedes"),
        "fades_at": said.get("fades_at"),
        "binding": Binding(*said["binding"]) if "binding" in said else None,
    }
    status, *_ = state
    if status is None:
        return Fact(**values)
    return Loop(**values, **{**dict(zip(_LOOP_STATE, state, strict=True)), "status": LoopStatus(status)})


def _read_claim(subject: str, predicate: str, said: Mapping[str, Any]) -> dict[str, Any]:
    name, kind = said["subject"]
    value_type, value, datatype, unit, value_id, value_name = (*said["object"], *[None] * 6)[:6]
    from_offset, to_offset = said.get("offsets", (None, None))
    return {
        "subject": Subject(subject, name, kind),
        "predicate": predicate,
        "object": ObjectValue(value_type, value, datatype, unit, value_id, value_name),
        "negated": said.get("negated", False),
        "by_assistant": said.get("by_assistant", False),
        "from_offset": from_offset,
        "to_offset": to_offset,
        "handed_over": said.get("handed_over", False),
        "said_by": Author(*said["said_by"]) if "said_by" in said else None,
    }


def read_head(row: Row) -> RecordHead:
    """The head of the version of a ``record`` row, its body packed or not. Thousands stay with who reads them (``store/kept.py``): what
    others name as well is one object in all of them."""
    (_, record_id, version, layer, scope, _, subject, predicate, object_key, slot, _, _, _, confidence, stance, valid_from, valid_to, recorded_from,
     recorded_to, superseded_by, _, excluded, body, status, *_) = row  # fmt: skip
    said = spelled(parsed(unpacked(body)), object_key)
    common = (
        intern(record_id),
        _LAYERS[layer],
        Scope(scope),
        version,
        bool(excluded),
        stance == _DEPRECATED,
        confidence,
        _amount(layer, said),
        valid_from,
        valid_to,
        recorded_from,
        recorded_to,
        superseded_by and intern(superseded_by),
    )
    if "object" not in said:
        return RecordHead(*common)
    value_type, value, _, unit, value_id, value_name = (*said["object"], *[None] * 6)[:6]
    if value_type != "literal":
        text = value_name or value_id or ""
    else:
        text = f"{value} {unit}" if unit else str(value)
    offsets, kind = said.get("offsets"), said.get("kind", "")
    return RecordHead(
        *common,
        intern(subject),
        intern(said["subject"][0]),
        intern(predicate),
        value_id and intern(value_id),
        intern(object_key),
        intern(text),
        said.get("negated", False),
        said.get("external", False),
        "said_by" not in said,
        intern(said.get("event_id", "")),
        intern(kind),
        said.get("text", ""),
        slot,
        status is None or kind == PROMISED,
        said.get("fades_at"),
        offsets[1] if offsets else None,
    )


_LAYERS: Final = {layer.value: layer for layer in Layer}
_DEPRECATED: Final = Stance.DEPRECATED.value


def _amount(layer: str, said: Mapping[str, Any]) -> float:
    """As ``RecordHead`` has it."""
    match layer:
        case "beliefs":
            return float(said["alpha"] + said["beta"])
        case "episodes":
            return float(said["size"])
        case "understanding":
            return float(said["consulted"])
        case _:
            return 0.0


def text_row(row: TextRow) -> Row:
    """The row of a record as search sees it, without its number."""
    return (
        row.tenant_id,
        row.record_id,
        row.layer.value,
        row.scope,
        row.recorded_at,
        row.observed_at,
        row.session,
        row.speaker,
        row.role,
        row.characters,
        row.question_share,
        row.self_share,
        row.terms,
        row.keys,
        int(row.wants_vector),
        row.quarantined,
        row.days,
    )


def read_mention(row: Row) -> Mention:
    """The value of a ``mention`` row."""
    tenant_id, entity_id, scope, event_id, position, surface, kind = row
    return Mention(
        tenant_id=tenant_id,
        entity_id=entity_id,
        scope=Scope(scope),
        event_id=event_id,
        position=position,
        surface=surface,
        type=kind,
    )


def read_text(row: Row) -> TextRow:
    """The value of a ``text_row`` row."""
    (number, tenant_id, record_id, layer, scope, recorded_at, observed_at, session, speaker, role, characters,
     question_share, self_share, terms, keys, wants_vector, quarantined, days) = row  # fmt: skip
    # In the order of its fields: a scope that is loaded has a hundred thousand.
    return TextRow(tenant_id, record_id, Layer(layer), Scope(scope), recorded_at, observed_at, session, speaker, role, characters,
                   question_share, self_share, terms, keys, bool(wants_vector), quarantined, days, number)  # fmt: skip


def parsed(text: str) -> Any:  # Any: whatever JSON can hold
    """A JSON column as ``compact`` wrote it: its keys are few and come again, so they are made once."""
    return from_json(text, cache_strings="keys")

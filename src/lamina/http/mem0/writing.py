"""What Mem0's clients write: messages become turns, an update a correction, a deletion a retraction. Nothing is erased."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from lamina.errors import Forbidden, Invalid, LaminaError, NotFound, Unsupported
from lamina.http.mem0.asking import Asker
from lamina.http.mem0.entities import OwnerIds, actor_of, entities_of
from lamina.http.mem0.memories import Mem0Memory, as_json, text_of_fact
from lamina.http.mem0.requests import AddAsked, BatchAsked, MessageIn, UpdateAsked
from lamina.http.mem0.shelf import CallReads
from lamina.http.mem0.standing import StandingMemory, not_held, standing
from lamina.http.mem0.tags import TAGS, Tags, entities_behind, replaces_label, tags_of
from lamina.kernel.time import Instant, rfc3339
from lamina.kernel.views import FactView

__all__ = ["add", "delete", "delete_many", "update", "update_many"]

Json = dict[str, Any]  # Any: JSON, in the shapes that Mem0's clients know
_VISIBLE: Final = "indexed"
"""The stage that a correction is waited for, so that who reads next reads it."""
_NOT_ERASED: Final = "Nothing is erased. What was said stays in the log, and who reads as of an earlier time sees what was held then."


# ---- add


def add(asker: Asker, asked: AddAsked) -> Json:
    """Store messages, all or none; facts are drawn from them behind the answer."""
    entities = asked.entities
    scope = entities.home()
    at = asker.now if asked.timestamp is None else asked.timestamp
    tags = Tags(
        agent_id=entities.agent_id,
        run_id=entities.run_id,
        metadata=asked.metadata,
        expiration_date=asked.expiration_date,
        verbatim=not asked.infer,
    )
    items = [
        _turn(message, entities, tags, at, key=f"{asker.key}.{number}", asker=asker)
        for number, message in enumerate(asked.messages)
    ]
    request = {"scope": scope, "items": items, "idempotency_key": asker.key}
    done = asker.ask("experience_bulk", request)
    return {
        "message": "The messages are stored. Facts are drawn from them behind this answer; the event tells how far that is.",
        "status": "PENDING",
        "stage": "captured",
        "event_id": done.batch_id,
        "results": [
            {"id": event_id, "event": "ADD", "memory": message.text}
            for number, message in enumerate(asked.messages)
            if (event_id := _stored(asker, f"{asker.key}.{number}")) is not None
        ],
    }


def _turn(
    message: MessageIn,
    entities: OwnerIds,
    tags: Tags,
    at: Instant,
    *,
    key: str,
    asker: Asker,
    replaced: StandingMemory | None = None,
) -> Json:
    if not message.text.strip():
        raise Invalid(
            "INVALID_REQUEST",
            "messages: each holds text that is not blank; pictures and files are not read here",
            details={"field": "messages"},
        )
    named = entities.named
    said_by = {
        "user": actor_of("user_id", named["user_id"]) if "user_id" in named else asker.actor,
        "assistant": actor_of("agent_id", named["agent_id"]) if "agent_id" in named else asker.actor,
    }.get(message.role, asker.actor)
    speaker: Json = {"id": said_by} | ({} if "run_id" not in named else {"session": named["run_id"]})
    speaker |= {"name": message.name} if message.name else {}
    kept = tags.model_dump(mode="json", exclude_defaults=True)
    labels = [
        f"{field.removesuffix('_id')}:{named[field]}" for field in ("agent_id", "app_id") if field in named
    ]
    context: Json = {"observed_at": rfc3339(at), "labels": labels}
    if replaced is not None:
        labels.append(replaces_label(replaced.memory_id))
        context["preceded_by"] = [] if replaced.event is None else [replaced.event.id]
    return {
        "modality": "conversation",
        "observed_actor": speaker,
        "content": {
            "kind": "message",
            "role": message.role,
            "text": message.text,
            **({TAGS: kept} if kept else {}),
        },
        "context": context,
        "idempotency_key": key,
        **({"directives": {"extract": []}} if tags.verbatim else {}),
    }


def _stored(asker: Asker, key: str) -> str | None:
    """The id of the turn behind a key; None for a caller who may write but not read."""
    try:
        found = asker.ask("experience_by_key", {"key": key})
    except (Forbidden, NotFound):
        return None
    return str(found.event_id)


# ---- update


def update(asker: Asker, memory_id: str, asked: UpdateAsked, *, waits: bool = True) -> Json:
    """Let a memory say something else. A fact whose sentence stays but for its value is corrected; of anything else the memory becomes
    the new words, and what it said before is retracted."""
    text = _text_of(asked)
    shelf = CallReads(asker.ask)
    found = standing(asker, shelf, memory_id)
    memory = _standing_memory(found)
    if _plain(memory.text) == _plain(text):
        return {**as_json(memory), "message": "The memory says this already.", "status": "unchanged"}
    fact = found.fact
    value = None if fact is None else value_in(fact, text)
    if fact is not None and value is not None:
        _correct(asker, shelf, fact, memory, text, value, asked, waits=waits)
        status = "corrected"
    else:
        _replace(asker, found, memory, text, asked, waits=waits)
        status = "replaced"
    answer = {"message": f"The memory is {status}. {_NOT_ERASED}", "status": status}
    after = standing(asker, CallReads(asker.ask), memory_id).memory if waits else None
    if after is None or after.text == memory.text:
        # Derivation is behind: what was asked is on disk, and on its way.
        return {**as_json(memory), "memory": text, **answer, "stage": "captured"}
    return {**as_json(after), **answer}


def _text_of(asked: UpdateAsked) -> str:
    if asked.metadata is not None or asked.expiration_date is not None or asked.text is None:
        raise Unsupported(
            "CALL_NOT_OFFERED",
            "an update takes text, and timestamp; metadata and expiration_date stay with the message that brought them",
            hint="delete the memory and add it with the new ones",
            details={"field": "text" if asked.text is None else "metadata"},
        )
    return " ".join(asked.text.split())


def _standing_memory(found: StandingMemory) -> Mem0Memory:
    if found.memory is None or found.memory.superseded_by is not None:
        raise not_held(found.memory_id)
    return found.memory


def value_in(fact: FactView, text: str) -> Any:  # Any: a JSON scalar, or one with its unit
    """The value that a sentence gives a fact, where it is the fact's own but for that; None where it is another."""
    literal = fact.object.type == "literal"
    held: Any = fact.object.value if fact.object.type == "literal" else fact.object.name
    if held is None or isinstance(held, bool):
        return None
    before, found, behind = _plain(text_of_fact(fact)).rpartition(str(held))
    said = _plain(text)
    same = said.casefold().startswith(before.casefold()) and said.casefold().endswith(behind.casefold())
    value = said[len(before) : len(said) - len(behind)].strip() if same else ""
    if not found or not value or len(said) < len(before) + len(behind):
        return None
    if not literal or isinstance(held, str):
        return value
    try:
        number = int(value) if isinstance(held, int) else float(value)
    except ValueError:
        return None
    unit = fact.object.unit if fact.object.type == "literal" else None
    return number if unit is None else {"value": number, "unit": unit}


def _plain(text: str) -> str:
    return " ".join(text.split()).rstrip(".")


def _correct(
    asker: Asker,
    shelf: CallReads,
    fact: FactView,
    memory: Mem0Memory,
    text: str,
    value: Any,  # Any: as ``value_in`` gives it
    asked: UpdateAsked,
    *,
    waits: bool,
) -> None:
    request: Json = {"fact_id": fact.id, "object": value, "quote": text, **_spoken(shelf, fact, memory)}
    request |= {"wait": _VISIBLE} if waits else {}
    request |= {} if asked.timestamp is None else {"valid_from": rfc3339(asked.timestamp)}
    asker.ask("fact_correct", request)


def _spoken(shelf: CallReads, fact: FactView, memory: Mem0Memory) -> Json:
    """Who corrects: whoever said it, for whom the caller speaks, as when it was added."""
    turns = shelf.turns(fact)
    if turns:
        return {"observed_actor": {"id": turns[0].observed_actor.id, "name": turns[0].observed_actor.name}}
    user = memory.entities.user_id
    return {} if user is None else {"observed_actor": {"id": actor_of("user_id", user)}}


def _replace(
    asker: Asker, found: StandingMemory, memory: Mem0Memory, text: str, asked: UpdateAsked, *, waits: bool
) -> None:
    """Keep new words in the place of a memory, as they stand, and retract what it said. Where that is refused, the new words are taken back:
    what fails in between leaves the memory at least."""
    scope = memory.origin.scope
    entities = entities_behind(scope, memory.behind)
    tags = tags_of(memory.behind).model_copy(
        update={
            "agent_id": entities.agent_id,
            "run_id": entities.run_id,
            "verbatim": True,
            "replaces": found.memory_id,
        }
    )
    at = asker.now if asked.timestamp is None else asked.timestamp
    home = entities_of(scope)
    turn = _turn(
        MessageIn(role="user", content=text),
        entities if home is None else replace(entities, user_id=home.user_id),
        tags,
        at,
        key=f"{asker.key}.0",
        asker=asker,
        replaced=found,
    )
    stored = asker.ask("experience", {"envelope": {"scope": scope, **turn}})
    try:
        _retract(asker, found, memory, "Other words took its place.", waits=waits, goes_on=True)
    except LaminaError:
        # Somebody else's word is not everybody's to end.
        asker.ask("lifecycle_cancel", {"evt_id": stored.event_id}, goes_on=True)
        raise


def update_many(asker: Asker, asked: BatchAsked) -> Json:
    """Update several memories, one after another; each is looked up before the first is touched."""
    for item in asked.memories:
        _text_of(item)
        _standing_memory(standing(asker, CallReads(asker.ask), item.memory_id))
    done = [
        update(replace(asker, key=f"{asker.key[:48]}-{number}"), item.memory_id, item, waits=last)
        for number, item, last in _counted(asked)
    ]
    results = [
        {"id": item.memory_id, "status": each["status"]}
        for item, each in zip(asked.memories, done, strict=True)
    ]
    return {"message": f"Successfully updated {len(done)} memories", "results": results}


# ---- delete


def delete(asker: Asker, memory_id: str, *, waits: bool = True) -> Json:
    """Retract a memory: nobody reads it as held any more, and nothing of it is erased."""
    found = standing(asker, CallReads(asker.ask), memory_id)
    _retract(asker, found, _standing_memory(found), "It was deleted.", waits=waits)
    return {
        "message": f"The memory is retracted. {_NOT_ERASED}",
        "id": memory_id,
        "status": "retracted",
        "erased": False,
    }


def _retract(
    asker: Asker, found: StandingMemory, memory: Mem0Memory, why: str, *, waits: bool, goes_on: bool = False
) -> None:
    fact = found.fact
    if fact is None:
        asker.ask("lifecycle_cancel", {"evt_id": memory.origin.record_id}, goes_on=goes_on)
        return
    request: Json = {"fact_id": fact.id, "why": why, **_spoken(CallReads(asker.ask), fact, memory)}
    asker.ask("fact_retract", request | ({"wait": _VISIBLE} if waits else {}), goes_on=goes_on)


def delete_many(asker: Asker, asked: BatchAsked) -> Json:
    """Retract several memories, one after another; each is looked up before the first is touched."""
    for item in asked.memories:
        _standing_memory(standing(asker, CallReads(asker.ask), item.memory_id))
    for _, item, last in _counted(asked):
        delete(asker, item.memory_id, waits=last)
    return {
        "message": f"Successfully retracted {len(asked.memories)} memories. {_NOT_ERASED}",
        "status": "retracted",
        "erased": False,
    }


def _counted(asked: BatchAsked) -> list[tuple[int, Any, bool]]:
    """The items with their number, and whether each is the last: that one is waited for, those before it are done by then."""
    last = len(asked.memories) - 1
    return [(number, item, number == last) for number, item in enumerate(asked.memories)]

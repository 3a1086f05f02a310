"""What the tools do: each asks one or a few operations, and words what a model needs of their answers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from pydantic import BaseModel

from lamina import limits
from lamina.continuity.judgements.changed_page import changed_lines
from lamina.continuity.judgements.startup_page import startup_page
from lamina.continuity.judgements.trimming import tokens
from lamina.continuity.shelf.documents import NO_CAPSULE_SHA256
from lamina.errors import Invalid, NotFound
from lamina.kernel.ids import Prefix, prefix_of
from lamina.kernel.shown import cut_between_words, on_one_line, quoted
from lamina.kernel.time import Instant, instant, rfc3339
from lamina.mcp import arguments
from lamina.mcp.explaining import explained

__all__ = ["Caller", "ToolOutput", "run_tool"]

_WORDED_MAX: Final = 10
"""How many of the records drawn from a text are said in words; each is a read of its own."""
_LOOKED_AT: Final = 20
"""Among how many of the newest events of a scope the last that the caller remembered is looked for."""


class Caller(Protocol):
    """Who uses a tool, and the way to an operation on their behalf."""

    @property
    def actor(self) -> str:
        """The authenticated caller."""
        ...

    @property
    def scope(self) -> str:
        """The scope that is meant where none is named."""
        ...

    @property
    def agent(self) -> str | None:
        """The agent that speaks for the caller, where one was named."""
        ...

    @property
    def key(self) -> str:
        """What makes the call the same call when it is sent again."""
        ...

    @property
    def now(self) -> Instant:
        """The server's time."""
        ...

    def ask(self, operation: str, request: Mapping[str, Any]) -> Any:
        """The result of an operation, a model; raises ``LaminaError``."""
        ...


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a tool gives: the text that a model reads, and the same for programs."""

    text: str
    result: BaseModel


def run_tool(name: str, given: BaseModel, caller: Caller) -> ToolOutput:
    """What a tool gives; ``given`` are its arguments, as its row in ``tools.py`` has them. Raises ``LaminaError``."""
    return _RUNS[name](given, caller)


def _remember(given: arguments.Remember, caller: Caller) -> ToolOutput:
    stored = _stored(given.text, given, caller, role=given.role, labels=given.labels, session=given.session)
    drawn = _words_of(stored.derives, caller)
    said = f"Remembered as {stored.event_id} in {stored.scope}."
    if given.wait == "captured":
        said += " It is on disk; facts are drawn from it now."
    elif stored.status != given.wait:
        said += f" It is {stored.status}; the rest follows."
    return ToolOutput("\n".join([said, *drawn]), stored)


def _stored(
    text: str,
    given: arguments.Remember | arguments.Correct,
    caller: Caller,
    *,
    role: str = "user",
    labels: list[str] | None = None,
    session: str | None = None,
    preceded_by: str | None = None,
) -> arguments.RememberResult:
    scope = given.scope or caller.scope
    context: dict[str, Any] = {"observed_at": getattr(given, "observed_at", None) or rfc3339(caller.now)}
    context |= {"labels": labels} if labels else {}
    context |= {"preceded_by": [preceded_by]} if preceded_by else {}
    envelope: dict[str, Any] = {
        "scope": scope,
        "modality": "conversation",
        "content": {"kind": "message", "role": role, "text": text},
        "context": context,
        "idempotency_key": caller.key,
    }
    speaker = caller.agent if role == "assistant" and caller.agent else caller.actor
    if session is not None or speaker != caller.actor:
        envelope["observed_actor"] = {"id": speaker} | ({} if session is None else {"session": session})
    asked = {"envelope": envelope, "wait": given.wait}
    said = caller.ask("experience", asked).model_dump()
    return arguments.RememberResult(
        event_id=said["event_id"], status=said["status"], scope=scope, derives=said.get("derives", [])
    )


def _words_of(record_ids: list[str], caller: Caller) -> list[str]:
    """The facts among some records, a line each."""
    facts = [each for each in record_ids if prefix_of(each) is Prefix.FACT][:_WORDED_MAX]
    lines = []
    for each in facts:
        fact = caller.ask("fact", {"fact_id": each})
        lines.append(f"- {on_one_line(fact.in_words)} [{each}]")
    return lines


def _recall(given: arguments.RecallAsked, caller: Caller) -> ToolOutput:
    scope = given.scope or caller.scope
    temporal = {"natural": given.when, "as_of": given.as_of}
    asked = {
        "scope": scope,
        "query": given.query,
        "budgets": {"max_tokens": given.max_tokens},
        "temporal": {name: value for name, value in temporal.items() if value is not None},
    }
    pack = caller.ask("recall", asked)
    markers = dict(pack.provenance.markers)
    result = arguments.RecallResult(
        context=pack.context_block,
        answerable=pack.abstain.answerable,
        markers=markers,
        citations={name: list(ids) for name, ids in pack.provenance.citations.items()},
        scope=pack.scope,
        pack_id=pack.pack_id,
    )
    if not pack.context_block.strip():
        return ToolOutput(f"Nothing about this is remembered in {pack.scope}.", result)
    lines = [pack.context_block.rstrip()]
    if pack.abstain.answerable is False:
        lines.insert(0, "Memory may not hold the answer; this is the nearest to it.\n")
    if markers:
        lines.append("\nSources: " + ", ".join(f"[{mark}] {each}" for mark, each in _bare(markers).items()))
    return ToolOutput("\n".join(lines), result)


def _bare(markers: Mapping[str, str]) -> dict[str, str]:
    return {mark.strip("[]"): each for mark, each in markers.items()}


def _why(given: arguments.WhyAsked, caller: Caller) -> ToolOutput:
    reasons = explained(given.id, caller.ask)
    lines = [f"{reasons.words} [{reasons.id}]"]
    if not reasons.rests_on:
        lines.append("Nothing else is recorded below it.")
    lines += [f"{'  ' * each.depth}- {each.words} [{each.id}]" for each in reasons.rests_on]
    return ToolOutput("\n".join(lines), reasons)


def _correct(given: arguments.Correct, caller: Caller) -> ToolOutput:
    """Remembers the correction as a turn of the user's: what it contradicts ends by the rules of derivation. Of a fact that is
    given by its id exactly that one ends."""
    if given.fact_id is not None:
        return _correct_fact(given, given.fact_id, caller)
    for name in ("value", "since"):
        if getattr(given, name) is not None:
            raise _unfit(name, f"{name} says something of a fact, so it needs fact_id")
    if given.event_id is not None:
        _require_event(given.event_id)
        caller.ask("event", {"event_id": given.event_id})
    stored = _stored(given.text, given, caller, preceded_by=given.event_id)
    said = [f"Remembered as {stored.event_id} in {stored.scope}; it takes the place of what it contradicts."]
    if given.event_id is not None:
        caller.ask("lifecycle_cancel", {"evt_id": given.event_id})
        said.append(f"{given.event_id} is kept out of recall from now on.")
    result = arguments.CorrectResult(**stored.model_dump(), cancelled=given.event_id)
    return ToolOutput("\n".join([*said, *_words_of(stored.derives, caller)]), result)


def _correct_fact(given: arguments.Correct, fact_id: str, caller: Caller) -> ToolOutput:
    """Puts another value in the place of one fact's, or ends it, with the text as the words that say so."""
    if given.event_id is not None:
        raise _unfit("event_id", "fact_id and event_id are two ways to correct: give one of them")
    if given.scope is not None:
        raise _unfit("scope", "a fact stands in its own scope: leave scope out")
    if len(given.text) > limits.CORRECTION_WORDS_LENGTH_MAX:
        raise _unfit("text", f"with fact_id at most {limits.CORRECTION_WORDS_LENGTH_MAX} characters are kept")
    if prefix_of(fact_id) is not Prefix.FACT:
        raise Invalid(
            "INVALID_ID",
            f"{fact_id[:64]!r} is no id of a fact",
            hint="an id begins with fact_; recall and why show them",
            details={"field": "fact_id"},
        )
    fact = caller.ask("fact", {"fact_id": fact_id})
    asked: dict[str, Any] = {"fact_id": fact_id, "quote": given.text, "wait": given.wait}
    ends = given.value is None
    asked |= {} if ends else {"object": given.value}
    asked |= {} if given.since is None else {"valid_to" if ends else "valid_from": given.since}
    done = caller.ask("fact_retract" if ends else "fact_correct", asked).model_dump()
    result = arguments.CorrectResult(
        event_id=done["event_id"],
        status=done["status"],
        scope=fact.scope,
        derives=done["derives"],
        cancelled=None,
        corrected=None if ends else fact_id,
        retracted=fact_id if ends else None,
    )
    words = on_one_line(fact.text or fact.predicate)
    what = "holds no more" if ends else f"is corrected to {quoted(str(given.value))}"
    said = f"{fact_id} ({words}) {what}; recorded as {result.event_id}. It takes effect behind this answer."
    return ToolOutput("\n".join([said, *_words_of(result.derives, caller)]), result)


def _unfit(field: str, message: str) -> Invalid:
    return Invalid("INVALID_REQUEST", message, details={"field": field})


def _cancel_last(given: arguments.CancelLast, caller: Caller) -> ToolOutput:
    event_id = given.event_id
    words = ""
    if event_id is None:
        event_id, words = _last_of(caller, given.scope or caller.scope)
    _require_event(event_id)
    done = caller.ask("lifecycle_cancel", {"evt_id": event_id})
    result = arguments.CancelLastResult(
        event_id=done.event_id,
        excluded_from_recall=done.excluded_from_recall,
        stages_cancelled=list(done.stages_cancelled),
    )
    said = f"{done.event_id} is kept out of recall, with what rests on it alone. The log keeps it."
    return ToolOutput(f"{said}\n{words}" if words else said, result)


def _last_of(caller: Caller, scope: str) -> tuple[str, str]:
    page = caller.ask("events", {"scope": scope, "limit": _LOOKED_AT})
    for event in page.items:
        content = event.content or {}
        if event.caller == caller.actor and not event.excluded_from_recall and "text" in content:
            return (
                event.id,
                f"It said: {quoted(cut_between_words(str(content['text']), limits.SUMMARY_LENGTH_MAX))}",
            )
    raise NotFound(
        "NOT_FOUND",
        f"{caller.actor} remembered nothing in {scope} lately that could be cancelled",
        hint="give event_id, as recall or remember show it",
    )


def _require_event(event_id: str) -> None:
    if prefix_of(event_id) is not Prefix.EVENT:
        raise Invalid(
            "INVALID_ID",
            f"{event_id[:64]!r} is no id of something remembered",
            hint="an id begins with evt_; remember and recall show them",
            details={"field": "event_id"},
        )


# ---- capsules and reminders


def _subject(given: Any) -> dict[str, str]:  # Any: arguments that name a subject
    return {"subject_kind": given.subject_kind, "subject_id": given.subject_id}


def _capsule_read(given: arguments.CapsuleRead, caller: Caller) -> ToolOutput:
    asked = _subject(given) | {"view": "startup", "allow_fallback": True}
    read = caller.ask("continuity_read", asked)
    said = read.model_dump(mode="json")
    changed = _changed_since(given, caller) if given.since and read.capsule is not None else ""
    left = given.max_tokens and max(1, given.max_tokens - tokens(changed))
    page = "\n".join(line.text for line in startup_page(said, left)) + changed
    result = arguments.CapsuleReadResult(
        state=read.source_state,
        capsule=read.capsule,
        capsule_sha256=read.capsule_sha256,
        recovery_warnings=list(read.recovery_warnings),
    )
    return ToolOutput(page, result)


def _changed_since(given: arguments.CapsuleRead, caller: Caller) -> str:
    """What others made of a capsule meanwhile; of one that can only be read as an older copy nothing is told."""
    asked = _subject(given) | {"since": given.since}
    with contextlib.suppress(NotFound):
        said = caller.ask("continuity_diff", asked).model_dump(mode="json")
        return "\n\n" + "\n".join(line.text for line in changed_lines(said, str(given.since)))
    return ""


def _capsule_write(given: arguments.CapsuleWrite, caller: Caller) -> ToolOutput:
    now = rfc3339(caller.now)
    stands: Any = None  # Any: a model of the operations table
    with contextlib.suppress(NotFound):  # the first one of the subject
        stands = caller.ask("continuity_read", _subject(given))
    capsule: dict[str, Any] = dict(stands.capsule or {}) if stands is not None else {}
    state = dict(capsule.get("continuity") or _EMPTY_STATE)
    fields = given.model_dump(exclude_none=True)
    state |= {name: value for name, value in fields.items() if name in _STATE}
    for kept in ("verification_state", "capsule_health"):  # the server's own
        capsule.pop(kept, None)
    capsule |= _subject(given) | {"updated_at": now, "verified_at": now, "continuity": state}
    capsule["source"] = {
        "producer": caller.agent or caller.actor,
        "update_reason": "manual",
    }
    capsule.setdefault("confidence", {"continuity": 0.8, "relationship_model": 0.5})
    if given.label is not None:
        capsule["thread_descriptor"] = dict(capsule.get("thread_descriptor") or {}) | {"label": given.label}
    asked = _subject(given) | {"capsule": capsule}
    # Without a hash of the caller's the write stands on what was just read, if only that there is none: nobody's words are lost in between.
    present = NO_CAPSULE_SHA256 if stands is None else stands.capsule_sha256
    expected = given.expected_sha256 or present
    asked |= {"expected_sha256": expected} if expected else {}
    return _written(given, caller.ask("continuity_upsert", asked))


_EMPTY_STATE: Final[Mapping[str, Any]] = {
    "top_priorities": [],
    "active_concerns": [],
    "active_constraints": [],
    "open_loops": [],
    "stance_summary": "",
    "drift_signals": [],
}
_STATE: Final = frozenset(
    {
        "stance_summary",
        "top_priorities",
        "active_constraints",
        "active_concerns",
        "open_loops",
        "session_trajectory",
        "trailing_notes",
    }
)


def _capsule_patch(given: arguments.CapsulePatch, caller: Caller) -> ToolOutput:
    change = {"target": f"continuity.{given.list}", "action": given.action}
    change["value" if given.action == "append" else "match"] = given.item
    asked = _subject(given) | {"operations": [change]}
    asked |= {"expected_sha256": given.expected_sha256} if given.expected_sha256 else {}
    if given.action == "remove":
        asked["updated_at"] = rfc3339(caller.now)
    return _written(given, caller.ask("continuity_patch", asked))


def _written(
    given: Any, done: Any
) -> ToolOutput:  # Any: arguments with a subject, and what one of two writes answers
    changed = done.updated or getattr(done, "created", False)
    result = arguments.CapsuleWriteResult(
        path=done.path, changed=changed, capsule_sha256=done.capsule_sha256, warnings=list(done.warnings)
    )
    name = f"The capsule of {given.subject_kind} {given.subject_id}"
    said = f"{name} is stored." if changed else f"{name} stands just so already."
    return ToolOutput(f"{said} capsule_sha256: {done.capsule_sha256}", result)


def _capsule_list(given: arguments.CapsuleList, caller: Caller) -> ToolOutput:
    listed = caller.ask("continuity_list", given.model_dump(exclude_none=True))
    lines = [
        arguments.CapsuleLine(
            subject_kind=each["subject_kind"],
            subject_id=each["subject_id"],
            updated_at=each.get("updated_at"),
            label=(each.get("thread_descriptor") or {}).get("label"),
            lifecycle=(each.get("thread_descriptor") or {}).get("lifecycle"),
        )
        for each in listed.capsules
    ]
    result = arguments.CapsuleListResult(count=listed.count, capsules=lines)
    text = "\n".join(_line(each) for each in lines)
    return ToolOutput(text or "No capsules are stored.", result)


def _line(each: arguments.CapsuleLine) -> str:
    named = f" {quoted(each.label)}" if each.label else ""
    state = f", {each.lifecycle}" if each.lifecycle else ""
    return f"- {each.subject_kind} {each.subject_id}{named}, written {each.updated_at}{state}"


def _remind(given: arguments.Remind, caller: Caller) -> ToolOutput:
    due_at = (
        f"{rfc3339(instant(given.due_at, field='due_at'))[:19]}Z"  # the schedule counts in seconds of UTC
    )
    asked = given.model_dump(exclude_none=True) | {
        "kind": "reminder",
        "idempotency_key": caller.key,
        "due_at": due_at,
    }
    done = caller.ask("schedule_create", asked)
    result = arguments.RemindResult(
        schedule_id=done.item.schedule_id, status=done.item.status, created=done.created
    )
    return ToolOutput(f"Reminder {result.schedule_id} is set for {due_at}.", result)


_RUNS: Final[Mapping[str, Callable[[Any, Caller], ToolOutput]]] = {
    "remember": _remember,
    "recall": _recall,
    "why": _why,
    "correct": _correct,
    "cancel_last": _cancel_last,
    "capsule_read": _capsule_read,
    "capsule_write": _capsule_write,
    "capsule_patch": _capsule_patch,
    "capsule_list": _capsule_list,
    "remind": _remind,
}

"""Random writes to one capsule against a plain model that was written from the contract, not from the code."""

from __future__ import annotations

import random
from typing import Any

import pytest
from pydantic import ValidationError

from capsules import later, patch, upsert
from lamina.continuity.capsule import requests
from lamina.continuity.changes.deciding import moved, patched_capsule, upserted
from lamina.errors import LaminaError

STEPS = 300
CORE = ("top_priorities", "active_concerns", "active_constraints", "open_loops", "drift_signals")
LISTS = (
    *CORE,
    "working_hypotheses",
    "session_trajectory",
    "trailing_notes",
    "curiosity_queue",
    "long_horizon_commitments",
)
MOST = dict(zip(LISTS, (8, 5, 8, 8, 5, 5, 5, 3, 5, 5), strict=True))
WORDS = ("a", "b", " a", "c ", "d", "e", "f", "g", "h")
ENDS = ("concluded", "superseded")
AFTER = {"suspend": "suspended", "resume": "active", "conclude": "concluded", "supersede": "superseded"}


class Refused(Exception):
    """What the model would not do."""


class Model:
    """The lists, the entries, and the thread as plain dictionaries."""

    def __init__(self) -> None:
        self.at = -1
        self.lists: dict[str, list[str]] = {}
        self.entries: dict[str, dict[str, Any]] = {}
        self.thread: dict[str, Any] | None = None
        self.metadata: dict[str, Any] = {}
        self.exists = False

    def upsert(self, sent: dict[str, Any], at: int, preserve: bool, snapshot: dict[str, Any] | None) -> None:
        if self.exists and at <= self.at:
            raise Refused
        if any(
            not text
            for name in ("trailing_notes", "curiosity_queue")
            for text in sent["continuity"].get(name, [])
        ):
            raise Refused
        given = sent["continuity"] | (snapshot or {})
        tags = [entry["tag"] for entry in given.get("rationale_entries", [])]
        if len(set(tags)) < len(tags):
            raise Refused
        keeps = preserve and self.exists
        for name in LISTS:
            said = name in given and not (name in CORE and not given[name] and name not in (snapshot or {}))
            if keeps and not said:
                continue
            self.lists[name] = self._tidy(given.get(name, []))
        if not keeps or "rationale_entries" in given:
            self._put_entries(given.get("rationale_entries", []), at)
        if not keeps or "metadata" in sent:
            self.metadata = sent.get("metadata", {})
        if not keeps or "thread_descriptor" in sent:
            self._put_thread(sent.get("thread_descriptor"), keeps)
        self.exists, self.at = True, at

    def _put_thread(self, sent: dict[str, Any] | None, keeps: bool) -> None:
        before = self.thread
        if sent is None:
            self.thread = None
            return
        kept = (before or {}).get("keywords", []) if keeps else []
        self.thread = {"label": sent["label"], "keywords": sent.get("keywords", kept)}
        self.thread["lifecycle"] = (before or {"lifecycle": "active"})["lifecycle"]
        if before and "superseded_by" in before:
            self.thread["superseded_by"] = before["superseded_by"]

    def _put_entries(self, sent: list[dict[str, Any]], at: int) -> None:
        before, self.entries = self.entries, {}
        for entry in sent:
            tag = entry["tag"].strip()
            known = before.get(tag)
            same = known is not None and known["summary"] == entry["summary"]
            self.entries[tag] = {
                "summary": entry["summary"],
                "created": known["created"] if known else at,
                "updated": known["updated"] if known and same else at,
            }

    @staticmethod
    def _tidy(texts: list[str]) -> list[str]:
        tidy: list[str] = []
        for text in texts:
            if text.strip() and text.strip() not in tidy:
                tidy.append(text.strip())
        return tidy

    def patch(self, operations: list[dict[str, Any]], at: int) -> None:
        if not self.exists or at <= self.at:
            raise Refused
        lists = {name: list(texts) for name, texts in self.lists.items()}
        for operation in operations:
            name = operation["target"].removeprefix("continuity.")
            texts = lists[name]
            if operation["action"] == "append":
                if len(texts) == MOST[name]:
                    raise Refused
                texts.append(operation["value"])
            elif operation["action"] == "remove":
                if operation["match"] not in texts:
                    raise Refused
                texts.remove(operation["match"])
            else:
                if operation["index"] >= len(texts):
                    raise Refused
                texts[operation["index"]] = operation["value"]
        self.lists = {name: self._tidy(texts) for name, texts in lists.items()}
        self.at = at

    def lifecycle(self, transition: str, at: int) -> None:
        if not self.exists or self.thread is None or at <= self.at or self.thread["lifecycle"] in ENDS:
            raise Refused
        if (self.thread["lifecycle"], transition) in (("active", "resume"), ("suspended", "suspend")):
            raise Refused
        self.thread = self.thread | {"lifecycle": AFTER[transition]}
        if transition == "supersede":
            self.thread["superseded_by"] = "next"
        self.at = at

    def view(self) -> dict[str, Any]:
        return {
            "at": later(self.at),
            "lists": self.lists,
            "entries": {
                tag: (entry["summary"], later(entry["created"]), later(entry["updated"]))
                for tag, entry in self.entries.items()
            },
            "thread": self.thread,
            "metadata": self.metadata,
        }


def seen(capsule: dict[str, Any]) -> dict[str, Any]:
    state, thread = capsule["continuity"], capsule.get("thread_descriptor")
    return {
        "at": capsule["updated_at"],
        "lists": {name: state[name] for name in LISTS},
        "entries": {
            entry["tag"]: (entry["summary"], entry["created_at"], entry["updated_at"])
            for entry in state["rationale_entries"]
        },
        "thread": thread
        and {k: v for k, v in thread.items() if k not in ("scope_anchors", "identity_anchors")},
        "metadata": capsule["metadata"],
    }


class Chance:
    """What is asked next, by a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def texts(self, name: str) -> list[str]:
        return self.random.choices(WORDS, k=self.random.randint(0, MOST[name]))

    def entries(self) -> list[dict[str, Any]]:
        return [
            {
                "tag": self.random.choice(WORDS),
                "kind": "decision",
                "status": "active",
                "summary": self.random.choice(WORDS),
                "reasoning": "r",
            }
            for _ in range(self.random.randint(0, 3))
        ]

    def body(self, at: int) -> dict[str, Any]:
        maybe = lambda: self.random.random() < 0.5  # noqa: E731 - reads as a word below
        state: dict[str, Any] = {name: self.texts(name) for name in LISTS if name in CORE or maybe()}
        state["stance_summary"] = "s"
        if maybe():
            state["rationale_entries"] = self.entries()
        more: dict[str, Any] = {}
        if maybe():
            more["metadata"] = {self.random.choice("xyz"): 1}
        if maybe():
            more["thread_descriptor"] = {"label": "L"} | ({"keywords": ["k"]} if maybe() else {})
        return {
            "subject_kind": "thread",
            "subject_id": "launch",
            "updated_at": later(at),
            "verified_at": later(0),
            "source": {"producer": "p", "update_reason": "manual"},
            "continuity": state,
            "confidence": {"continuity": 1, "relationship_model": 1},
        } | more

    def snapshot(self) -> dict[str, Any] | None:
        if self.random.random() < 0.6:
            return None
        said: dict[str, Any] = {
            name: self.texts(name) for name in ("open_loops", "top_priorities", "active_constraints")
        }
        said["stance_summary"] = "s"
        if self.random.random() < 0.5:
            said["session_trajectory"] = self.texts("session_trajectory")
        return said

    def operations(self) -> list[dict[str, Any]]:
        return [self._operation() for _ in range(self.random.randint(1, 3))]

    def _operation(self) -> dict[str, Any]:
        target = f"continuity.{self.random.choice(LISTS)}"
        action = self.random.choice(("append", "append", "remove", "replace_at"))
        word = self.random.choice(WORDS)
        if action == "append":
            return {"target": target, "action": action, "value": word}
        if action == "remove":
            return {"target": target, "action": action, "match": word}
        return {"target": target, "action": action, "index": self.random.randint(0, 3), "value": word}


@pytest.mark.parametrize("seed", range(8))
def test_random_writes_lead_where_the_model_says(seed: int) -> None:
    print(f"seed {seed}")
    chance, model, capsule, refusals = Chance(seed), Model(), None, 0
    for step in range(STEPS):
        at = step + chance.random.choice((0, 0, 0, 0, -2))
        try:
            capsule = _step(chance, model, capsule, max(0, at))
        except Refused:
            refusals += 1
        if capsule is not None:
            assert seen(capsule) == model.view(), f"seed {seed}, step {step}"
    assert STEPS // 10 < refusals < STEPS


def _step(chance: Chance, model: Model, capsule: Any, at: int) -> Any:
    """One write through the code and through the model; both do it or both refuse it."""
    kind = chance.random.choice(("replace", "preserve", "preserve", "patch", "patch", "lifecycle"))
    expect, write = {
        "replace": _upsert,
        "preserve": _upsert,
        "patch": _patch,
        "lifecycle": _lifecycle,
    }[kind](chance, model, capsule, at, kind)
    try:
        expect()
    except Refused:
        with pytest.raises((LaminaError, ValidationError)):
            write()
        raise
    return write().capsule


def _upsert(chance: Chance, model: Model, capsule: Any, at: int, kind: str) -> Any:
    sent, snapshot = chance.body(at), chance.snapshot()
    request = upsert(sent, merge_mode=kind, session_end_snapshot=snapshot)
    return lambda: model.upsert(sent, at, kind == "preserve", snapshot), lambda: upserted(capsule, request)


def _patch(chance: Chance, model: Model, capsule: Any, at: int, kind: str) -> Any:
    operations = chance.operations()
    request = patch(*operations, at=later(at))
    return lambda: model.patch(operations, at), lambda: patched_capsule(_standing(capsule), request)


def _lifecycle(chance: Chance, model: Model, capsule: Any, at: int, kind: str) -> Any:
    transition = chance.random.choice(("suspend", "resume", "suspend", "resume", "conclude", "supersede"))
    more = {"superseded_by": "next"} if transition == "supersede" else {}
    about = {
        "subject_kind": "thread",
        "subject_id": "launch",
        "transition": transition,
        "updated_at": later(at),
    }
    request = requests.Lifecycle.model_validate(about | more)
    return lambda: model.lifecycle(transition, at), lambda: moved(_standing(capsule), request)


def _standing(capsule: Any) -> Any:
    if capsule is None:
        raise LaminaError("CAPSULE_NOT_FOUND", "nothing stands")
    return capsule

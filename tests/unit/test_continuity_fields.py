"""Every field of the shape goes through every step of a write. A field that is added to the shape is asked for here too."""

from __future__ import annotations

import json
from typing import (
    Any,
    get_args,
)

import pytest

from capsules import body, later, patch, rationale, stored, upsert
from lamina.continuity.capsule.bounds import PATCH_TARGETS
from lamina.continuity.capsule.fields import (
    ENTRIES,
    REQUIRED_LISTS,
    STRING_LISTS,
    fields_of,
    lists_of,
    optional_fields_of,
)
from lamina.continuity.capsule.requests import PatchTarget
from lamina.continuity.capsule.wording import in_words
from lamina.continuity.changes.comparing import changed_fields, uncompared_fields
from lamina.continuity.changes.deciding import patched_capsule, upserted
from lamina.continuity.judgements.trimming import rendered, tokens, trimmed
from tables import every_row

_VALUES: dict[str, Any] = {
    "stance_summary": "stance",
    "negative_decisions": [{"decision": "said of negative_decisions", "rationale": "r"}],
    "rationale_entries": [rationale("said of rationale_entries")],
    "related_documents": [{"path": "a/b", "kind": "k", "label": "l"}],
    "relationship_model": {"trust_level": "high", "preferred_style": ["s"], "sensitivity_notes": ["n"]},
    "retrieval_hints": {"must_include": ["m"], "avoid": ["a"], "load_next": ["memory/a"]},
    "stable_preferences": [{"tag": "t", "content": "said of stable_preferences"}],
    "attention_policy": {"early_load": ["x"], "presence_bias_overrides": ["y"]},
    "freshness": {"freshness_class": "durable"},
    "canonical_sources": ["memory/a"],
    "metadata": {"a": 1},
    "thread_descriptor": {
        "label": "L",
        "keywords": ["k"],
        "scope_anchors": ["task:t"],
        "identity_anchors": [{"kind": "k", "value": "v"}],
    },
}
"""A value for each field whose type is not a list of text: one who adds such a field gives it a value here."""

_STATE = {name: [f"said of {name}"] for name in STRING_LISTS} | {
    name: _VALUES[name] for name in fields_of("continuity") if name not in STRING_LISTS
}
_TOP = [name for name in optional_fields_of() if name in _VALUES]
_JUDGED = {"schema_version", "verification_kind", "verification_state", "capsule_health"}


def _full(kind: str) -> dict[str, Any]:
    foreign = "thread_descriptor" if kind == "user" else "stable_preferences"
    return {name: _VALUES[name] for name in _TOP if name != foreign} | {"continuity": _STATE}


def test_the_tables_say_what_the_contract_says() -> None:
    assert REQUIRED_LISTS == (
        "top_priorities",
        "active_concerns",
        "active_constraints",
        "open_loops",
        "drift_signals",
    )
    assert len(STRING_LISTS) == 10
    assert [kind.fields[0] for kind in ENTRIES] == ["tag", "tag", "decision"]
    assert lists_of("thread_descriptor") == ("keywords", "scope_anchors", "identity_anchors")
    assert fields_of("canonical_sources") == fields_of("continuity.rationale_entries") == ()


def test_what_may_be_left_out_has_a_value_here_or_is_judged() -> None:
    assert set(optional_fields_of()) == _JUDGED | set(_TOP)


@pytest.mark.parametrize("kind", ["thread", "user"])
def test_a_merge_keeps_every_field_that_is_left_out(kind: str) -> None:
    before = stored(kind=kind, **_full(kind))
    empty = {name: [] for name in REQUIRED_LISTS} | {"stance_summary": "stance"}
    sent = body(kind=kind, updated_at=later(), continuity=empty)
    after = upserted(before, upsert(sent, merge_mode="preserve")).capsule
    assert {name for name in before if before[name] != after.get(name)} == {"updated_at"}


@every_row("name", sorted({*STRING_LISTS, *(kind.name for kind in ENTRIES)}))
def test_every_list_is_in_the_words_that_recall_finds(name: str) -> None:
    kind = "user" if name == "stable_preferences" else "thread"
    assert f"said of {name}" in in_words(stored(kind=kind, **_full(kind)))


@every_row("name", [name for name in fields_of("continuity") if name != "stance_summary"])
def test_every_field_of_the_state_is_compared(name: str) -> None:
    full = stored(**_full("thread"))
    without = full | {"continuity": {key: value for key, value in full["continuity"].items() if key != name}}
    assert any(field.startswith(f"continuity.{name}") for field in changed_fields(full, without))


@every_row("name", optional_fields_of())
def test_every_other_field_is_compared_or_named_beside(name: str) -> None:
    full = stored(**_full("thread")) | dict.fromkeys(_JUDGED, "x")
    full["stable_preferences"] = _VALUES["stable_preferences"]
    without = {key: value for key, value in full.items() if key != name}
    named = (*changed_fields(full, without), *uncompared_fields(full, without))
    assert any(field.split(".")[0] == name for field in named)


def test_every_target_of_a_patch_is_bounded_and_every_list_is_a_target() -> None:
    lists = {f"continuity.{name}" for name in lists_of("continuity")}
    lists |= {f"thread_descriptor.{name}" for name in lists_of("thread_descriptor")}
    assert set(get_args(PatchTarget)) == set(PATCH_TARGETS) == lists | {"stable_preferences"}


@every_row("name", STRING_LISTS)
def test_a_patch_changes_every_list_and_tidies_it(name: str) -> None:
    operation = {"target": f"continuity.{name}", "action": "append", "value": " new "}
    changed = patched_capsule(stored(**_full("thread")), patch(operation))
    assert changed.capsule["continuity"][name][-1] == "new"
    assert changed.normalizations == (f"strip:continuity.{name}",)


@pytest.mark.parametrize("kind", ["thread", "user"])
def test_what_trimming_takes_it_names(kind: str) -> None:
    full = stored(kind=kind, **_full(kind))
    for budget in range(tokens(rendered(full)), 0, -7):
        kept = trimmed(full, budget)
        if kept is None:
            break
        gone = [
            field
            for field in changed_fields(full, kept.capsule)
            if not any(field.startswith(name) for name in kept.fields)
        ]
        gone += [name for name in uncompared_fields(full, kept.capsule) if name not in kept.fields]
        assert gone == [], json.dumps(kept.fields)

"""What the commands and hooks of the Relay contract send, over a real connection, and the fields that they read.

They are scripts of the standard library, so these requests are made by it too: a body as bytes, two headers, and
any 2xx is a success.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any
from uuid import uuid4

import pytest

from capsules import body, rationale

AT = "2026-05-13T15:00:00Z"
DESCRIPTOR = {
    "label": "Launch",
    "keywords": ["ship"],
    "scope_anchors": ["peer:lamina"],
    "identity_anchors": [{"kind": "repo", "value": "lamina"}],
}


class Script:
    """A script with a server's address; each has a subject that no other test knows."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.subject_id = f"Launch-{uuid4().hex[:8]}"
        self.about = {"subject_kind": "thread", "subject_id": self.subject_id}

    def post(self, path: str, sent: dict[str, Any]) -> dict[str, Any]:
        status, answer = self.tried(path, sent)
        assert 200 <= status < 300, answer
        return answer

    def tried(self, path: str, sent: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        request = urllib.request.Request(self._url + path, json.dumps(sent).encode(), method="POST")
        request.add_header("Content-Type", "application/json")
        request.add_header("X-Cortex-Actor", "agent:script")
        try:
            with urllib.request.urlopen(request, timeout=300) as response:
                return response.status, json.loads(response.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def saved(self, **more: Any) -> dict[str, Any]:
        """The capsule of this script, written."""
        capsule = body(
            subject_id=self.subject_id,
            updated_at=AT,
            verified_at=AT,
            thread_descriptor=DESCRIPTOR,
            freshness={"freshness_class": "persistent"},
            continuity={
                "negative_decisions": [{"decision": "no rewrite", "rationale": "time"}],
                "rationale_entries": [rationale()],
                "session_trajectory": ["began"],
            }
            | more,
        )
        return self.post("/v1/continuity/upsert", self.about | {"capsule": capsule})

    def startup(self) -> dict[str, Any]:
        return self.post("/v1/continuity/read", self.about | {"allow_fallback": True, "view": "startup"})


@pytest.fixture(name="script")
def _script(live: Any) -> Script:
    return Script(live.url)


def at(value: Any, path: str) -> Any:
    """What a script reads at a dotted path; a missing key fails."""
    for name in path.split("."):
        value = value[int(name)] if name.isdigit() else value[name]
    return value


def test_the_command_reads_a_capsule_that_is_not_there_yet(script: Script) -> None:
    answer = script.post("/v1/continuity/read", script.about | {"allow_fallback": True})
    assert (answer["ok"], answer["source_state"], answer["capsule"]) == (True, "missing", None)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("source_state", "active"),
        ("recovery_warnings", []),
        ("capsule.thread_descriptor.label", "Launch"),
        ("capsule.thread_descriptor.lifecycle", "active"),
        ("capsule.thread_descriptor.keywords", ["ship"]),
        ("capsule.continuity.top_priorities", ["ship"]),
        ("startup_summary.recovery.source_state", "active"),
        ("startup_summary.recovery.recovery_warnings", []),
        ("startup_summary.recovery.capsule_health_status", None),
        ("startup_summary.recovery.capsule_health_reasons", []),
        ("startup_summary.orientation.top_priorities", ["ship"]),
        ("startup_summary.orientation.active_constraints", ["two cores"]),
        ("startup_summary.orientation.open_loops", ["tests"]),
        ("startup_summary.orientation.negative_decisions.0.decision", "no rewrite"),
        ("startup_summary.orientation.negative_decisions.0.rationale", "time"),
        ("startup_summary.orientation.rationale_entries.0.kind", "decision"),
        ("startup_summary.orientation.rationale_entries.0.tag", "git"),
        ("startup_summary.orientation.rationale_entries.0.summary", "s"),
        ("startup_summary.context.session_trajectory", ["began"]),
        ("startup_summary.trust_signals.recency.phase", "fresh"),
        ("startup_summary.trust_signals.recency.freshness_class", "persistent"),
        ("startup_summary.trust_signals.completeness.orientation_adequate", True),
        ("startup_summary.trust_signals.completeness.trimmed", False),
        ("startup_summary.trust_signals.integrity.health_status", "healthy"),
        ("startup_summary.trust_signals.integrity.verification_status", "unverified"),
        ("startup_summary.trust_signals.scope_match.exact", True),
        ("startup_summary.stable_preferences", []),
    ],
)
def test_the_command_finds_each_field_of_a_startup_view(script: Script, path: str, value: Any) -> None:
    script.saved()
    assert at(script.startup(), path) == value


@pytest.mark.parametrize(
    "flags",
    [
        {},
        {"limit": 200},
        {"include_fallback": True},
        {"include_archived": True},
        {"include_cold": True},
        {"lifecycle": "active"},
        {"scope_anchor": "peer:lamina"},
        {"keyword": "ship"},
        {"label_exact": "Launch"},
        {"anchor_kind": "repo", "anchor_value": "lamina"},
        {"sort": "salience"},
    ],
    ids=lambda flags: "+".join(flags) or "none",
)
def test_the_command_lists_with_every_flag(script: Script, flags: dict[str, Any]) -> None:
    script.saved()
    answer = script.post("/v1/continuity/list", {"subject_kind": "thread", "limit": 200} | flags)
    assert {"ok", "count", "capsules", "unique_match"} <= answer.keys()
    assert script.subject_id in [row["subject_id"] for row in answer["capsules"]]


def test_the_command_finds_the_preferences_of_a_user(script: Script) -> None:
    about = {"subject_kind": "user", "subject_id": script.subject_id}
    preferences = [{"tag": "tone", "content": "short"}]
    capsule = body("user", script.subject_id, stable_preferences=preferences)
    script.post("/v1/continuity/upsert", about | {"capsule": capsule})
    answer = script.post("/v1/continuity/read", about | {"allow_fallback": True, "view": "startup"})
    (found,) = answer["startup_summary"]["stable_preferences"]
    assert (found["tag"], found["content"]) == ("tone", "short")
    assert answer["graph_summary"]["warnings"][0]["code"] == "graph_anchor_not_supported"


def test_the_command_shows_a_refusal_as_it_comes(script: Script) -> None:
    status, refusal = script.tried("/v1/continuity/list", {"anchor_value": "lamina"})
    assert (status, isinstance(refusal["detail"], list)) == (422, True)
    status, refusal = script.tried("/v1/continuity/upsert", script.about | {"capsule": body()})
    assert (status, isinstance(refusal["detail"], str)) == (400, True)


def test_the_retrieval_hook_starts_up_and_retrieves(script: Script) -> None:
    script.saved()
    startup = script.startup()
    context = script.post("/v1/context/retrieve", {"task": "go on with the launch"} | script.about)
    for block in ("startup_summary", "graph_summary", "schedule_context"):
        assert startup[block] is not None
    bundle = context["bundle"]
    assert at(bundle, "continuity_state.capsules.0.subject_id") == script.subject_id
    assert at(bundle, "continuity_state.trust_signals.scope_match.all_returned") is True
    assert at(bundle, "graph_context.anchor.subject_id") == script.subject_id
    assert at(bundle, "schedule_context.due.count") == 0


def test_the_retrieval_hook_works_before_the_first_capsule(script: Script) -> None:
    assert script.startup()["source_state"] == "missing"
    bundle = script.post("/v1/context/retrieve", {"task": "begin"} | script.about)["bundle"]
    assert bundle["continuity_state"]["present"] is False


def test_the_save_hook_keeps_what_its_template_leaves_empty(script: Script) -> None:
    script.saved()
    template = body(
        subject_id=script.subject_id,
        updated_at="2026-05-13T16:00:00Z",
        verified_at="2026-05-13T16:00:00Z",
        continuity={
            "top_priorities": [],
            "active_concerns": [],
            "active_constraints": [],
            "open_loops": ["paint the hull"],
            "drift_signals": [],
        },
    )
    written = script.post(
        "/v1/continuity/upsert", script.about | {"capsule": template, "merge_mode": "preserve"}
    )
    assert (written["updated"], written["durable"]) == (True, True)
    state = script.startup()["capsule"]["continuity"]
    assert state["open_loops"] == ["paint the hull"]
    assert state["top_priorities"] == ["ship"]
    assert [each["decision"] for each in state["negative_decisions"]] == ["no rewrite"]


def test_readback_and_doctor_see_the_subject_as_it_was_written(script: Script) -> None:
    script.saved()
    answer = script.startup()
    capsule = answer["capsule"]
    assert (capsule["subject_kind"], capsule["subject_id"]) == ("thread", script.subject_id)
    assert answer["trust_signals"]["recency"]["phase"] == "fresh"
    assert answer["recovery_warnings"] == []

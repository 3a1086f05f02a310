"""The help has the contract's ids, and says of operations only what is true."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from lamina.continuity.capsule.bounds import BOUNDS, GROUPS, help_row
from lamina.continuity.capsule.requests import Read, SessionEndSnapshot, Upsert
from lamina.continuity.changes.deciding import check_upsert, upserted
from lamina.http.relay.catalogue import Served
from lamina.http.relay.contract import TOOLS
from lamina.http.relay.help import LimitTable, help_pages
from lamina.http.routes import Route
from relay import LIMITS, bridge_of, every_tool, row

TOOL_IDS = [
    "continuity.read",
    "continuity.upsert",
    "context.retrieve",
    "schedule.create",
    "schedule.get",
    "schedule.list",
    "schedule.update",
    "schedule.acknowledge",
    "schedule.retire",
]
TOPIC_IDS = [
    "continuity.read.startup_view",
    "continuity.read.trust_signals",
    "continuity.upsert.session_end_snapshot",
    "last-mile-adapter",
]
SECTIONS = [
    "bootstrap",
    "hooks",
    "help_lookup",
    "limits_and_routing",
    "workflow_rules",
    "retrieval",
    "trust_and_degradation",
    "examples",
    "anti_patterns",
    "references",
]
GROUP_IDS = [
    "continuity_orientation",
    "session_end_snapshot",
    "patch_targets",
    "retrieval_budget",
    "response_orientation_caps",
    "capsule_write_cap",
    "continuity_payload",
]
CONTINUITY = [
    row(line)
    for line in ("POST /v1/continuity/read", "POST /v1/continuity/upsert", "POST /v1/context/retrieve")
]
SETS = {"nothing else": [], "continuity": CONTINUITY, "everything": every_tool()}


def pages(*others: Route) -> tuple[Served, dict[str, Any]]:
    served = Served(bridge_of(*others)[1])
    return served, help_pages(served, LIMITS)


def test_the_index_has_the_closed_lists_of_the_contract() -> None:
    index = pages()[1]["/v1/help"]
    assert len(index["http_endpoints"]) == 10
    assert (index["tool_topics"], index["non_tool_topics"]) == (TOOL_IDS, TOPIC_IDS)
    assert index["hook_ids"] == ["startup", "pre_prompt", "post_prompt", "pre_compaction_or_handoff"]
    assert index["errors"] == ["validation", "tool_not_found", "unknown_help_topic"]


def test_mcp_is_named_when_it_is_served() -> None:
    assert pages()[1]["/v1/help"]["mcp_methods"] == []
    assert pages()[1]["/v1/help/onboarding/bootstrap"]["discover_more"]["mcp_method"] is None
    _, over_mcp = pages(row("POST /v1/mcp"), *CONTINUITY)
    assert len(over_mcp["/v1/help"]["mcp_methods"]) == 10
    assert over_mcp["/v1/help/onboarding"]["sections"][0]["mcp_method"] == "system.onboarding_section"
    assert "continuity.read" in over_mcp["/v1/help/onboarding/sections/bootstrap"]["related_mcp"]


def test_the_endpoints_of_the_index_are_rows() -> None:
    served, said = pages()
    assert all(map(served.has, said["/v1/help"]["http_endpoints"]))


@pytest.mark.parametrize("others", SETS.values(), ids=SETS)
def test_no_text_points_at_an_operation_that_is_not_there(others: list[Route]) -> None:
    served, said = pages(*others)
    named = re.compile(r"\b(?:GET|POST|PUT|PATCH|DELETE) /[^\s,;:]*[^\s,;:.]")
    words = re.compile(r"(?<![\w.])(?:" + "|".join(re.escape(t.name) for t in TOOLS.values()) + r")(?!\.?\w)")
    for text in texts(said):
        assert [line for line in named.findall(text) if not served.has(line)] == [], text
        assert [name for name in words.findall(text) if not served.has_tool(name)] == [], text
        assert "{continuity" not in text


def texts(part: Any, key: str = "") -> Iterator[str]:
    """Everything that is said, but for the ids, which the contract has closed."""
    if key in ("id", "field_path", "field_paths", "tool_topics", "non_tool_topics", "errors"):
        return
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        for name, inside in part.items():
            yield from texts(inside, name)
    elif isinstance(part, list):
        for inside in part:
            yield from texts(inside, key)


def test_a_tool_that_is_not_served_says_so_and_nothing_else() -> None:
    said = pages()[1]["/v1/help/tools/continuity.read"]
    assert said.pop("kind") == "tool"
    assert said.pop("id") == "continuity.read"
    assert said.pop("purpose") == "This server does not serve it yet."
    assert not any(said.values())


def test_operations_are_sorted_into_reads_and_writes_by_what_they_do() -> None:
    said = pages(*every_tool())[1]
    assert said["/v1/help/tools/continuity.read"]["read_operations"] == ["POST /v1/continuity/read"]
    hooks = {hook["id"]: hook for hook in said["/v1/help/hooks"]["hooks"]}
    assert hooks["startup"]["write_operations"] == []
    assert "POST /v1/continuity/patch" in hooks["post_prompt"]["write_operations"]


def test_every_text_is_said_where_everything_is_served() -> None:
    said = pages(*every_tool())[1]
    entries = [said[f"/v1/help/tools/{id_}"] for id_ in TOOL_IDS]
    entries += [said[f"/v1/help/topics/{id_}"] for id_ in TOPIC_IDS] + said["/v1/help/hooks"]["hooks"]
    for entry in entries:
        assert entry["purpose"] != "This server does not serve it yet."
        for part in ("when_to_use", "common_mistakes", "correction_hints"):
            assert entry[part], (entry["id"], part)
        assert entry["read_operations"] or entry["write_operations"], entry["id"]


def test_the_onboarding_has_its_sections_in_order() -> None:
    said = pages(*CONTINUITY)[1]
    index = said["/v1/help/onboarding"]
    assert [section["id"] for section in index["sections"]] == SECTIONS
    assert index["recommended_first_section"] == "bootstrap"
    for section in index["sections"]:
        page = said[section["http_path"]]
        assert (page["kind"], page["format"]) == ("onboarding_section", "markdown_and_bullets")
        assert page["body_md"]
        assert page["bullets"]


def test_the_bootstrap_names_the_calls_to_begin_with() -> None:
    bootstrap = pages(*CONTINUITY)[1]["/v1/help/onboarding/bootstrap"]
    assert bootstrap["startup_route"] == {
        "http": "POST /v1/continuity/read",
        "mcp_tool": "continuity.read",
        "params": {"view": "startup", "allow_fallback": True},
    }
    assert list(bootstrap["retrieval_route"]) == ["http", "mcp_tool", "when_to_use"]
    assert list(bootstrap["help_routes"]) == ["tools", "topics", "hooks", "errors"]
    assert bootstrap["next_sections"] == ["hooks", "help_lookup", "limits_and_routing"]
    assert len(bootstrap["warnings"]) == 4
    assert pages()[1]["/v1/help/onboarding/bootstrap"]["startup_route"] is None


def test_limits_come_from_the_table_in_the_groups_of_the_contract() -> None:
    said = pages(*CONTINUITY)[1]
    index = said["/v1/help/limits"]
    assert [group["id"] for group in index["groups"]] == GROUP_IDS
    assert index["groups"][0]["field_paths"] == ["continuity.open_loops"]
    assert index["field_paths"] == [
        "continuity.open_loops",
        "session_end_snapshot.open_loops",
        "continuity.metadata/x",
    ]
    page = said["/v1/help/limits/continuity.open_loops"]
    assert page == {"kind": "validation_limit", "limit": LIMITS.rows[0]}


def test_the_limits_of_the_server_are_those_of_the_contract() -> None:
    table = LimitTable(GROUPS, [help_row(bound) for bound in BOUNDS.values()])
    index = help_pages(pages(*CONTINUITY)[0], table)["/v1/help/limits"]
    assert [len(group["field_paths"]) for group in index["groups"]] == [8, 7, 17, 2, 8, 1, 56]
    assert len(set(index["field_paths"])) == 99


def test_the_examples_of_capsules_are_requests() -> None:
    said = pages(*every_tool())[1]
    Read.model_validate(said["/v1/help/tools/continuity.read"]["minimal_payload"])
    hooks = {each["id"]: each["minimal_payload"] for each in said["/v1/help/hooks"]["hooks"]}
    for example in (
        said["/v1/help/tools/continuity.upsert"]["minimal_payload"],
        hooks["post_prompt"],
        hooks["pre_compaction_or_handoff"],
    ):
        upsert = Upsert.model_validate(example)
        check_upsert(upsert)
        assert upserted(None, upsert)
    snapshot = said["/v1/help/topics/continuity.upsert.session_end_snapshot"]["minimal_payload"]
    SessionEndSnapshot.model_validate(snapshot["session_end_snapshot"])


def test_a_limit_of_an_operation_that_is_not_served_applies_to_nothing() -> None:
    assert pages()[1]["/v1/help/limits/continuity.open_loops"]["limit"]["applies_to"] == []

"""What the Relay door says of itself follows from its rows."""

from __future__ import annotations

import hashlib

import pytest

from lamina.continuity.handlers.operations import continuity_operations
from lamina.http.relay.catalogue import Served
from lamina.http.relay.continuity import continuity_rows
from lamina.http.relay.contract import BESIDE, CAPABILITIES, FEATURES, TOOLS, WORKFLOWS
from lamina.http.routes import Route
from lamina.kernel.canonical import canonical
from lamina.kernel.wire import Request
from lamina.store.memory import MemoryStore
from relay import bridge_of, every_tool, row


def served(*others: Route) -> Served:
    return Served(bridge_of(*others)[1])


def names(of: Served) -> list[str]:
    return [tool["name"] for tool in of.tools()]


def test_a_row_that_is_added_is_a_tool() -> None:
    before, after = served(), served(row("POST /v1/continuity/read", view=(str | None, None)))
    assert [name for name in names(after) if name not in names(before)] == ["continuity.read"]
    assert before.tool_page()["tool_catalog_hash"] != after.tool_page()["tool_catalog_hash"]
    assert after.tool_page()["count"] == before.tool_page()["count"] + 1 == len(names(after))
    assert after.discovery()["counts"]["tools"] == len(names(after))
    assert after.manifest()["endpoints"]["POST /v1/continuity/read"] == {"scope": "read:files"}


def test_the_contract_has_84_tools_39_features_18_capabilities_and_6_workflows() -> None:
    assert (len(TOOLS), len({tool.name for tool in TOOLS.values()})) == (84, 84)
    assert (len(FEATURES), len(CAPABILITIES)) == (39, 18)
    assert [len(workflow.steps) for workflow in WORKFLOWS.values()] == [5, 6, 8, 11, 6, 4]


def test_the_continuity_rows_are_tools_of_the_contract_with_their_capabilities() -> None:
    operations = {each.name: each for each in continuity_operations(MemoryStore().documents)}
    whole = served(*continuity_rows(operations))
    tools = [name for name in names(whole) if name.startswith("continuity.")]
    assert tools == [tool.name for tool in TOOLS.values() if tool.name.startswith("continuity.")]
    listed = [name for name in whole.capabilities()["features"] if name.startswith("continuity.")]
    assert listed == [
        "continuity.read.startup_view",
        "continuity.read.trust_signals",
        "continuity.upsert.session_end_snapshot",
        "continuity.read.salience_ranking",
        "continuity.read.thread_identity",
        "continuity.stable_preferences",
        "continuity.upsert.preserve_mode",
        "continuity.patch",
        "continuity.lifecycle",
    ]


def test_every_need_and_step_is_a_tool_of_the_contract() -> None:
    known = {tool.name for tool in TOOLS.values()}
    needs = " ".join([*FEATURES.values(), *(entry.needs for entry in CAPABILITIES.values())]).split()
    assert {need.partition(":")[0] for need in needs if not need.startswith("/")} <= known
    assert {step for workflow in WORKFLOWS.values() for step in workflow.steps} <= known


def test_a_server_with_every_row_lists_the_tools_in_the_order_of_the_contract() -> None:
    assert names(served(*reversed(every_tool()))) == [tool.name for tool in TOOLS.values()]


def test_a_tool_says_how_it_is_called() -> None:
    fields = {"schedule_id": (str, ...), "reason": (str | None, None)}
    line = "POST /v1/schedule/items/{schedule_id}/retire"
    (tool,) = [tool for tool in served(row(line, **fields)).tools() if tool["name"] == "schedule.retire"]
    schema = tool.pop("input_schema")
    assert tool == {
        "name": "schedule.retire",
        "description": "What /v1/schedule/items/{schedule_id}/retire does.",
        "method": "POST",
        "path": "/v1/schedule/items/{schedule_id}/retire",
        "scopes": ["write:projects", "write_namespaces"],
        "idempotent": False,
    }
    assert set(schema["properties"]) == {"schedule_id", "reason"}
    assert (schema["required"], schema["additionalProperties"]) == (["schedule_id"], False)


def test_a_body_and_what_stands_around_it_are_one_object_and_headers_are_no_arguments() -> None:
    class Document(Request):
        text: str

    plain = row("PATCH /v1/tasks/{task_id}", task_id=(str, ...), document=(Document, ...), seen=(str, ""))
    route = Route(plain.verb, plain.path, plain.operation, body_field="document", headers={"X-Seen": "seen"})
    (tool,) = [tool for tool in served(route).tools() if tool["name"] == "tasks.update"]
    assert set(tool["input_schema"]["properties"]) == {"task_id", "text"}
    assert tool["input_schema"]["required"] == ["task_id", "text"]


def test_reads_are_idempotent_and_so_is_a_write_that_may_be_sent_again() -> None:
    tools = {tool["name"]: tool["idempotent"] for tool in served(*every_tool()).tools()}
    assert tools["continuity.read"]
    assert tools["schedule.create"]
    assert not tools["continuity.upsert"]


def test_only_tools_of_the_host_say_that_they_are_local() -> None:
    local = [tool["name"] for tool in served(*every_tool()).tools() if tool.get("local_only")]
    assert local == ["ops.catalog", "ops.status", "ops.run", "ops.schedule_export"]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("POST /v1/continuity/cold-store", "continuity.cold_store"),
        ("POST /v1/continuity/retention/apply", "continuity.retention_apply"),
        ("GET /v1/continuity/ages", "continuity.ages"),
        ("DELETE /v1/notes/{note_id}", "notes.delete"),
    ],
)
def test_a_row_that_the_contract_lacks_is_a_tool_named_by_its_path(line: str, name: str) -> None:
    assert names(served(row(line)))[-1] == name


@pytest.mark.parametrize("line", list(BESIDE))
def test_a_row_beside_the_contract_is_an_endpoint_and_no_tool(line: str) -> None:
    whole = served(row(line))
    assert names(whole) == names(served())
    assert whole.tool_page()["tool_catalog_hash"] == served().tool_page()["tool_catalog_hash"]
    assert whole.manifest()["endpoints"][line] == {"scope": "read:files"}


def test_two_tools_of_one_name_are_a_bug() -> None:
    with pytest.raises(AssertionError, match="same tool name"):
        served(row("POST /v1/continuity/cold-store"), row("POST /v1/continuity/cold/store"))


def test_help_and_descriptors_are_no_tools() -> None:
    plain = served(row("GET /.well-known/mcp.json"), row("POST /v1/mcp"))
    assert names(plain) == names(served())
    assert "GET /.well-known/mcp.json" in plain.manifest()["endpoints"]
    assert not [line for line in plain.manifest()["endpoints"] if "/v1/help" in line]


def test_a_feature_is_listed_when_all_that_it_needs_is_there() -> None:
    assert "continuity_state" not in served(row("POST /v1/continuity/read")).features()
    lines = ("POST /v1/continuity/read", "POST /v1/continuity/upsert", "POST /v1/context/retrieve")
    features = served(*map(row, lines)).features()
    assert [name for name in features if name.startswith("cont")] == ["context_retrieve", "continuity_state"]


def test_a_capability_of_a_field_is_listed_when_the_request_has_the_field() -> None:
    bare = served(row("POST /v1/continuity/read")).capabilities()
    assert "continuity.read.startup_view" not in bare["features"]
    full = served(row("POST /v1/continuity/read", view=(str | None, None))).capabilities()
    assert set(full["features"]["continuity.read.startup_view"]) == {"summary"}
    assert full["version"] == "1"


def test_a_section_of_an_answer_is_listed_when_the_wiring_adds_it() -> None:
    _, rows = bridge_of(row("POST /v1/continuity/read"))
    assert "continuity.read.startup_graph_summary" not in Served(rows).capabilities()["features"]
    wired = Served(rows, {"continuity.read:graph_summary"})
    assert "continuity.read.startup_graph_summary" in wired.capabilities()["features"]


def test_what_is_listed_keeps_the_order_of_the_contract() -> None:
    whole = served(*every_tool())
    features, capabilities = whole.features(), list(whole.capabilities()["features"])
    assert features == [name for name in FEATURES if name in features]
    assert capabilities == [name for name in CAPABILITIES if name in capabilities]


def test_a_workflow_goes_with_its_first_missing_step() -> None:
    assert [each["name"] for each in served(*every_tool()).workflows()] == list(WORKFLOWS)
    without = served(*every_tool("code.merge"))
    assert [each["name"] for each in without.workflows()] == [
        name for name in WORKFLOWS if name != "collaborative_tasks_and_code"
    ]
    steps = without.workflows()[0]["steps"]
    assert [step["order"] for step in steps] == [1, 2, 3, 4, 5]


def test_discovery_names_only_entry_points_that_are_there() -> None:
    bare = served().discovery()
    assert list(bare["entrypoints"]) == ["manifest", "contracts", "tools", "workflows", "mcp_well_known"]
    assert bare["agent_guidance"]["mcp_first_calls"] == []
    assert "transport" not in bare["protocol"]
    full = served(row("POST /v1/mcp"), *every_tool()).discovery()
    assert full["entrypoints"]["mcp_rpc"] == "/v1/mcp"
    assert full["protocol"]["transport"] == "streamable-http"
    assert "mcp_jsonrpc" in served(row("POST /v1/mcp")).features()


def test_a_protocol_beside_the_rows_is_an_endpoint_and_a_feature() -> None:
    _, rows = bridge_of()
    plain = Served(rows, protocols=("GET /v1/mcp", "POST /v1/mcp"))
    assert plain.has_mcp
    assert "mcp_jsonrpc" in plain.features()
    endpoints = plain.manifest()["endpoints"]
    assert (endpoints["GET /v1/mcp"]["status"], endpoints["GET /v1/mcp"]["allow"]) == (405, "POST")
    assert endpoints["POST /v1/mcp"]["supported_mcp_protocol_versions"] == ["2025-06-18", "2025-11-25"]
    assert names(plain) == names(served())


def test_the_hash_is_that_of_the_canonical_list() -> None:
    page = served().tool_page()
    assert page["tool_catalog_hash"] == hashlib.sha256(canonical(page["tools"])).hexdigest()

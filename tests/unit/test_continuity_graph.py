"""The graph around threads and tasks: its shape, caps, order and warnings, and what it is derived from."""

from __future__ import annotations

import json
from typing import Any

import pytest

from capsules import body
from lamina.continuity.capsule.subjects import Subject
from lamina.continuity.files.directory import Directory
from lamina.continuity.graph.blocks import (
    CONTEXT_CAPS,
    GRAPH_WARNINGS,
    SUMMARY_CAPS,
    Around,
    CapsuleLinks,
    Denied,
    GraphEdge,
    TaskLinks,
    edges_of,
    graph_block,
    graph_warning,
)
from lamina.continuity.graph.sources import GraphSources
from libraries import Library, folders, reach
from shelves import TENANT

TASK, THREAD = Subject("task", "t-1"), Subject("thread", "launch")
DOCUMENT = {"path": "docs/plan.md", "kind": "note", "label": "Plan"}


def _codes(block: dict[str, Any]) -> list[str]:
    return [warning["code"] for warning in block["warnings"]]


def _task(blocked_by: tuple[str, ...] = (), thread_id: str | None = None, task_id: str = "t-1") -> TaskLinks:
    return TaskLinks(f"tasks/open/{task_id}.json", task_id, thread_id, blocked_by)


def test_the_caps_are_those_of_the_contract() -> None:
    assert CONTEXT_CAPS == {"nodes": 24, "edges": 32, "related_documents": 8, "blockers": 8}
    assert SUMMARY_CAPS == {"nodes": 12, "edges": 16, "related_documents": 4, "blockers": 4}


@pytest.mark.parametrize(
    ("code", "message", "details"),
    [
        ("graph_anchor_not_provided", "No graph anchor was provided.", {}),
        (
            "graph_anchor_not_supported",
            "The selected subject kind is not supported as a graph anchor.",
            {"subject_kind": None},
        ),
        (
            "graph_anchor_not_found",
            "The selected graph anchor was not found.",
            {"anchor_id": None, "kind": None, "subject_id": None},
        ),
        ("graph_derivation_failed", "Graph context could not be derived.", {"reason": "unknown"}),
        ("graph_truncated", "Graph context was truncated to configured caps.", {}),
        (
            "graph_result_malformed",
            "Malformed graph helper results were skipped.",
            {"malformed_nodes": 0, "malformed_edges": 0, "malformed_anchors": 0},
        ),
        (
            "graph_source_denied",
            "A graph source was omitted because access was denied.",
            {"source_class": "unknown", "path": None, "anchor_id": None},
        ),
        (
            "graph_suppressed_by_continuity_mode",
            "Graph context was suppressed because continuity mode is off.",
            {},
        ),
    ],
)
def test_a_warning_is_word_for_word_that_of_the_contract(
    code: str, message: str, details: dict[str, Any]
) -> None:
    assert graph_warning(code) == {"code": code, "message": message, "details": details}
    assert len(GRAPH_WARNINGS) == 8


def test_a_block_has_the_shape_of_the_contract() -> None:
    capsule = CapsuleLinks("m", "continuity_capsule", "task", "t-1", ("docs/example.md",))
    around = Around(True, (_task(("t-2",), "launch"), capsule))
    block = graph_block(TASK, around, CONTEXT_CAPS)
    assert list(block) == [
        "anchor",
        "nodes",
        "edges",
        "related_documents",
        "blockers",
        "truncation",
        "warnings",
    ]
    assert block["anchor"] == {"id": "task:t-1", "kind": "task", "subject_id": "t-1"}
    assert [node["id"] for node in block["nodes"]] == [
        "document:docs/example.md",
        "task:t-2",
        "thread:launch",
    ]
    assert block["edges"] == [
        {"relationship": "depends_on", "source_id": "task:t-1", "target_id": "task:t-2"},
        {"relationship": "linked_to_thread", "source_id": "task:t-1", "target_id": "thread:launch"},
        {
            "relationship": "references_document",
            "source_id": "task:t-1",
            "target_id": "document:docs/example.md",
        },
    ]
    assert block["related_documents"] == [
        {"path": "docs/example.md", "node_id": "document:docs/example.md", "source_id": "task:t-1"}
    ]
    assert block["blockers"] == [
        {"task_id": "t-1", "blocked_by_task_id": "t-2", "source_id": "task:t-1", "target_id": "task:t-2"}
    ]
    assert block["truncation"]["nodes"] == {"limit": 24, "available": 3, "returned": 3, "truncated": False}
    assert block["warnings"] == []


def test_a_thread_is_linked_to_its_tasks_and_whom_it_supersedes() -> None:
    sources = [
        _task(("t-9",), "launch", "t-2"),
        CapsuleLinks("a", "continuity_capsule", "thread", "launch", (), "next"),
        CapsuleLinks("b", "continuity_capsule", "thread", "before", ("docs/x.md",), "launch"),
    ]
    assert sorted(edges_of(THREAD, sources)) == [
        GraphEdge("linked_to_thread", "task:t-2", "thread:launch"),
        GraphEdge("supersedes", "thread:launch", "thread:before"),
        GraphEdge("supersedes", "thread:next", "thread:launch"),
    ]


def test_nodes_are_cut_before_the_edges_that_end_in_them() -> None:
    around = Around(True, (_task(tuple(f"b{number:02}" for number in range(40))),))
    block = graph_block(TASK, around, CONTEXT_CAPS)
    found = {name: (cut["available"], cut["returned"]) for name, cut in block["truncation"].items()}
    assert found == {"nodes": (40, 24), "edges": (24, 24), "related_documents": (0, 0), "blockers": (24, 8)}
    assert [warning["details"] for warning in block["warnings"]] == [
        {"field": "blockers", "limit": 8, "available": 24},
        {"field": "nodes", "limit": 24, "available": 40},
    ]


def test_warnings_stand_in_the_order_of_the_table() -> None:
    denied = (Denied("task_artifact"), Denied("related_document", "b"), Denied("related_document", "a"))
    around = Around(True, (_task(tuple(f"b{n}" for n in range(30))),), denied, malformed=2)
    warnings = graph_block(TASK, around, CONTEXT_CAPS)["warnings"]
    said = [(each["code"], each["details"].get("field") or each["details"].get("path")) for each in warnings]
    assert said == [
        ("graph_truncated", "blockers"),
        ("graph_truncated", "nodes"),
        ("graph_result_malformed", None),
        ("graph_source_denied", "a"),
        ("graph_source_denied", "b"),
        ("graph_source_denied", None),
    ]


def test_without_something_to_stand_on_a_block_says_why() -> None:
    assert _codes(graph_block(None, None, CONTEXT_CAPS)) == ["graph_anchor_not_provided"]
    user = graph_block(Subject("user", "kim"), None, CONTEXT_CAPS)
    assert user["warnings"][0]["details"] == {"subject_kind": "user"}
    missing = graph_block(TASK, Around(), CONTEXT_CAPS)
    assert missing["warnings"][0]["details"] == {"anchor_id": "task:t-1", "kind": "task", "subject_id": "t-1"}


class Sources(Library):
    """Tasks and capsules of a library, and the graph over them."""

    def __init__(self) -> None:
        super().__init__()
        self.graph = GraphSources(self.store.documents, Directory(self.store.documents))

    def task(self, task_id: str, folder: str = "open", **more: Any) -> None:
        self.write(f"tasks/{folder}/{task_id}.json", json.dumps({"task_id": task_id, "title": "x"} | more))

    def capsule(self, subject_id: str = "launch", **more: Any) -> None:
        capsule = body(subject_id=subject_id, **more)
        self("continuity_upsert", subject_kind="thread", subject_id=subject_id, capsule=capsule)

    def edges(self, subject: Subject, *read: str) -> list[tuple[str, str, str]]:
        around = self.graph.around(TENANT, subject, reach(folders(read)) if read else reach())
        return sorted((e.relationship, e.source_id, e.target_id) for e in edges_of(subject, around.sources))


def test_links_follow_every_write() -> None:
    sources = Sources()
    sources.capsule(continuity={"related_documents": [DOCUMENT]})
    sources.task("t-1", thread_id="launch", blocked_by=["t-2"])
    document = ("references_document", "thread:launch", "document:docs/plan.md")
    assert sources.edges(THREAD) == [("linked_to_thread", "task:t-1", "thread:launch"), document]
    sources.task("t-1", blocked_by=[])
    assert sources.edges(THREAD) == [document]
    assert sources.edges(TASK) == []
    everything = {"delete_active": True, "delete_fallback": True, "reason": "done"}
    sources("continuity_delete", subject_kind="thread", subject_id="launch", **everything)
    assert not sources.graph.around(TENANT, THREAD, reach()).exists


def test_an_archived_thread_is_still_an_anchor() -> None:
    sources = Sources()
    sources.capsule(continuity={"related_documents": [DOCUMENT]})
    sources("continuity_archive", subject_kind="thread", subject_id="launch", reason="done")
    assert sources.graph.around(TENANT, THREAD, reach()).exists


def test_what_the_caller_may_not_read_is_left_out_and_named_by_its_class() -> None:
    sources = Sources()
    sources.capsule(continuity={"related_documents": [DOCUMENT]})
    sources.task("t-1", thread_id="launch")
    around = sources.graph.around(TENANT, THREAD, reach(folders(read=["memory"])))
    assert list(edges_of(THREAD, around.sources)) == []
    assert sorted(around.denied, key=lambda each: each.source_class) == [
        Denied("related_document", "docs/plan.md"),
        Denied("task_artifact"),
    ]
    assert not sources.graph.around(TENANT, THREAD, reach(folders())).exists


def test_a_task_that_cannot_be_read_is_counted_and_skipped() -> None:
    sources = Sources()
    sources.write("tasks/open/bad.json", "{")
    sources.write("tasks/open/odd.json", '{"task_id": 1}')
    sources.task("t-1")
    around = sources.graph.around(TENANT, TASK, reach())
    assert (around.exists, around.malformed) == (True, 2)
    sources.task("bad")
    assert sources.graph.around(TENANT, TASK, reach()).malformed == 1


def test_only_what_changed_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    sources = Sources()
    for number in range(20):
        sources.task(f"t-{number}", thread_id="launch")
    assert len(sources.edges(THREAD)) == 20
    read: list[str] = []
    inner = sources.store.documents.read_many

    def watched(tenant_id: str, paths: Any) -> Any:
        read.extend(paths)
        return inner(tenant_id, paths)

    monkeypatch.setattr(sources.store.documents, "read_many", watched)
    assert len(sources.edges(THREAD)) == 20
    assert read == []
    sources.task("t-3")
    assert len(sources.edges(THREAD)) == 19
    assert read == ["tasks/open/t-3.json"]


def test_what_lands_behind_the_page_of_its_path_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lamina.continuity.files.directory._PAGE", 2)
    sources = Sources()
    for number in range(4):
        sources.task(f"t-{number}")
    inner = sources.store.documents.below

    def beside(tenant_id: str, prefix: str, *, after: str, **more: Any) -> Any:
        page = inner(tenant_id, prefix, after=after, **more)
        if not after:  # one that belongs into this page, and then one of the next
            sources.task("t-00", thread_id="launch")
            sources.task("t-3", thread_id="launch")
        return page

    monkeypatch.setattr(sources.store.documents, "below", beside)
    sources.edges(THREAD)
    monkeypatch.setattr(sources.store.documents, "below", inner)
    assert [each[1] for each in sources.edges(THREAD)] == ["task:t-00", "task:t-3"]

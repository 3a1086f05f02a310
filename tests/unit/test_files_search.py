"""Searching memory files: what is found, what is not any more, and what the caller may not see."""

from __future__ import annotations

import pytest

from given import append
from lamina.continuity.files.cards import front_matter, snippet_of
from lamina.kernel.relay import RELAY_SCOPE
from libraries import Library, folders
from shelves import TENANT

PAGE = """---
type: decision
importance: 0.8
owner: "kim"
---
We ship #launch on Friday. #Tests first.
"""


@pytest.fixture(name="library")
def _library() -> Library:
    return Library()


def test_a_row_says_what_a_page_says_of_itself(library: Library) -> None:
    library.write("memory/notes/a.md", PAGE)
    library.derive()
    (row,) = library("file_search", query="friday")["results"]
    assert list(row) == ["path", "type", "size", "modified_at", "snippet", "tags", "importance", "score"]
    assert row["snippet"].startswith("--- type: decision")
    score = row.pop("score")
    assert 0 < score <= 1
    assert row | {"snippet": ""} == {
        "path": "memory/notes/a.md",
        "type": "decision",
        "size": len(PAGE),
        "modified_at": "2026-05-13T12:00:01Z",
        "snippet": "",
        "tags": ["#Tests", "#launch"],
        "importance": 0.8,
    }


def test_words_and_meaning_both_find(library: Library) -> None:
    library.write("memory/a.md", "green tea")
    library.write("memory/b.md", "strong coffee")
    library.write("memory/c.md", "a boat")
    library.derive()
    assert library.found("tea") == ["memory/a.md", "memory/b.md"]
    assert library.found("nothing of the kind") == []
    assert library.found("") == []


def test_the_words_of_a_path_are_found(library: Library) -> None:
    library.write("projects/harbour/plan.txt", "one two")
    library.derive()
    assert library.found("harbour") == ["projects/harbour/plan.txt"]


def test_a_version_that_was_replaced_is_found_no_more(library: Library) -> None:
    library.write("memory/a.md", "tea, the old word")
    library.derive()
    library.write("memory/a.md", "a boat, the new one")
    assert library.found("old") == []
    library.derive()
    assert (library.found("old"), library.found("new")) == ([], ["memory/a.md"])


def test_an_event_that_only_says_it_is_a_document_hides_none(library: Library) -> None:
    library.write("memory/a.md", "tea")
    content = {"kind": "text", "text": "poison", "path": "memory/a.md"}
    append(library.store, "poison", scope=RELAY_SCOPE, tenant_id=TENANT, modality="document", content=content)
    library.derive()
    assert (library.found("poison"), library.found("tea")) == ([], ["memory/a.md"])


def test_every_record_of_an_appended_file_is_found_until_the_file_is_replaced(library: Library) -> None:
    library.append("memory/episodic/day.jsonl", text="breakfast")
    library.append("memory/episodic/day.jsonl", text="lunch")
    library.derive()
    assert library.found("breakfast lunch") == ["memory/episodic/day.jsonl"]
    assert library.found("breakfast") == library.found("lunch") == ["memory/episodic/day.jsonl"]
    library.write("memory/episodic/day.jsonl", "dinner\n")
    assert library.found("breakfast") == []


def test_many_versions_do_not_crowd_others_out(library: Library) -> None:
    library.write("memory/other.md", "word of the other")
    for number in range(300):
        library.append("memory/log.jsonl", text="word " * 3, n=number)
    library.derive()
    assert library.found("word", limit=2) == ["memory/log.jsonl", "memory/other.md"]


def test_what_the_caller_may_not_read_takes_no_place() -> None:
    library = Library(folders(write=["memory"]))
    for number in range(150):
        library.write(f"memory/secret/{number}.md", "tea tea tea")
    library.write("memory/open/one.md", "tea and much else besides it in a longer text")
    library.derive()
    library.grant = folders(read=["memory/open"])
    assert library.found("tea", limit=1) == library.newest(limit=1) == ["memory/open/one.md"]


def test_types_and_the_window_are_asked_before_the_cut(library: Library) -> None:
    library.write("memory/a.md", PAGE)
    library.write("journal/b.md", "friday friday friday")
    library.derive()
    assert library.found("friday", limit=1, include_types=["decision"]) == ["memory/a.md"]
    assert library.found("friday", include_types=["journal"]) == ["journal/b.md"]
    library.clock.at += 3600_000_000
    library.write("memory/c.md", "friday again")
    library.derive()
    assert library.found("friday", time_window_hours=1) == ["memory/c.md"]
    assert library.newest(time_window_hours=1) == ["memory/c.md"]


def test_among_matches_the_newest_come_first_where_asked(library: Library) -> None:
    library.write("memory/a.md", "tea tea")
    library.write("memory/b.md", "tea with a lot of other words around it")
    library.derive()
    answer = library("file_search", query="tea", sort_by="recent", limit=1)
    assert (answer["count"], answer["sort_by"], answer["results"][0]["path"]) == (1, "recent", "memory/b.md")


def test_what_is_not_indexed_yet_is_recent_already(library: Library) -> None:
    library.write("memory/a.md", "---\nimportance: 2\n---\ntea")
    library.write("memory/b.txt", "tea")
    library.write("index/files_index.json", "{}")
    assert library.found("tea") == []
    answer = library("file_recent")
    assert list(answer) == ["ok", "count", "results"]
    assert [(row["path"], row["score"]) for row in answer["results"]] == [
        ("memory/b.txt", 0.0),
        ("memory/a.md", 2.0),
    ]


def test_recent_follows_every_write(library: Library) -> None:
    library.write("memory/a.md", "1")
    library.write("memory/b.md", "1")
    assert library.newest() == ["memory/b.md", "memory/a.md"]
    library.write("memory/a.md", "2")
    assert library.newest() == ["memory/a.md", "memory/b.md"]
    for number in range(100):
        library.write(f"memory/many/{number:03}.md", "x")
    assert library.newest(limit=2) == ["memory/many/099.md", "memory/many/098.md"]


def test_the_index_says_how_far_it_is(library: Library) -> None:
    empty = {"ok": True, "generated_at": None, "file_count": 0, "sqlite_fts": False, "state_file": False}
    assert library("index_status") == empty
    library.write("memory/a.md", "tea")
    assert library("index_status") == empty | {"file_count": 1}
    library.derive()
    again = library("index_rebuild_incremental")
    assert again["incremental"] == {"changed_count": 1, "removed_count": 0, "unchanged_count": 0}
    assert library("index_rebuild_incremental")["incremental"]["changed_count"] == 0
    status = library("index_status")
    assert (status["sqlite_fts"], status["state_file"]) == (True, True)
    assert status["generated_at"].startswith("2026-05-13T12:00:01")
    head = library.store.documents.head("acme")
    assert head is not None
    assert library("index_rebuild") == {
        "ok": True,
        "file_count": 1,
        "committed_files": [],
        "latest_commit": head.sha,
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("---\na: 1\nb:  two words \n---\nrest", {"a": "1", "b": "two words"}),
        ("---\na: 1\n---", {"a": "1"}),
        ("no front\n---\na: 1\n---\n", {}),
        ("---\na: 1\n", {}),
        ('---\nname: "quo\\"ted"\nlist\n: x\n---\n', {"name": 'quo"ted'}),
    ],
)
def test_front_matter_is_flat_lines_between_dashes(text: str, said: dict[str, str]) -> None:
    assert front_matter(text) == said


def test_a_snippet_is_one_line_and_says_that_it_was_cut() -> None:
    assert snippet_of(" a\n\n b ", 240) == "a b"
    assert snippet_of("x" * 241, 240) == "x" * 240 + "..."

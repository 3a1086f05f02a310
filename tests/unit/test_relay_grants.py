"""What a Relay token lets its holder do: section 4.4's rules, and what an empty grant means."""

from __future__ import annotations

import pytest

from lamina.kernel.relay import TEMPLATES, RelayGrant, RelayRight, may, namespace_of, write_right
from tables import every_row


def grant(rights: str = "read:files", reads: str = "", writes: str = "") -> RelayGrant:
    return RelayGrant(frozenset(rights.split()), frozenset(reads.split()), frozenset(writes.split()))


@every_row(
    ("namespaces", "path", "allowed"),
    [
        ("memory/notes", "memory/notes", True),
        ("memory/notes", "memory/notes/a.md", True),
        ("memory/notes", "memory/notesx", False),
        ("memory/notes", "memory", False),
        ("memory/notes", "memory/Notes/a.md", False),
        ("memory/notes", "memory//notes/./a.md", True),
        ("memory/notes", "memory/notes/../core/a.md", False),
        ("memory/notes", "x/../memory/notes/a.md", True),
        ("memory/notes tasks", "tasks/open/1.json", True),
        ("*", "anything/at/all", True),
        ("", "memory/notes/a.md", False),
        ("*", "", False),
        ("*", ".", False),
        ("*", "/etc/passwd", False),
        ("*", "//etc/passwd", False),
        ("*", "..", False),
        ("*", "../x", False),
        ("*", "a/../../x", False),
        ("*", "a\0b", False),
    ],
)
def test_namespaces_cover_their_folder_and_what_is_below(namespaces: str, path: str, allowed: bool) -> None:
    assert may(grant(reads=namespaces), "read:files", "read", path) is allowed
    assert may(grant("write:projects", writes=namespaces), "write:projects", "write", path) is allowed
    outside = namespace_of(path) is None
    assert may(grant("admin:peers"), "read:files", "write", path) is not outside


def test_reading_and_writing_are_granted_apart() -> None:
    held = grant("read:files write:projects", reads="memory", writes="tasks")
    assert may(held, "read:files", "read", "memory/a")
    assert not may(held, "write:projects", "write", "memory/a")
    assert may(held, "write:projects", "write", "tasks/a")
    assert not may(held, "read:files", "read", "tasks/a")


@pytest.mark.parametrize("right", list(RelayRight))
def test_a_right_is_held_by_name_or_by_the_administrator(right: RelayRight) -> None:
    assert may(grant(right), right)
    assert may(grant("admin:peers"), right)
    assert not may(RelayGrant(), right)
    assert not may(grant(" ".join(set(RelayRight) - {right, RelayRight.ADMIN_PEERS})), right)


def test_an_empty_grant_means_nothing() -> None:
    for mode in ("read", "write"):
        assert not may(RelayGrant(), "read:files", mode, "memory/a")  # type: ignore[arg-type]
        assert not may(RelayGrant(), None, mode, "memory/a")  # type: ignore[arg-type]
    assert may(RelayGrant(), None)  # whoever has a token


def test_a_collaborator_does_not_reach_continuity() -> None:
    held = TEMPLATES["collaboration_peer"]
    assert may(held, "write:projects", "write", "memory/coordination/handoffs/h1.json")
    assert may(held, "read:files", "read", "memory/coordination/handoffs/h1.json")
    for path in ("memory/continuity/user-maya.json", "memory/core/values.md", "memory"):
        assert not may(held, "read:files", "read", path)
        assert not may(held, "write:projects", "write", path)
    assert not may(held, "write:projects", "write", "memory/coordination/other")
    assert not TEMPLATES["replication_peer"].admin


@pytest.mark.parametrize(
    ("path", "right"),
    [
        ("journal/2026/x.md", "write:journal"),
        ("messages/inbox/a.jsonl", "write:messages"),
        ("memory/core/values.md", "write:projects"),
        ("x/../journal/a", "write:journal"),
        ("../journal", "write:projects"),
    ],
)
def test_the_first_folder_says_which_right_a_write_takes(path: str, right: str) -> None:
    assert write_right(path) == right

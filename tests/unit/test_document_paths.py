"""Paths from outside: what is accepted stays inside, and means one thing."""

from __future__ import annotations

import posixpath
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina import limits
from lamina.errors import Invalid
from lamina.store.documents.paths import check_portable, document_path
from tables import every_row

HOSTILE = st.text(
    st.one_of(st.sampled_from("./\\~ gitGIT\0\n\u200c\u0301é"), st.characters()), max_size=40
) | st.lists(st.sampled_from(["..", ".", "", ".git", ".GIT", "a", "b.json", "git~1", " "]), max_size=6).map(
    "/".join
)


def accepted(text: str) -> str | None:
    try:
        return document_path(text)
    except Invalid:
        return None


@given(HOSTILE)
def test_what_is_accepted_stays_inside(text: str) -> None:
    path = accepted(text)
    if path is None:
        return
    assert path == posixpath.normpath(path) == unicodedata.normalize("NFC", text)
    assert not path.startswith(("/", "../"))
    assert not {part.lower() for part in path.split("/")} & {"", ".", "..", ".git"}
    assert not any(unicodedata.category(character) in ("Cc", "Cs") for character in path)
    assert document_path(path) == path
    assert len(path.encode()) <= limits.DOCUMENT_PATH_BYTES_MAX


@every_row(
    "text",
    [
        "", "/", "/etc/passwd", "a/", "a//b", ".", "..", "a/../b", "../../zz", "./a", ".git/config", "a/.GIT/x",
        ".git.", ".git ", ".g\u200cit/hooks", "GIT~1/x", "a\0b", "a\nb", "a\\b", "C:\\x", "\ud800", "a" * 300,
        "a/" * 40 + "a", "/".join(["a" * 100] * 12),
    ],
)  # fmt: skip
def test_what_leads_elsewhere_is_refused(text: str) -> None:
    with pytest.raises(Invalid) as caught:
        document_path(text)
    assert caught.value.code == "INVALID_PATH"


@pytest.mark.parametrize(
    "text", ["memory/continuity/user-maya.json", "a", "...", ".gitignore", "journal/2026/ü.md", "a b", "-rf"]
)
def test_an_ordinary_path_is_itself(text: str) -> None:
    assert document_path(text) == text


PLAIN = [
    "memory/continuity/user-maya.json",
    "a",
    "gi.md",
    "git.md",
    "a b.md",
    "-rf",
    "console.md",
    "com.md",
    "com10.md",
    "gift~.md",
    "ü~1.md",
]


@every_row(
    "text",
    [
        ".gitmodules", ".gitattributes", ".GitIgnore", "a/.git\u200cmodules", "a/gitmod~1", "GI7EBA~1/x", "a:b.md", "a<b", "a|b",
        "what?.md", "*.md", 'a"b', "con", "CON.md", "a/nul.tar.gz/x", "com1.md", "lpt\u00b9", "aux .md", "conin$", "a./b", "a /b", "x.md.",
    ],
)  # fmt: skip
def test_what_a_working_copy_cannot_hold_is_no_new_path(text: str) -> None:
    assert document_path(text) == text  # where it stands already it is read
    with pytest.raises(Invalid) as caught:
        check_portable(text)
    assert caught.value.code == "INVALID_PATH"


@every_row("text", PLAIN)
def test_a_plain_path_is_portable(text: str) -> None:
    check_portable(document_path(text))


@given(
    st.from_regex(r"[a-z0-9._-]{1,120}", fullmatch=True).map(
        lambda slug: f"memory/continuity/user-{slug}.json"
    )
)
def test_every_path_of_a_capsule_is_portable(text: str) -> None:
    check_portable(document_path(text))


def test_two_spellings_of_a_letter_are_one_path() -> None:
    assert document_path("cafe\u0301") == document_path("caf\u00e9") == "caf\u00e9"

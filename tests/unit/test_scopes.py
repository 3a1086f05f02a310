"""Scope paths: their grammar, their bounds, and what contains what."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina import limits
from lamina.errors import Invalid
from lamina.kernel.scopes import Scope
from tables import every_row

SEGMENT = st.from_regex(r"[a-z][a-z0-9_]{0,31}:[A-Za-z0-9_-]{1,60}", fullmatch=True)
PATHS = st.lists(SEGMENT, min_size=1, max_size=8).map("/".join)


def refused(text: str) -> bool:
    try:
        Scope.parse(text)
    except Invalid as error:
        return error.code == "INVALID_SCOPE_GRAMMAR" and len(error.message) < 400
    return False


@given(PATHS)
def test_a_path_is_its_own_text_and_the_sum_of_its_segments(text: str) -> None:
    scope = Scope.parse(text)
    assert scope == text
    assert Scope.parse("/".join(scope.segments)) == scope
    assert scope.types == tuple(segment.split(":")[0] for segment in scope.segments)
    assert scope.type == scope.types[-1]


@given(PATHS)
def test_every_ancestor_contains_the_path_and_none_is_contained(text: str) -> None:
    scope = Scope.parse(text)
    assert scope.lineage() == (scope, *scope.ancestors())
    assert len(scope.ancestors()) == len(scope.segments) - 1
    for above in scope.ancestors():
        assert Scope.parse(above) == above
        assert above.contains(scope)
        assert not scope.contains(above)


def test_ancestors_come_nearest_first() -> None:
    assert Scope.parse("org:a/dept:b/user:c").ancestors() == ("org:a/dept:b", "org:a")
    assert Scope.parse("org:a").ancestors() == ()


@pytest.mark.parametrize(
    ("outer", "inner", "inside"),
    [
        ("org:a", "org:a", True), ("org:a", "org:a/user:b", True), ("org:a", "org:ab", False),
        ("org:a", "org:ab/user:b", False), ("org:a", "org:a-b", False), ("org:a/user:b", "org:a", False),
        ("user:b", "org:a/user:b", False),
    ],
)  # fmt: skip
def test_containment_stops_at_the_segment(outer: str, inner: str, inside: bool) -> None:
    assert Scope.parse(outer).contains(Scope.parse(inner)) is inside


@pytest.mark.parametrize(
    ("at_bound", "past_bound"),
    [
        ("/".join(["a:b"] * limits.SCOPE_SEGMENTS_MAX), "/".join(["a:b"] * (limits.SCOPE_SEGMENTS_MAX + 1))),
        ("a" * limits.SCOPE_TYPE_LENGTH_MAX + ":b", "a" * (limits.SCOPE_TYPE_LENGTH_MAX + 1) + ":b"),
        ("a:" + "b" * limits.SCOPE_ID_LENGTH_MAX, "a:" + "b" * (limits.SCOPE_ID_LENGTH_MAX + 1)),
        ("a:b", "a:"),
        ("a:b", ":b"),
    ],
    ids=["segments", "type", "id", "empty id", "empty type"],
)
def test_each_bound_holds_at_and_one_past_it(at_bound: str, past_bound: str) -> None:
    assert not refused(at_bound)
    assert refused(past_bound)


def test_the_length_of_a_path_is_bounded() -> None:
    longest = "/".join(["a" * 32 + ":" + "b" * 94] * 32)
    assert len(longest) == limits.SCOPE_LENGTH_MAX - 1
    assert not refused(longest + "b")
    assert refused(longest + "bb")


@every_row(
    "text",
    ["", " ", "/", "org:a/", "/org:a", "org:a//user:b", "org", "org:a:b", "Org:a", "1org:a", "_org:a", "org:a b",
     "org:a\n", "org:a\x00", "org:../x", "org:.", "org:ä", "örg:a", "org:а", "org:٣", "org:*", "org:%", "org:a'--",
     "org：a", "org:a/\u200buser:b", "org:a\u2028"],
)  # fmt: skip
def test_hostile_paths_are_refused(text: str) -> None:
    assert refused(text)


@given(st.text(max_size=40))
def test_any_text_is_a_path_or_an_error_of_ours(text: str) -> None:
    if not refused(text):
        assert "/".join(Scope.parse(text).segments) == text

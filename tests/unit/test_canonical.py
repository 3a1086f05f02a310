"""Canonical JSON: one byte string for one value."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.kernel.canonical import canonical, compact, digest, holds_nul

TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(TEXT, VALUES, max_size=5), st.integers())
def test_the_order_of_keys_does_not_matter(value: dict[str, object], seed: int) -> None:
    items = list(value.items())
    random.Random(seed).shuffle(items)
    assert canonical(dict(items)) == canonical(value)
    assert digest(dict(items)) == digest(value)


@given(VALUES)
def test_both_forms_say_the_value(value: object) -> None:
    assert json.loads(canonical(value)) == value
    assert json.loads(compact(value)) == value


def test_canonical_bytes_have_sorted_keys_no_space_and_plain_utf_8() -> None:
    assert (
        canonical({"b": [1, 2.0, None], "a": "ü\n", "B": {}})
        == '{"B":{},"a":"ü\\n","b":[1,2.0,null]}'.encode()
    )


def test_compact_keeps_the_submitted_order() -> None:
    assert compact({"b": 1, "a": [True, "ü"]}) == '{"b":1,"a":[true,"ü"]}'


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")], {"a": float("nan")}])
def test_what_json_cannot_say_is_refused(value: object) -> None:
    for form in (canonical, compact):
        with pytest.raises(ValueError, match="JSON"):
            form(value)


def test_a_digest_names_its_algorithm_and_tells_values_apart() -> None:
    assert digest({}) == "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    assert digest(1) != digest("1")


@given(VALUES)
def test_a_nul_is_found_wherever_the_value_has_one(value: object) -> None:
    # JSON writes NUL in one way, and a backslash of the text itself is doubled.
    assert holds_nul(value) == ("\\u0000" in json.dumps(value).replace("\\\\", ""))


@pytest.mark.parametrize("value", ["a\x00", {"\x00": 1}, {"a": {"b\x00": []}}, [[{"a": ["\x00"]}]]])
def test_a_nul_in_a_key_is_as_much_a_nul_as_one_in_a_text(value: object) -> None:
    assert holds_nul(value)

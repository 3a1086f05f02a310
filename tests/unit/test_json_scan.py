"""JSON looked at before it is parsed: counts, places of parts, and the hash of the whole from them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as st
from pydantic_core import from_json

from lamina import limits
from lamina.errors import TooLarge
from lamina.json_scan import JsonBounds, JsonScan, digest_in_parts, json_members
from lamina.kernel.canonical import digest
from tables import every_row

WIDE = JsonBounds(1000, 1000)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text('a"\\{}[],: \n\u00e9', max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text('k"\\:,', max_size=3), inner, max_size=4)
    ),
    max_leaves=20,
)


def scanned(body: bytes, chunk: int = 1 << 20, bounds: JsonBounds = WIDE) -> JsonScan:
    scan = JsonScan(bounds)
    for start in range(0, len(body), chunk):
        scan.feed(body[start : start + chunk])
    return scan


def keys_of(value: Any) -> int:
    if isinstance(value, dict):
        return len(value) + sum(map(keys_of, value.values()))
    return sum(map(keys_of, value)) if isinstance(value, list) else 0


@for_all(VALUES, st.integers(1, 9), st.sampled_from([None, 1]))
def test_keys_are_counted_wherever_the_text_is_cut(value: Any, chunk: int, indent: int | None) -> None:
    body = json.dumps(value, ensure_ascii=False, indent=indent).encode()
    assert scanned(body, chunk).keys == keys_of(value)


@for_all(st.dictionaries(st.text('k"\\:,', max_size=3), VALUES, max_size=4), st.integers(1, 9))
def test_parts_put_together_are_the_whole(value: dict[str, Any], chunk: int) -> None:
    body = json.dumps(value, ensure_ascii=False, indent=1).encode()
    members = json_members(body, scanned(body, chunk))
    assert members is not None
    read = {}
    for member in members:
        whole = from_json(body[member.value.start : member.value.end])
        if member.elements is not None:
            assert [from_json(body[each.start : each.end]) for each in member.elements] == whole
        assert (member.elements is not None) == isinstance(whole, list)
        read[member.name] = whole
    assert read == value


@every_row(
    "body",
    [
        b"[1]", b"7", b"", b"x{}", b"{}x", b'{"a":1}}', b'{"a"}', b'{"a":1 "b":2}', b'{"a":1,}', b'{"a":1,"b"}',
        b'{1:2}', b'{"a":[1}', b'{"a":{]}', b'{"a":1', b'{"a":"}', b"{,}", b"{ 7 }", b'{"a":{}{}}',
    ],
)  # fmt: skip
def test_what_is_no_object_has_no_members(body: bytes) -> None:
    members = json_members(body, scanned(body))
    if members is not None:  # then a part of it is no JSON
        with pytest.raises(ValueError, match=r"."):
            [from_json(body[member.value.start : member.value.end]) for member in members]


@pytest.mark.parametrize(
    "body", [b'{"a":[1]2}', b'{"a":3[1]}', b'{"a":[1,,2]}', b'{"a":[1,]}', b'{"a":[1 2]}']
)
def test_an_array_with_something_amiss_is_no_json_in_parts_either(body: bytes) -> None:
    (member,) = json_members(body, scanned(body)) or []
    spans = [member.value] if member.elements is None else member.elements
    with pytest.raises(ValueError, match=r"."):
        [from_json(body[each.start : each.end]) for each in spans]


@pytest.mark.parametrize(
    ("most", "counted"),
    [(b'{"a":1,"b":2}', "keys"), (b'{"a":[1,2,3,4]}', "elements"), (b'{"a":[[[]]]}', "depth")],
)
def test_a_text_may_reach_its_bounds_and_not_pass_them(most: bytes, counted: str) -> None:
    scanned(most, bounds=JsonBounds(2, 5, 4))
    tighter = {"keys": JsonBounds(1, 5, 4), "elements": JsonBounds(2, 4, 4), "depth": JsonBounds(2, 5, 3)}
    with pytest.raises(TooLarge) as caught:
        scanned(most, bounds=tighter[counted])
    assert (caught.value.code, caught.value.details["counted"]) == ("BODY_TOO_COMPLEX", counted)


def test_a_bomb_is_refused_before_it_has_arrived() -> None:
    scan = JsonScan(JsonBounds(limits.JSON_KEYS_MAX, limits.JSON_ELEMENTS_MAX))
    chunk = b'"key":1,' * 8192
    for _ in range(4):
        scan.feed(chunk)
    with pytest.raises(TooLarge):
        scan.feed(chunk)
    assert scan.keys <= limits.JSON_KEYS_MAX + 8192


@settings(max_examples=20)
@for_all(st.dictionaries(st.text('k"\\:,', max_size=3), VALUES, max_size=4))
def test_a_large_body_has_the_hash_of_its_value(value: dict[str, Any]) -> None:
    body = json.dumps(value, ensure_ascii=False, indent=1).encode()
    padded = body[:1] + b" " * limits.BODY_BYTES_MAX + body[1:]
    assert digest_in_parts(padded) == digest(value) == digest_in_parts(body)


def test_of_a_key_that_comes_twice_the_last_counts() -> None:
    body = b'{"b":[1],"a":1,"b":[2,{"c":3}]' + b" " * limits.BODY_BYTES_MAX + b"}"
    assert digest_in_parts(body) == digest({"a": 1, "b": [2, {"c": 3}]})


def test_a_number_that_is_not_finite_has_no_hash_in_parts_either() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        digest_in_parts(b'{"a":[NaN]' + b" " * limits.BODY_BYTES_MAX + b"}")

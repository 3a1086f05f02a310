"""JSON with comments is changed at one place, and all else stays as somebody wrote it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.cli.commented_json import json_value, with_member, without_member
from tables import every_row

ENTRY = {"command": "lamina", "args": ["mcp"], "env": {"LAMINA_DATA": "/m"}}
PATH = ("mcpServers", "lamina")

NAMES = st.sampled_from(["mcpServers", "lamina", "other", "a", "ü//", 'x\\"/*', ""])
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
GAPS = st.lists(
    st.sampled_from([" ", "\n", "\t", "\n    ", '// it\'s "here", {\n', "/* a\n, b */", "/**/", "\r\n"]),
    max_size=3,
).map("".join)


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, Any]:
    """A text as a person may have left it, and what it says."""
    value = draw(st.dictionaries(NAMES, VALUES, max_size=4))

    def gap() -> str:
        return draw(GAPS)

    def written(value: Any) -> str:
        if isinstance(value, dict):
            parts = [f"{gap()}{json.dumps(n)}{gap()}:{gap()}{written(v)}{gap()}" for n, v in value.items()]
            return "{" + _joined(parts) + "}"
        if isinstance(value, list):
            return "[" + _joined([f"{gap()}{written(each)}{gap()}" for each in value]) + "]"
        return json.dumps(value, ensure_ascii=draw(st.booleans()))

    def _joined(parts: list[str]) -> str:
        trailing = "," + gap() if parts and draw(st.booleans()) else ""
        return ",".join(parts) + trailing if parts else gap()

    return draw(st.sampled_from(["", "\ufeff"])) + gap() + written(value) + gap(), value


def comments(text: str) -> list[str]:
    """The comments of a text, by other means than the code's."""
    tokens = re.findall(r'"(?:[^"\\]|\\.)*"|//[^\r\n]*|/\*.*?\*/', text, re.DOTALL)
    return sorted(each for each in tokens if each.startswith("/"))


@given(texts())
@settings(max_examples=40, deadline=None)
def test_a_text_says_what_was_written(written: tuple[str, Any]) -> None:
    text, value = written
    assert json_value(text) == value


@given(texts(), st.lists(NAMES, min_size=1, max_size=3), VALUES)
@settings(max_examples=80, deadline=None)
def test_a_member_is_put_and_nothing_else_changes(
    written: tuple[str, Any], path: list[str], new: Any
) -> None:
    text, value = written
    try:
        changed = with_member(text, path, new)
    except ValueError:
        assert not _leads_through_objects(value, path)
        return
    assert json_value(changed) == _put(value, path, new)
    if _at(value, path) is None:
        assert comments(changed) == comments(text)
        # What stood there is there still, in its order: the new text only adds.
        assert _is_within(text, changed)
    assert with_member(changed, path, new) == changed


@given(texts(), st.lists(NAMES, min_size=1, max_size=3))
@settings(max_examples=80, deadline=None)
def test_a_member_is_taken_out_and_nothing_else_changes(written: tuple[str, Any], path: list[str]) -> None:
    text, value = written
    try:
        changed = without_member(text, path)
    except ValueError:
        return
    there = _at(value, path)
    if there is None:
        assert changed == text
        return
    parent = _at(value, path[:-1])[0] if len(path) > 1 else value
    del parent[path[-1]]
    assert json_value(changed) == value
    assert len(comments(changed)) <= len(comments(text))
    assert _is_within(re.sub(r"\s", "", changed), re.sub(r"\s", "", text))


@given(texts())
@settings(max_examples=40, deadline=None)
def test_what_was_put_can_be_taken_out_again(written: tuple[str, Any]) -> None:
    text, value = written
    if isinstance(value.get("mcpServers", {}), dict) and "lamina" not in value.get("mcpServers", {}):
        back = without_member(with_member(text, PATH, ENTRY), PATH)
        assert json_value(back) == {"mcpServers": {}} | value
        assert comments(back) == comments(text)


def _at(value: Any, path: list[str]) -> Any:
    """A list of the one value at a path, None where there is none: null is a value."""
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return None
        value = value[name]
    return [value]


def _leads_through_objects(value: Any, path: list[str]) -> bool:
    for name in path[:-1]:
        if name in value and not isinstance(value[name], dict):
            return False
        value = value.get(name, {})
    return True


def _put(value: Any, path: list[str], new: Any) -> Any:
    name, *rest = path
    return {**value, name: _put(value.get(name, {}), rest, new) if rest else new}


def _is_within(small: str, large: str) -> bool:
    """Whether one text can be had from the other by leaving something out; white space at an end of a place may go."""
    characters = iter(large)
    return all(each in characters for each in small if not each.isspace())


WRITTEN = """\
// my servers
{
    "inputs": [], // nothing yet
    "servers": {
        "git": { "command": "git-mcp" } // keep
        /* the end */
    }
}
"""


def test_a_file_as_people_write_them() -> None:
    changed = with_member(WRITTEN, ("servers", "lamina"), {"command": "lamina", "args": ["mcp"]})
    assert changed == WRITTEN.replace("}  // keep", "}, // keep").replace(
        '"git-mcp" } // keep', '"git-mcp" }, // keep'
    ).replace(
        "/* the end */\n",
        "/* the end */\n"
        '        "lamina": {\n            "command": "lamina",\n            "args": [\n                "mcp"\n            ]\n        }\n',
    )
    assert without_member(changed, ("servers", "lamina")) == WRITTEN


@pytest.mark.parametrize("text", ["", " \n", "\ufeff", "// only words", "{}", "{ }", "{\n}", "{ // c\n}"])
def test_an_empty_file_gets_the_objects_on_the_way(text: str) -> None:
    changed = with_member(text, PATH, ENTRY)
    assert json_value(changed) == {"mcpServers": {"lamina": ENTRY}}
    assert comments(changed) == comments(text)


def test_ends_of_lines_and_indentation_are_those_of_the_file() -> None:
    text = '{\r\n\t"a": 1\r\n}\r\n'
    changed = with_member(text, ("b", "c"), 2)
    assert changed == '{\r\n\t"a": 1,\r\n\t"b": {\r\n\t\t"c": 2\r\n\t}\r\n}\r\n'
    assert with_member('{"a": 1}', ("b",), 2) == '{"a": 1, "b": 2}'
    assert without_member('{"a": 1, "b": 2}', ("b",)) == '{"a": 1}'


@every_row(
    ("text", "place"),
    [
        ("{", "line 1, column 2"),
        ('{"a": 1\n "b": 2}', "line 2, column 2"),
        ('{"a" 1}', "line 1, column 6"),
        ("{'a': 1}", "line 1, column 2"),
        ('{"a": tru}', "line 1, column 7"),
        ('{"a": 01}', "line 1, column 8"),
        ('{"a": "x\n"}', "line 1, column 7"),
        ('{"a": "\\q"}', "line 1, column 7"),
        ("{} {}", "line 1, column 4"),
        ("{} /* x", "line 1, column 4"),
        ("[1 2]", "line 1, column 4"),
        ("{,}", "line 1, column 2"),
        ('{"a":' * 300 + "1" + "}" * 300, "nests too deep"),
    ],
)
def test_what_does_not_parse_is_refused_with_its_place(text: str, place: str) -> None:
    for change in (
        json_value,
        lambda each: with_member(each, PATH, 1),
        lambda each: without_member(each, PATH),
    ):
        with pytest.raises(ValueError, match=re.escape(place)):
            change(text)


def test_a_path_through_something_else_is_refused() -> None:
    for text in ('{"mcpServers": []}', "[]", "7"):
        with pytest.raises(ValueError, match="no object"):
            with_member(text, PATH, 1)

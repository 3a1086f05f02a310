"""JSON with comments, as editors write their settings: read, and changed at one place with all else left as it stands.

Comments are ``//`` to the end of the line and ``/* */``; a comma may stand behind the last member. A change is made in the text: comments,
order, indentation and the ends of lines outside the changed value stay byte for byte.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["json_value", "with_member", "without_member"]

Json = Any
"""Whatever JSON can hold."""

_DEPTH_MAX: Final = 200
_SKIPPED: Final = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORDS: Final[Mapping[str, Json]] = {"true": True, "false": False, "null": None}
_UNIT: Final = "  "


@dataclass(slots=True)
class _Node:
    """A value, and where it stands: ``start`` to ``end`` in the text."""

    start: int
    value: Json = None
    end: int = 0
    members: list[_Member] | None = None


@dataclass(slots=True)
class _Member:
    name: str
    start: int
    node: _Node
    comma: int | None = None
    """Where the comma behind it stands."""


def json_value(text: str) -> Json:
    """The value of a text; raises ``ValueError`` that says where it does not parse. An empty text is an empty object."""
    return _parsed(text).value


def with_member(text: str, path: Sequence[str], value: Json) -> str:
    """The text with a value at the end of a path of objects, which are made where they are missing.

    Raises ``ValueError`` where the text does not parse, or something on the path is no object.
    """
    root = _parsed(text)
    if root.start == root.end:  # nothing, or comments alone
        lead = text if not text or text.endswith("\n") or text == "\ufeff" else text + _newline(text)
        return lead + _rendered(_nested(path, value), _UNIT, "", _newline(text)) + _newline(text)
    if root.members is None:
        raise ValueError("it holds no object")
    node = root
    for depth, name in enumerate(path):
        if node.members is None:
            raise ValueError(f"{'.'.join(path[:depth])} is no object")
        member = _member(node, name)
        if member is None:
            return _inserted(text, node, name, _nested(path[depth + 1 :], value))
        node = member.node
    if json.dumps(node.value) == json.dumps(value):
        return text
    indent = _indent_at(text, node.start)
    unit, newline = _unit(text), _newline(text)
    return text[: node.start] + _rendered(value, unit, indent, newline) + text[node.end :]


def without_member(text: str, path: Sequence[str]) -> str:
    """The text without the member at the end of a path; as it is where there is none. Raises as ``with_member`` does."""
    node = _parsed(text)
    for depth, name in enumerate(path):
        if node.members is None:
            raise ValueError(f"{'.'.join(path[:depth])} is no object")
        member = _member(node, name)
        if member is None:
            return text
        if depth == len(path) - 1:
            return _removed(text, node, member)
        node = member.node
    return text


# ---- reading


def _parsed(text: str) -> _Node:
    start = 1 if text.startswith("\ufeff") else 0
    place = _skip(text, start)
    if place == len(text):
        return _Node(place, {}, place, [])
    node = _value(text, place, 0)
    if _skip(text, node.end) != len(text):
        raise _wrong(text, _skip(text, node.end), "something follows the value")
    return node


def _skip(text: str, place: int) -> int:
    found = _SKIPPED.match(text, place)
    assert found is not None, "it matches nothing at all, too"
    return found.end()


def _value(text: str, place: int, depth: int) -> _Node:
    if depth > _DEPTH_MAX:
        raise _wrong(text, place, "it nests too deep")
    first = text[place : place + 1]
    if first == "{":
        return _object(text, place, depth)
    if first == "[":
        return _array(text, place, depth)
    if first == '"':
        value, end = _string(text, place)
        return _Node(place, value, end)
    for word, meant in _WORDS.items():
        if text.startswith(word, place):
            return _Node(place, meant, place + len(word))
    number = _NUMBER.match(text, place)
    if number is None:
        raise _wrong(text, place, "a value is missing")
    return _Node(place, json.loads(number[0]), number.end())


def _string(text: str, place: int) -> tuple[str, int]:
    found = _STRING.match(text, place)
    if found is None:
        raise _wrong(text, place, "a string has no end")
    try:
        value: str = json.loads(found[0])
    except ValueError as error:
        raise _wrong(text, place, "a string has an unknown escape") from error
    return value, found.end()


def _object(text: str, place: int, depth: int) -> _Node:
    node = _Node(place, {}, members=[])
    assert node.members is not None, "just made"
    at = _skip(text, place + 1)
    while text[at : at + 1] != "}":
        if text[at : at + 1] != '"':
            raise _wrong(text, at, "a name or } is missing")
        name, end = _string(text, at)
        colon = _skip(text, end)
        if text[colon : colon + 1] != ":":
            raise _wrong(text, colon, "a colon is missing")
        member = _Member(name, at, _value(text, _skip(text, colon + 1), depth + 1))
        node.members.append(member)
        node.value[name] = member.node.value
        at = _skip(text, member.node.end)
        if text[at : at + 1] == ",":
            member.comma = at
            at = _skip(text, at + 1)
        elif text[at : at + 1] != "}":
            raise _wrong(text, at, "a comma or } is missing")
    node.end = at + 1
    return node


def _array(text: str, place: int, depth: int) -> _Node:
    node = _Node(place, [])
    at = _skip(text, place + 1)
    while text[at : at + 1] != "]":
        item = _value(text, at, depth + 1)
        node.value.append(item.value)
        at = _skip(text, item.end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != "]":
            raise _wrong(text, at, "a comma or ] is missing")
    node.end = at + 1
    return node


def _wrong(text: str, place: int, what: str) -> ValueError:
    line = text.count("\n", 0, place) + 1
    column = place - (text.rfind("\n", 0, place) + 1) + 1
    return ValueError(f"line {line}, column {column}: {what}")


def _member(node: _Node, name: str) -> _Member | None:
    """The member of a name; of several the last, which is the one that readers take."""
    return next((each for each in reversed(node.members or ()) if each.name == name), None)


# ---- changing


def _nested(path: Sequence[str], value: Json) -> Json:
    for name in reversed(path):
        value = {name: value}
    return value


def _inserted(text: str, node: _Node, name: str, value: Json) -> str:
    members = node.members or []
    close = node.end - 1
    after = members[-1].node.end if members else node.start + 1
    between = text[after:close]
    kept = between.rstrip(" \t\r\n")
    comma = "," if members and members[-1].comma is None else ""
    behind = "," if members and not comma else ""  # where one stood behind the last, one does
    one_line = "\n" not in text[node.start : node.end] and bool(members)
    if one_line:
        shown = f"{json.dumps(name, ensure_ascii=False)}: {json.dumps(value, ensure_ascii=False)}"
        return f"{text[:after]}{comma}{kept} {shown}{behind}{between[len(kept) :]}{text[close:]}"
    newline, unit = _newline(text), _unit(text)
    outer = _indent_at(text, close if "\n" in between else node.start)
    inner = _indent_at(text, members[0].start) if members and _leads(text, members[0].start) else outer + unit
    shown = f"{json.dumps(name, ensure_ascii=False)}: {_rendered(value, unit, inner, newline)}"
    return f"{text[:after]}{comma}{kept}{newline}{inner}{shown}{behind}{newline}{outer}{text[close:]}"


def _removed(text: str, node: _Node, member: _Member) -> str:
    members = node.members or []
    place = members.index(member)
    cuts = [(member.start, member.node.end)]
    if member.comma is not None:
        cuts.append((member.comma, member.comma + 1))
    elif place > 0:
        before = members[place - 1].comma
        assert before is not None, "a comma stands between two members"
        cuts.append((before, before + 1))
    for start, end in sorted(cuts, reverse=True):
        text = _cut(text, start, end)
    return text


def _cut(text: str, start: int, end: int) -> str:
    """The text without a part, and without the line that it alone stood on."""
    line = text.rfind("\n", 0, start) + 1
    stop = text.find("\n", end)
    if stop != -1 and not text[line:start].strip(" \t") and not text[end:stop].strip(" \t\r") and line > 0:
        return text[:line] + text[stop + 1 :]
    if text[start - 1 : start] == " " and text[end : end + 1] in (" ", "}"):
        start -= 1
    return text[:start] + text[end:]


def _rendered(value: Json, unit: str, indent: str, newline: str) -> str:
    lines = json.dumps(value, indent=unit, ensure_ascii=False).split("\n")
    return (newline + indent).join(lines)


def _indent_at(text: str, place: int) -> str:
    """What the line of a place begins with."""
    line = text.rfind("\n", 0, place) + 1
    found = re.compile(r"[ \t]*").match(text, line)
    return "" if found is None else found[0]


def _leads(text: str, place: int) -> bool:
    """Whether nothing stands before a place on its line."""
    return not text[text.rfind("\n", 0, place) + 1 : place].strip(" \t")


def _unit(text: str) -> str:
    """The first indentation of the text, else two spaces."""
    found = re.search(r"^([ ]{1,8}|\t)(?=[\"/}{\[])", text, re.MULTILINE)
    return _UNIT if found is None else found[1]


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"

"""Looking at JSON before it is parsed: how much there is to it, and where the parts of its outermost object lie.

A parser holds the interpreter's lock until it is done, with a large text for longer than other calls may wait, and makes
gigabytes of a few megabytes that are all keys. So a large text is looked through in slices first, which takes
microseconds each, and then parsed part by part.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pydantic_core import from_json

from lamina import limits
from lamina.errors import TooLarge
from lamina.kernel.canonical import canonical, digest_of_json

__all__ = ["ByteSpan", "JsonBounds", "JsonMember", "JsonScan", "digest_in_parts", "json_members"]

_SLICE: Final = 64 * 1024
_QUOTE, _BACKSLASH, _COLON, _COMMA, _OPENING, _CLOSING = (ord(char) for char in '"\\:,{}')
_ARRAY: Final = ord("[")
_BLANK: Final = b" \t\r\n"

Positions = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class JsonBounds:
    """How many keys and elements a text may have in all, and how deep it may nest."""

    keys_max: int
    elements_max: int
    depth_max: int = limits.JSON_DEPTH_MAX


@dataclass(frozen=True, slots=True)
class ByteSpan:
    """Where a part of a text begins and ends, in bytes."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class JsonMember:
    """A member of the outermost object. ``elements`` are those of an array, None where the value is none."""

    name: str
    value: ByteSpan
    elements: Sequence[ByteSpan] | None


class JsonScan:
    """Counts what a text holds, in whatever chunks it comes.

    It takes valid JSON for granted: what it makes of anything else no parser takes for JSON.
    """

    def __init__(self, bounds: JsonBounds) -> None:
        self._bounds = bounds
        self.keys = 0
        self.elements = 0
        self._depth = 0
        self._at = 0
        self._in_text = False
        self._escaped = False
        self._marks: list[tuple[Positions, NDArray[np.int8], NDArray[np.int64]]] = []

    def feed(self, chunk: bytes) -> None:
        """Look at the next bytes; raises ``TooLarge`` (BODY_TOO_COMPLEX) as soon as they pass a bound."""
        for start in range(0, len(chunk), _SLICE):
            data = np.frombuffer(chunk, np.uint8, min(_SLICE, len(chunk) - start), start)
            self._look(data)
            self._at += len(data)

    def marks(self) -> tuple[Positions, NDArray[np.int8], NDArray[np.int64]]:
        """What parts the outermost object and the arrays in it: places, what stands there, and how deep before it."""
        empty = (np.empty(0, np.int64), np.empty(0, np.int8), np.empty(0, np.int64))
        places, kinds, depths = zip(*(self._marks or [empty]), strict=True)
        return np.concatenate(places), np.concatenate(kinds), np.concatenate(depths)

    def _look(self, data: NDArray[np.uint8]) -> None:
        # Brackets differ from braces in one bit.
        folded = data | 0x20
        places = np.flatnonzero(
            (data == _QUOTE)
            | (data == _COLON)
            | (data == _COMMA)
            | (data == _BACKSLASH)
            | (folded == _OPENING)
            | (folded == _CLOSING)
        )
        places = self._unescaped(data, places)
        kinds = data[places]
        quotes = kinds == _QUOTE
        outside = ((np.cumsum(quotes) + self._in_text) & 1 == 0) & ~quotes
        self._in_text ^= bool(np.count_nonzero(quotes) & 1)
        places, kinds = places[outside], kinds[outside]
        folded = kinds | 0x20
        steps = (folded == _OPENING).astype(np.int8) - (folded == _CLOSING)
        after = self._depth + np.cumsum(steps, dtype=np.int64)
        before = after - steps
        self._count(kinds, steps, after)
        outer = (np.minimum(before, after) <= 1) | ((kinds == _COMMA) & (before == 2))
        if outer.any():
            self._marks.append((places[outer] + self._at, kinds[outer].astype(np.int8), before[outer]))
        if len(after):
            self._depth = int(after[-1])

    def _unescaped(self, data: NDArray[np.uint8], places: Positions) -> Positions:
        """The places without backslashes, and without what one escapes."""
        if self._escaped and len(places) and places[0] == 0:
            places = places[1:]  # escaped by the last byte before, it escapes nothing itself
        self._escaped = False
        slashes = places[data[places] == _BACKSLASH]
        if not len(slashes):
            return places
        begins = np.flatnonzero(np.diff(slashes, prepend=-2) != 1)
        lengths = np.diff(begins, append=len(slashes))
        follows = (slashes[begins] + lengths)[lengths & 1 == 1]
        escaped = np.zeros(len(data) + 1, np.bool_)
        escaped[follows] = True
        self._escaped = bool(escaped[len(data)])
        kept: Positions = places[~escaped[places] & (data[places] != _BACKSLASH)]
        return kept

    def _count(self, kinds: NDArray[np.uint8], steps: NDArray[np.int8], after: NDArray[np.int64]) -> None:
        self.keys += int(np.count_nonzero(kinds == _COLON))
        self.elements += int(np.count_nonzero(kinds == _COMMA)) + int(np.count_nonzero(steps > 0))
        depth = int(after.max(initial=0))
        bounds = self._bounds
        for name, counted, most in (
            ("keys", self.keys, bounds.keys_max),
            ("elements", self.elements, bounds.elements_max),
            ("depth", depth, bounds.depth_max),
        ):
            if counted > most:
                raise TooLarge(
                    "BODY_TOO_COMPLEX",
                    f"the body has more than {most} {name}"
                    if name != "depth"
                    else f"the body is nested deeper than {most}",
                    details={"counted": name, "max": most},
                )


def json_members(body: bytes, scan: JsonScan) -> list[JsonMember] | None:
    """The members of the object that a text is, as a scan that was fed with all of it saw them.

    None where the text is no object, or where what lies between the parts shows that it is no JSON. Whether the parts
    themselves are is for their parser to say.
    """
    places, kinds, depths = scan.marks()
    return None if not len(places) else _Members(body, places, kinds, depths).read()


class _Members:
    def __init__(
        self, body: bytes, places: Positions, kinds: NDArray[np.int8], depths: NDArray[np.int64]
    ) -> None:
        self._body = body
        self._places = places
        self._frame = np.flatnonzero(~((kinds == _COMMA) & (depths == 2)))
        """The marks that are not commas between the elements of a member."""
        self._kinds = kinds[self._frame].tobytes()

    def read(self) -> list[JsonMember] | None:
        kinds, body = self._kinds, self._body
        if kinds[:1] != b"{" or kinds[-1:] != b"}" or len(kinds) < 2:
            return None
        first, last = self._place(0), self._place(len(kinds) - 1)
        if body[:first].strip(_BLANK) or body[last + 1 :].strip(_BLANK):
            return None
        if len(kinds) == 2:
            return [] if not body[first + 1 : last].strip(_BLANK) else None
        members: list[JsonMember] = []
        at = 1
        while at < len(kinds):
            if kinds[at] != _COLON:
                return None
            name = self._name(self._place(at - 1) + 1, self._place(at))
            inner = kinds[at + 1 : at + 3] in (b"[]", b"{}")
            ends = at + (3 if inner else 1)
            if name is None or ends >= len(kinds) or kinds[ends] not in (_COMMA, _CLOSING):
                return None
            value = ByteSpan(self._place(at) + 1, self._place(ends))
            is_array = inner and kinds[at + 1] == _ARRAY
            members.append(JsonMember(name, value, self._elements(at + 1, value) if is_array else None))
            if kinds[ends] == _CLOSING and ends != len(kinds) - 1:
                return None
            at = ends + 1
        return members if kinds[ends] == _CLOSING else None

    def _place(self, index: int) -> int:
        return int(self._places[self._frame[index]])

    def _name(self, start: int, end: int) -> str | None:
        try:
            name = from_json(self._body[start:end])
        except ValueError:
            return None
        return name if isinstance(name, str) else None

    def _elements(self, index: int, value: ByteSpan) -> Sequence[ByteSpan] | None:
        """The elements of the array that the mark opens; None where something stands around its brackets."""
        opening, closing = self._place(index), self._place(index + 1)
        around = self._body[value.start : opening] + self._body[closing + 1 : value.end]
        if around.strip(_BLANK):
            return None
        commas = self._places[self._frame[index] + 1 : self._frame[index + 1]].tolist()
        if not commas and not self._body[opening + 1 : closing].strip(_BLANK):
            return []
        return list(map(ByteSpan, [opening + 1, *(at + 1 for at in commas)], [*commas, closing]))


_NO_BOUNDS: Final = JsonBounds(1 << 62, 1 << 62, 1 << 30)


def digest_in_parts(body: bytes) -> str:
    """``digest`` of the value of a JSON text; a large object is hashed part by part, so that nobody waits for the whole.

    Raises ``ValueError`` for what is no JSON, and for NaN and infinities.
    """
    members = None
    if len(body) > limits.BODY_BYTES_MAX:
        scan = JsonScan(_NO_BOUNDS)
        scan.feed(body)
        members = json_members(body, scan)
    if members is None:
        return digest_of_json(body)
    hashed = hashlib.sha256()
    for part in _canonical_parts(body, {member.name: member for member in members}):
        hashed.update(part)
    return f"sha256:{hashed.hexdigest()}"


def _canonical_parts(body: bytes, members: dict[str, JsonMember]) -> Iterator[bytes]:
    for number, name in enumerate(sorted(members)):
        member = members[name]
        yield b"%b%b:" % (b"," if number else b"{", canonical(name))
        if member.elements is None:
            yield canonical(_value(body, member.value))
            continue
        yield b"["
        for place, span in enumerate(member.elements):
            yield (b"," if place else b"") + canonical(_value(body, span))
        yield b"]"
    yield b"}" if members else b"{}"


def _value(body: bytes, span: ByteSpan) -> Any:  # Any: whatever JSON can hold
    return from_json(body[span.start : span.end])

"""Identifiers: UUID version 7 behind a prefix that says what it names (seed 002, 3.6).

An id made here sorts by time: RFC 9562 section 5.7, with the microseconds inside the millisecond in ``rand_a``
(section 6.2, method 3), so ids stamped with strictly increasing microseconds are strictly increasing texts.

Two ways to make one. ``stamped`` takes the low bits from a random source: for events, requests.
``derived`` takes them from a hash of what the record is derived from: the same log gives the same ids, always.
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
from collections.abc import Callable
from enum import StrEnum
from typing import Final, Protocol

from lamina.errors import Invalid

__all__ = [
    "IdSource",
    "Prefix",
    "RandomIds",
    "derived_id",
    "instant_of",
    "is_uuid7",
    "name_or_entity",
    "parse_id",
    "prefix_of",
    "with_low",
]


class Prefix(StrEnum):
    """The namespaces of seed 002, section 3.6. Mixing them is an error."""

    EVENT = "evt"
    EPISODE = "ep"
    FACT = "fact"
    BELIEF = "belief"
    CONCEPT = "concept"
    CONCEPT_ALIAS = "concept_alias"
    LIFECYCLE = "lce"
    JOB = "job"
    BATCH = "batch"
    IMPORT = "imp"
    EXPORT = "exp"
    ERASURE_PREVIEW = "ervw"
    ERASURE = "erasure"
    PACK = "pack"
    AUDIT = "audit"
    BLOB = "blob"
    ENTITY = "ent"
    REQUEST = "req"
    TOKEN = "tok"  # noqa: S105 - the seed's name of a namespace, not a secret

    @property
    def opening(self) -> str:
        """How its ids begin: for who asks it of thousands."""
        return f"{self.value}_"


_UUID7 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_TIME_US_MAX: Final = (1 << 48) * 1000 - 1
_LOW_MAX: Final = (1 << 62) - 1
_VERSION_AND_VARIANT: Final = 7 << 76 | 0b10 << 62


def _uuid7(at_us: int, low: int) -> str:
    """Canonical text of a UUIDv7 for an instant (µs since 1970, UTC) and 62 low bits."""
    if not 0 <= at_us <= _TIME_US_MAX:
        at_us = min(max(at_us, 0), _TIME_US_MAX)
    milliseconds, microseconds = divmod(at_us, 1000)
    # As one number: each write makes four of them, and every part that is put into words by itself costs as much as the whole.
    number = milliseconds << 80 | microseconds << 64 | _VERSION_AND_VARIANT | (low & _LOW_MAX)
    digits = number.to_bytes(16, "big").hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


_drawn: Final[list[int]] = []
# A forked child draws its own: what its parent drew is not random any more.
os.register_at_fork(after_in_child=_drawn.clear)


def _random_low() -> int:
    """64 bits of the operating system's. They are drawn by the page: each call to it costs more than the bytes, and
    gives the interpreter's lock away.
    """
    try:
        return _drawn.pop()
    except IndexError:
        first, *others = struct.unpack("=512Q", os.urandom(4096))
        _drawn.extend(others)
        return int(first)


class IdSource(Protocol):
    """Makes ids that were not there before. Passed in, so that tests own it."""

    def stamped(self, prefix: Prefix, at_us: int) -> str:
        """A new id for something that happens at ``at_us`` (µs since 1970, UTC)."""
        ...


class RandomIds:
    """Ids with 62 random low bits, from the operating system unless told otherwise."""

    def __init__(self, random_low: Callable[[], int] = _random_low) -> None:
        self._random_low = random_low

    def stamped(self, prefix: Prefix, at_us: int) -> str:
        """Mirrors ``IdSource.stamped``."""
        return f"{prefix}_{_uuid7(at_us, self._random_low())}"


def derived_id(prefix: Prefix, at_us: int, *parts: str | int) -> str:
    """The id of a derived record: a function of an instant and of what it is derived from.

    ``parts`` name the source, for example (event id, extractor, ordinal). Equal arguments give equal ids on
    every machine and in every replay; different parts differ with the certainty of a 62-bit hash.
    """
    seed = "\x1f".join(str(part) for part in parts).encode()
    low = int.from_bytes(hashlib.blake2b(seed, digest_size=8).digest(), "big")
    return f"{prefix}_{_uuid7(at_us, low)}"


def lifecycle_id(tenant_id: str, sequence: int, at_us: int) -> str:
    """The id of what happened in a tenant as its so-manieth, at an instant: a function of these, so that it is nowhere kept."""
    return derived_id(Prefix.LIFECYCLE, at_us, tenant_id, sequence)


def with_low(prefix: Prefix, at_us: int, low: int) -> str:
    """The id of an instant (µs since 1970, UTC) and 62 low bits."""
    return f"{prefix}_{_uuid7(at_us, low)}"


def instant_of(text: str) -> int | None:
    """The instant (µs since 1970, UTC) that an id is for; None when ``text`` is not an id of ours."""
    if prefix_of(text) is None:
        return None
    milliseconds, microseconds = int(text[-36:-23].replace("-", ""), 16), int(text[-21:-18], 16)
    return 1000 * milliseconds + microseconds


def is_uuid7(text: str) -> bool:
    """Whether a text is a UUID version 7 as we write them: what stands behind the prefix of an id."""
    return _UUID7.fullmatch(text) is not None


def prefix_of(text: str) -> Prefix | None:
    """The namespace of an id, or None when ``text`` is not an id of ours."""
    name, _, rest = text.rpartition("_")
    if not is_uuid7(rest):
        return None
    try:
        return Prefix(name)
    except ValueError:
        return None


def parse_id(text: str, prefix: Prefix) -> str:
    """``text`` if it is an id of that namespace; raises ``Invalid`` (INVALID_ID) otherwise."""
    if prefix_of(text) is prefix:
        return text
    raise Invalid(
        "INVALID_ID",
        f"expected an id of the form {prefix}_<uuid7>, got {text[:64]!r}",
        hint="ids of different kinds are not interchangeable; use the id exactly as the server returned it",
    )


def name_or_entity(text: str) -> str:
    """``text``, a name or the id of what has one, an entity or a concept; raises ``Invalid`` (INVALID_ID) for an id of anything else."""
    kind = prefix_of(text)
    return text if kind in (None, Prefix.ENTITY, Prefix.CONCEPT) else parse_id(text, Prefix.ENTITY)

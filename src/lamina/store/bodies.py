"""Bodies of derived records in few bytes: JSON text deflated (RFC 1951) against words that every body has.

A conversation makes a version of its episode and of some concepts with every turn, and each says again most of what the one
before it said. Deflated, a concept takes a third of its room, an episode a quarter; SQLite also gives each row longer than
some 1,000 bytes a page of its own, which these rows no longer need.

An older version of an episode or a concept is folded: deflated against the text of the version after it, of which it takes
over nearly all. The newest stands by itself, since it is the one that is asked for.

What statements look into (facts) stays text. Rows of earlier releases are text, too, and are read as they are.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Final

from lamina.kernel.records import Layer

__all__ = ["folded", "is_folded", "packed", "texts_of", "unpacked"]

VersionKey = tuple[str, str, int]
"""Tenant, id and number of a version."""

_PACKED: Final = frozenset({Layer.BELIEFS, Layer.EPISODES, Layer.UNDERSTANDING})
_RAW: Final = -14
"""Without a header or a checksum, over a window of 16 kB: the words and a body of some hundred inputs."""
_LEVEL: Final = 6
_MEMORY: Final = 7
"""Smaller than zlib's own: with its large tables to clear, packing takes three times as long."""

_FIRST: Final = (
    '"demoted_by":"","from_offset":,"handed_over":true,"by_assistant":true,"said_by":["user:","offsets":[null,60],'
    '"support_lost":,"derived_from":["concept_","canonical_id":"concept_","worded":["evt_","resting":true,'
    '"consumes","part_of","causes","depends_on","contradicts","describes","prefers","uses","owns","works_at","lives_in",'
    '"likes","knows","goal","preference","decision"," and "," of the "," with "," in "," to "," is "," was "," has "," at ",'
    '{"subject":["user","person"],"object":["literal","","string",null,null,null],"negated":false,"external":false,'
    '{"subject":["","entity"],"object":["entity",null,null,null,"ent_00000000-0000-7000-8000-","","negated":true,'
    '"external":true,"alpha":1.,"beta":1.,"lower":0.,"upper":0.,"revision_count":0,"contradicts":["belief_","belief_"],'
    '"contradicts":[],"evidence":[["fact_0",0.83,"supports"],["fact_0",0.78,"against"]],"revised_at":[17,17],'
    '"trust":"untrusted"}"trust":"observed"}'
    '{"name":"\\"… …\\" (202-0-1)","summary":". ","started_at":1700000000000,"ended_at":1700000000000,"size":1,"sealed":true,'
    '"actors":["user:","user:"],"centrality":0.,"follows":"ep_0","resting":true,"trust":"delegated"}'
    '"size":2,"sealed":false,"actors":["agent:","user:"],"centrality":0.0,"follows":null}'
    '{"name":"","summary":". ","synthesizer":"lamina-extractive/2","consulted":1,"available":1,"edges":['
    '["concept_00000000-0000-7000-","part_of",0.5],["concept_00000000-0000-7000-8","related_to",0.3333],'
    '["concept_00000000-0000-7000-9","related_to",0.6667],["concept_00000000-0000-7000-a","related_to",1.0],'
    '["concept_00000000-0000-7000-b","related_to",0.25]],"edges":[],"inputs":["ep_0","fact_0","belief_0"],"unread":["facts",'
    '"beliefs","episodes"],"unread":["episodes"],"unread":[],"trust":"delegated"}'
)
"""What bodies have in common, as ``rows`` writes them. It never changes: what was packed with it could not be read any more.
Another one gets another number."""
_WORDS: Final = {1: _FIRST.encode()}
_NEWEST: Final = 1
_FOLDED: Final = 0x80
"""Instead of the number of words: they are the text of the version after it."""
_FOLDED_RAW: Final = -15  # 32 kB of that text, and no more


def packed(layer: Layer, body: str) -> str | bytes:
    """The body of a version of a layer as it is stored: a byte that says which words, and what was deflated; or the text."""
    if layer not in _PACKED:
        return body
    deflating = zlib.compressobj(
        _LEVEL, zlib.DEFLATED, _RAW, _MEMORY, zlib.Z_DEFAULT_STRATEGY, _WORDS[_NEWEST]
    )
    return bytes((_NEWEST,)) + deflating.compress(body.encode()) + deflating.flush()


def unpacked(body: str | bytes) -> str:
    """The text of a body as it is stored, which is not folded."""
    if isinstance(body, str):
        return body
    return _inflated(body, _RAW, _WORDS[body[0]])


def folded(older: str, newer: str) -> bytes:
    """The text of a version as what differs from that of the version after it."""
    words = newer.encode()
    deflating = zlib.compressobj(_LEVEL, zlib.DEFLATED, _FOLDED_RAW, _MEMORY, zlib.Z_DEFAULT_STRATEGY, words)
    return bytes((_FOLDED,)) + deflating.compress(older.encode()) + deflating.flush()


def is_folded(body: str | bytes) -> bool:
    """Whether a body as it is stored is read by the text of the version after it alone."""
    return isinstance(body, bytes) and body[0] == _FOLDED


def texts_of(bodies: Mapping[VersionKey, str | bytes]) -> dict[VersionKey, str]:
    """The texts of versions as they are stored; with a folded one there are those after it, up to one that is not."""
    found: dict[VersionKey, str] = {}
    for place in sorted(bodies, reverse=True):
        body = bodies[place]
        if isinstance(body, bytes) and is_folded(body):
            newer = found[*place[:2], place[2] + 1]
            found[place] = _inflated(body, _FOLDED_RAW, newer.encode())
        else:
            found[place] = unpacked(body)
    return found


def _inflated(body: bytes, window: int, words: bytes) -> str:
    inflating = zlib.decompressobj(window, words)
    return (inflating.decompress(memoryview(body)[1:]) + inflating.flush()).decode()

"""Short restatements of preferences and other lasting claims, indexed beside the turn they came from.

"Ramen, always!" in answer to a question is found by nobody who searches for "Alice favourite food"; the key is. The
templates are fixed and say no more than the triple does. Hedged claims get none.
"""

from __future__ import annotations

from lamina.pipeline.extract.restating import object_text, restate
from lamina.pipeline.extract.values import Kind, Triple

_KINDS: frozenset[Kind] = frozenset(
    ("identity", "role", "place", "possession", "relation", "preference", "quantity", "state_change")
)
KEYS_MAX = 24


def keys_of(triples: tuple[Triple, ...]) -> tuple[str, ...]:
    """The keys of `triples`, without repetition, at most `KEYS_MAX`."""
    found = [
        key for triple in triples if triple.kind in _KINDS and not triple.hedged for key in _keys(triple)
    ]
    return tuple(dict.fromkeys(found))[:KEYS_MAX]


def _keys(triple: Triple) -> list[str]:
    keys = [restate(triple)]
    if triple.kind == "preference" and not triple.negated:
        word = "dislike" if triple.predicate in ("dislikes", "avoids") else "preference"
        topic = triple.predicate.removeprefix("favourite_").replace("_", " ") + " "
        topic = topic if triple.predicate.startswith("favourite_") else ""
        keys.append(f"user mentioned {word} {topic}{object_text(triple)}")
    return keys

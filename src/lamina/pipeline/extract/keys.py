"""Short restatements of preferences and other lasting claims, indexed beside the turn they came from.

"Ramen, always!" in answer to a question is found by nobody who searches for "Alice favourite food"; the key is. The
templates are fixed and say no more than the triple does. Hedged claims get none.
"""

from __future__ import annotations

from lamina.language.entities import possessive
from lamina.pipeline.extract.values import EntityRef, Kind, Triple
from lamina.pipeline.extract.vocabulary import describe

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


def restate(triple: Triple) -> str:
    """The claim as one English sentence: "Alice prefers tea to coffee"."""
    subject, value = _subject(triple), object_text(triple)
    phrase = describe(triple.predicate, past=False).phrase or triple.predicate.replace("_", " ")
    joint = "" if phrase.startswith("'s") else " "
    owner = possessive(subject) if not joint else subject
    text = (
        f"{owner}{phrase.removeprefix(chr(39) + 's')}{'' if not value else ' '}{value}"
        if not joint
        else f"{owner} {phrase} {value}"
    )
    over = next((text for role, text in triple.qualifiers if role == "over"), None)
    if over:
        text = f"{text} to {over}"
    return f"not true that {text}" if triple.negated else text


def _keys(triple: Triple) -> list[str]:
    keys = [restate(triple)]
    if triple.kind == "preference" and not triple.negated:
        word = "dislike" if triple.predicate in ("dislikes", "avoids") else "preference"
        topic = triple.predicate.removeprefix("favourite_").replace("_", " ") + " "
        topic = topic if triple.predicate.startswith("favourite_") else ""
        keys.append(f"user mentioned {word} {topic}{object_text(triple)}")
    return keys


def _subject(triple: Triple) -> str:
    # An opaque id ("user:7f3a") says nothing to a searcher.
    return (
        "user"
        if triple.subject.actor is not None and triple.subject.name == triple.subject.actor
        else triple.subject.name
    )


def object_text(triple: Triple) -> str:
    """The object as words, with its unit."""
    if isinstance(triple.object, EntityRef):
        return triple.object.name
    value = triple.object
    return f"{value.value} {value.unit}" if value.unit else str(value.value)

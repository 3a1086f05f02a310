"""What a write tidies: blanks around texts, empty texts, repetitions. Each change has a name that the answer lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lamina.continuity.capsule.fields import ENTRIES, STRING_LISTS, Entries
from lamina.continuity.capsule.shape import CapsuleObject, copied

__all__ = ["Normalised", "normalised", "with_tidy_descriptor"]


@dataclass(frozen=True, slots=True)
class Normalised:
    """A tidy capsule, and the names of what was done, in order."""

    capsule: CapsuleObject
    applied: tuple[str, ...]


def normalised(capsule: CapsuleObject) -> Normalised:
    """A tidy copy. Of repeated texts the first stands, of repeated entries the last, in the first one's place."""
    applied: list[str] = []
    kept = copied(capsule)
    state = kept["continuity"]
    for name in STRING_LISTS:
        if name in state:
            state[name] = _texts(f"continuity.{name}", state[name], applied)
    kept["canonical_sources"] = _texts("canonical_sources", kept.get("canonical_sources", []), applied)
    for kind in ENTRIES:
        holder = kind.holder(kept)
        if kind.name in holder:
            holder[kind.name] = _entries(kind, holder[kind.name], applied)
    return Normalised(with_tidy_descriptor(kept), tuple(applied))


def with_tidy_descriptor(capsule: CapsuleObject) -> CapsuleObject:
    """The capsule with its descriptor's keywords and anchors in their one form: silent, they are labels."""
    descriptor = capsule.get("thread_descriptor")
    if descriptor is None:
        return capsule
    words = [word.strip().lower() for word in descriptor.get("keywords", [])]
    tidy = descriptor | {
        "keywords": list(dict.fromkeys(word for word in words if word)),
        "scope_anchors": list(descriptor.get("scope_anchors", [])),
        "identity_anchors": [
            {"kind": anchor["kind"].strip().lower(), "value": anchor["value"].strip()}
            for anchor in descriptor.get("identity_anchors", [])
        ],
    }
    return capsule | {"thread_descriptor": tidy}


def _texts(path: str, texts: list[str], applied: list[str]) -> list[str]:
    for name, step in (("strip", _stripped), ("drop_empty", _without_empty), ("dedup", _without_repeated)):
        changed = step(texts)
        if changed != texts:
            applied.append(f"{name}:{path}")
        texts = changed
    return texts


def _stripped(texts: list[str]) -> list[str]:
    return [text.strip() for text in texts]


def _without_empty(texts: list[str]) -> list[str]:
    return [text for text in texts if text]


def _without_repeated(texts: list[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def _entries(kind: Entries, entries: list[dict[str, Any]], applied: list[str]) -> list[dict[str, Any]]:
    tidy = [entry | {part: entry[part].strip() for part in kind.stripped} for entry in entries]
    if tidy != entries:
        applied.append(f"strip:{kind.named}")
    last = {entry[kind.identity]: entry for entry in tidy}
    if len(last) < len(tidy):
        applied.append(f"dedup:{kind.name}")
    return list(last.values())

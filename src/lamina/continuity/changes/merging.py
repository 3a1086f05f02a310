"""What of a stored capsule stays when a request leaves it out (``merge_mode: preserve``), and the snapshot's overlay."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Final

from lamina.continuity.capsule.fields import REQUIRED_LISTS, lists_of, optional_fields_of
from lamina.continuity.capsule.shape import CapsuleObject

__all__ = ["merged", "overlaid"]

_NEVER_KEPT: Final = frozenset(
    ["schema_version", "verification_kind", "verification_state", "capsule_health"]
)
"""What may be left out and is not taken from the stored capsule: it told of the words that stood there."""

_STATE: Final = optional_fields_of("continuity")
_TOP: Final = tuple(name for name in optional_fields_of() if name not in _NEVER_KEPT)
_LABELS: Final = lists_of("thread_descriptor")


def overlaid(capsule: CapsuleObject, snapshot: Mapping[str, Any]) -> CapsuleObject:
    """The capsule with the fields of a session-end snapshot; those that are None stay the capsule's."""
    said = {name: deepcopy(value) for name, value in snapshot.items() if value is not None}
    return capsule | {"continuity": capsule["continuity"] | said}


def merged(
    capsule: CapsuleObject, given: Mapping[str, Any], stored: CapsuleObject, touched: frozenset[str]
) -> CapsuleObject:
    """The capsule with what the caller left out taken from the stored one.

    ``given`` has exactly the keys that the caller sent: a key that is there with null clears. A required list sent
    as ``[]`` counts as left out. Fields of ``touched`` were said by a snapshot.
    """
    kept = capsule | {"continuity": dict(capsule["continuity"])}
    state, before, sent = kept["continuity"], stored["continuity"], given["continuity"]
    left_out = [name for name in REQUIRED_LISTS if not state[name]] + [
        name for name in _STATE if name not in sent
    ]
    for name in left_out:
        if name in before and name not in touched:
            state[name] = deepcopy(before[name])
    for name in _TOP:
        if name not in given and name in stored:
            kept[name] = deepcopy(stored[name])
    if "metadata" not in given and kept["source"]["update_reason"] != "interaction_boundary":
        kept["metadata"].pop("interaction_boundary_kind", None)  # it told of the earlier write
    _merge_labels(kept, given.get("thread_descriptor"), stored.get("thread_descriptor"))
    return kept


def _merge_labels(kept: CapsuleObject, sent: Any, before: Any) -> None:
    if sent and before:
        labels = {name: deepcopy(before[name]) for name in _LABELS if name not in sent and name in before}
        kept["thread_descriptor"] = kept["thread_descriptor"] | labels

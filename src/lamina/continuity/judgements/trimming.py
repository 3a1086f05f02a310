"""A capsule inside a token budget: optional sections go first and whole, core lists last and item by item.

The order is a promise (seed 000, "Under token pressure"); what went is named in ``trimmed_fields``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from lamina.continuity.capsule.fields import REQUIRED_LISTS
from lamina.continuity.capsule.shape import CapsuleObject
from lamina.continuity.judgements.recovery_warnings import SALIENCE_OMITTED, TRUST_COMPACT, TRUST_FAILED
from lamina.continuity.judgements.salience import Salience
from lamina.continuity.judgements.trust import TrustSignals, compact, trust_signals
from lamina.kernel.time import Instant
from lamina.observe.rounds import class_of, frames_of

__all__ = ["LEAST_SALIENT_FIRST", "Fitted", "Trimmed", "fitted", "rendered", "shares", "tokens", "trimmed"]

_LOG = logging.getLogger("lamina.continuity")
_WHOLE: Final = (
    "metadata",
    "canonical_sources",
    "freshness",
    "attention_policy.presence_bias_overrides",
    "continuity.relationship_model.sensitivity_notes",
    "continuity.relationship_model.preferred_style",
    "continuity.retrieval_hints.avoid",
    "continuity.retrieval_hints.load_next",
    "continuity.trailing_notes",
    "continuity.curiosity_queue",
    "continuity.rationale_entries",
    "continuity.negative_decisions",
    "continuity.working_hypotheses",
    "stable_preferences",
)
_RELATIONSHIP: Final = "continuity.relationship_model"
_STANCE: Final = "continuity.stance_summary"
_GRADUAL: Final = (
    "continuity.retrieval_hints.must_include",
    _RELATIONSHIP,
    "continuity.long_horizon_commitments",
    _STANCE,
    "continuity.drift_signals",
    "continuity.open_loops",
    "continuity.active_constraints",
    "continuity.active_concerns",
    "continuity.top_priorities",
)
LEAST_SALIENT_FIRST: Final = (*_WHOLE, *_GRADUAL)
"""The order in which a budget takes sections away."""
_CHARACTERS_PER_TOKEN: Final = 4
_LEAST_TOKENS: Final = 16
"""What must be left for the capsule itself when trust signals are chosen."""


@dataclass(frozen=True, slots=True)
class Trimmed:
    """What is left of a capsule, and the dotted names of what is not whole any more."""

    capsule: CapsuleObject
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fitted:
    """A capsule as a retrieval returns it, with its signals, and the recovery warnings on the way there."""

    capsule: CapsuleObject
    warnings: tuple[str, ...]


def tokens(text: str) -> int:
    """The estimate that budgets are kept by: a token for every four characters begun."""
    return -(-len(text) // _CHARACTERS_PER_TOKEN)


def rendered(value: Any) -> str:  # Any: a JSON value
    """A value as lines ``key: value`` and ``- item``: what its tokens are counted of."""
    return "\n".join(_lines(value))


def shares(reserve: int, count: int) -> list[int]:
    """A budget in equal parts; the first ones take what does not divide."""
    part, rest = divmod(reserve, count)
    return [part + (1 if place < rest else 0) for place in range(count)]


def trimmed(
    capsule: CapsuleObject, budget: int, around: Callable[[Sequence[str]], dict[str, Any]] | None = None
) -> Trimmed | None:
    """The capsule inside a budget of tokens; None when nothing useful fits.

    ``around`` is what is shown with a capsule of which fields were trimmed: it counts too, with what joins it.
    """
    shown = around or _nothing
    kept, gone = deepcopy(capsule), list[str]()
    list_budget = max(1, (budget - tokens(rendered(shown(gone)))) // 4)

    def fits() -> bool:
        return tokens(rendered(kept | shown(gone))) <= budget

    for path in _WHOLE:
        if fits():
            break
        if _drop(kept, path):
            gone.append(path)
    for path in _GRADUAL:
        if fits():
            break
        if _shrink(kept, path, list_budget):
            gone.append(path)
    if not fits() or not _says_something(kept):
        return None
    return Trimmed(kept, tuple(gone))


def _nothing(gone: Sequence[str]) -> dict[str, Any]:  # noqa: ARG001 - the shape of ``around``
    return {}


def fitted(
    capsule: CapsuleObject, share: int, now: Instant, source_state: str, ranked: Salience, rank: int
) -> Fitted | None:
    """A capsule inside its share with trust signals and salience; the salience goes before the capsule does."""
    found = _fitted(capsule, share, now, source_state, {"salience": ranked.block(rank)})
    if found is not None:
        return found
    found = _fitted(capsule, share, now, source_state, {})
    return found and Fitted(found.capsule, (*found.warnings, SALIENCE_OMITTED))


def _fitted(
    capsule: CapsuleObject, share: int, now: Instant, source_state: str, more: dict[str, Any]
) -> Fitted | None:
    """The capsule with the fullest signals that leave room for it; the capsule itself counts more than they do."""
    for signals, warnings in _signals(capsule, now, source_state):

        def around(gone: Sequence[str], signals: TrustSignals | None = signals) -> dict[str, Any]:
            return {"source_state": source_state, "trust_signals": _of_trimmed(signals, gone)} | more

        if signals is not None and tokens(rendered(around(()))) + _LEAST_TOKENS > share:
            continue
        kept = trimmed(capsule, share, around)
        if kept is not None:
            return Fitted(kept.capsule | around(kept.fields), warnings)
    return None


def _signals(
    capsule: CapsuleObject, now: Instant, source_state: str
) -> list[tuple[TrustSignals | None, tuple[str, ...]]]:
    """Trust signals from the fullest to none, each with the warnings that go with it."""
    try:
        full = trust_signals(capsule, now, source_state)
    except (KeyError, TypeError, ValueError) as error:
        _LOG.error("trust signals failed: %s\n%s", class_of(error), frames_of(error))
        return [(None, (TRUST_FAILED,))]
    return [(full, ()), (compact(full), (TRUST_COMPACT,)), (None, ())]


def _of_trimmed(signals: TrustSignals | None, gone: Sequence[str]) -> TrustSignals | None:
    """The signals of a capsule of which fields were trimmed."""
    if signals is None:
        return None
    said = signals["completeness"] | {"trimmed": bool(gone)}
    if "trimmed_fields" in said:
        said["trimmed_fields"] = list(gone)
    return signals | {"completeness": said}


def _holder(capsule: CapsuleObject, path: str) -> tuple[Any, str]:
    *parents, name = path.split(".")
    holder: Any = capsule
    for parent in parents:
        holder = holder.get(parent) if isinstance(holder, dict) else None
    return holder, name


def _drop(capsule: CapsuleObject, path: str) -> bool:
    holder, name = _holder(capsule, path)
    if not isinstance(holder, dict) or name not in holder:
        return False
    del holder[name]
    return True


def _shrink(capsule: CapsuleObject, path: str, tokens_max: int) -> bool:
    holder, name = _holder(capsule, path)
    if not isinstance(holder, dict) or not holder.get(name):
        return False
    value = holder[name]
    if path == _RELATIONSHIP:
        del value["trust_level" if "trust_level" in value else min(value)]
        return True
    if path == _STANCE:
        holder[name] = _cut(value, tokens_max * _CHARACTERS_PER_TOKEN)
        return bool(holder[name] != value)
    before = len(value)
    while value and tokens(rendered(value)) > tokens_max:
        value.pop()
    return len(value) < before


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else f"{text[: max(0, characters - 3)]}..."


def _says_something(capsule: CapsuleObject) -> bool:
    state = capsule["continuity"]
    return any(state.get(name) for name in (*REQUIRED_LISTS, "stance_summary"))


def _lines(value: Any, key: str | None = None) -> list[str]:
    if isinstance(value, dict):
        head = [] if key is None else [f"{key}:"]
        return head + [line for name, item in value.items() for line in _lines(item, name)]
    if isinstance(value, list):
        head = [] if key is None else [f"{key}:"]
        return head + [
            f"- {line}"
            for item in value
            for line in (_lines(item) if isinstance(item, dict) else [_word(item)])
        ]
    return [_word(value) if key is None else f"{key}: {_word(value)}"]


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)

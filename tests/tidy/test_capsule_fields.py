"""A field that is added to a capsule is named wherever a module keeps its own order or choice, or is declared absent there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest
from house import MODULES, report

from lamina.continuity.capsule.fields import ENTRIES, fields_of

_FIXED = "the contract fixes what stands there"
_LINKS = "names documents, which the list of links shows"
_HOW = "says how to treat somebody or what to load: nothing that a person looks for"
_HINTS = {"related_documents": _LINKS, "relationship_model": _HOW, "retrieval_hints": _HOW}

STATE = fields_of("continuity")
ABSENT: Mapping[str, Mapping[str, str]] = {
    "continuity/capsule/titles.py": _HINTS | {"stance_summary": "is one text, with a word of its own"},
    "continuity/judgements/trimming.py": {
        "session_trajectory": "stays until the capsule is left out, as the contract has it",
        "related_documents": "stays, as the contract has it",
    },
    "continuity/shelf/cold.py": dict.fromkeys(
        ("working_hypotheses", "long_horizon_commitments", *_HINTS), _FIXED
    ),
    "continuity/judgements/startup.py": dict.fromkeys(
        (
            "drift_signals",
            "working_hypotheses",
            "long_horizon_commitments",
            "trailing_notes",
            "curiosity_queue",
            *_HINTS,
        ),
        _FIXED,
    ),
}
"""Which fields of the state a module leaves out, and why. All others must stand in it."""


def _unnamed(texts: Iterable[str], fields: Iterable[str]) -> set[str]:
    named = {part for text in texts for part in text.split(".")}
    return set(fields) - named


def _strings(name: str) -> set[str]:
    (module,) = [module for module in MODULES if module.name == name]
    return module.strings()


@pytest.mark.parametrize("module", sorted(ABSENT))
def test_every_field_of_the_state_is_named_or_declared_absent(module: str) -> None:
    unnamed = _unnamed(_strings(module), STATE)
    wrong = sorted(unnamed ^ ABSENT[module].keys())
    assert not wrong, report(
        f"Name these fields in {module}, or declare them absent here with a reason:", wrong
    )


@pytest.mark.parametrize("module", sorted(ABSENT))
def test_a_field_that_is_new_would_be_asked_for(module: str) -> None:
    assert "waiting_on" in _unnamed(_strings(module), [*STATE, "waiting_on"]) - ABSENT[module].keys()


def test_entries_are_said_in_words() -> None:
    unsaid = _unnamed(_strings("continuity/capsule/wording.py"), [kind.name for kind in ENTRIES])
    assert not unsaid, report("Say these entries in capsule/wording.py:", sorted(unsaid))

"""The page of the Python client names what the client has, and its examples run."""

from __future__ import annotations

import re
from pathlib import Path

from lamina import Client
from lamina.client import definitions, erasing, layers, options
from lamina.types.recall import Pack, RankedBelief, RankedConcept, RankedEpisode, RankedEvent, RankedFact

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "reference" / "sdk.md").read_text(encoding="utf-8")


def _public(kind: type) -> set[str]:
    return {name for name in vars(kind) if not name.startswith("_")}


def test_every_method_of_the_client_is_on_the_page():
    missing = {
        name for name in _public(Client) - {"close"} if f"`{name}(" not in PAGE and f".{name}(" not in PAGE
    }
    assert not missing


def test_every_method_of_a_layer_is_in_its_row():
    for name in ("events", "episodes", "facts", "beliefs", "understanding", "entities"):
        (row,) = re.findall(rf"^\| `client\.{name}` \| (.+) \|$", PAGE, re.MULTILINE)
        assert set(re.findall(r"`(\w+)", row)) == _public(getattr(layers, name.capitalize()))


def test_every_method_of_what_a_tenant_defines_is_in_its_row():
    for name in ("vocabularies", "phrases"):
        (row,) = re.findall(rf"^\| `client\.{name}` \| (.+) \|$", PAGE, re.MULTILINE)
        assert set(re.findall(r"`(\w+)", row)) == _public(getattr(definitions, name.capitalize()))


def test_every_method_of_erasures_is_in_its_row():
    (row,) = re.findall(r"^\| `client\.erasures` \| (.+) \|$", PAGE, re.MULTILINE)
    assert set(re.findall(r"`(\w+)", row)) == _public(erasing.ErasureCalls)


def test_every_keyword_of_writing_and_recalling_is_on_the_page():
    keywords = options.ExperienceOptions.__annotations__ | options.RecallOptions.__annotations__
    assert {name for name in keywords if f"`{name}`" not in PAGE} == set()


def test_examples_are_python():
    for page in (
        DOCS / "reference" / "sdk.md",
        DOCS / "tutorial" / "first-memory.md",
        DOCS / "how-to" / "sign-in.md",
        DOCS / "explanation" / "time.md",
    ):
        blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
        assert blocks
        for block in blocks:
            compile(block, str(page), "exec")


def test_the_fields_that_the_page_shows_are_those_of_the_results():
    kinds = {
        "a pack": Pack,
        "an event": RankedEvent,
        "a fact": RankedFact,
        "a belief": RankedBelief,
        "an episode": RankedEpisode,
        "a concept": RankedConcept,
    }
    for name, kind in kinds.items():
        (row,) = re.findall(rf"^\| {name} \| (.+) \|$", PAGE, re.MULTILINE)
        for path in re.findall(r"`([\w.]+)[`\[]", row):
            found = kind
            for part in path.split("."):
                assert part in found.model_fields, f"{name} has no {path}"
                found = found.model_fields[part].annotation
        assert kind is Pack or "score" in kind.model_fields

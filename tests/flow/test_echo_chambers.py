"""Who says a thing often is no more believed than who says it once: corroboration counts independent voices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest

from attacks import echoes
from given import TENANT, append
from lamina.kernel.events import Context, Origin, Party, Trust
from lamina.kernel.records import Belief, Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Axes
from lamina.language.temporal import find_times
from lamina.pipeline.evidence import EVIDENCE_STRENGTH
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.store.ports.records import RecordQuery
from told import DAY, START, Memory

MakeMemory = Callable[..., Memory]
PARSING = RulesExtractor(find_times)
ROLES = {"person": "user", "tool": "tool", "agent": "assistant"}


def tell(memory: Memory, number: int, scope: Scope, turn: dict[str, str]) -> None:
    memory.clock.at += 1_000_000
    content: dict[str, Any] = {"kind": "text", "text": turn["text"]}
    if turn["come"] in ROLES:
        content = {"kind": "message", "role": ROLES[turn["come"]], "text": turn["text"]}
    trust = Trust.PRINCIPAL if turn["principal"] == turn["actor"] else Trust.DELEGATED
    if turn["come"] in ("document", "tool"):
        trust = Trust.EXTERNAL
    append(
        memory.store, turn["text"], content=content, scope=scope, context=Context(observed_at=START + number * DAY),
        caller=turn["principal"], observed_actor=Party.of(turn["actor"]), origin=Origin(turn["principal"], "http", trust),
        modality="document" if turn["come"] == "document" else "conversation",
    )  # fmt: skip


def believed(make_memory: MakeMemory, row: dict[str, Any], turns: Sequence[dict[str, str]]) -> Belief | None:
    memory, scope = make_memory(PARSING), Scope(row["scope"])
    for number, turn in enumerate(turns):
        tell(memory, number, scope, turn)
    memory.derive()
    query = RecordQuery(
        tenant_id=TENANT, layer=Layer.BELIEFS, scopes=[scope], axes=Axes(seen_at=1 << 60), limit=50
    )
    found = [each for each in memory.store.records.query(query) if isinstance(each, Belief)]
    about = [each for each in found if each.subject.name == row["subject"]]
    assert len(about) < 2, [(each.predicate, each.object.text) for each in about]
    return about[0] if about else None


@pytest.mark.model
@pytest.mark.parametrize("row", echoes(), ids=lambda row: row["name"])
def test_a_claim_is_as_sure_as_the_independent_voices_that_say_it(
    make_memory: MakeMemory, row: dict[str, Any]
) -> None:
    belief = believed(make_memory, row, row["turns"])
    surest = [believed(make_memory, row, [turn]) for turn in row["turns"]]
    alphas = sorted((each.alpha for each in surest if each is not None), reverse=True)
    assert belief is not None and alphas, "somebody is believed"  # noqa: PT018 - one thought
    assert belief.alpha + belief.beta == pytest.approx(2.0 + row["voices"] * EVIDENCE_STRENGTH)
    own_words = [each for each in surest if each is not None and not each.external]
    if own_words and row["voices"] == 1:
        assert belief.alpha <= max(each.alpha for each in own_words), "hearsay adds nothing to a word"


def test_authority_never_rises_along_the_support_graph(make_memory: MakeMemory) -> None:
    """What nobody says as their own word stays hearsay in what is believed, however many documents there are."""
    located_in = partial(dict, kind="triple", predicate="located_in")
    memory = make_memory()
    for number in range(6):
        memory.tell(
            located_in(subject="Vantage", object="Lisbon"),
            START + number * DAY,
            Party.of(f"user:m{number}"),
            trust=Trust.EXTERNAL,
        )
    memory.tell(located_in(subject="Orbit", object="Porto"), START, Party.of("user:ana"))
    memory.derive()
    beliefs: list[Belief] = memory.held(Layer.BELIEFS)
    supports = memory.store.records.supports_of(TENANT, [each.id for each in beliefs])
    for belief in beliefs:
        facts = memory.store.records.get(TENANT, {each.source_id for each in supports[belief.id]})
        behind = [facts[each.source_id] for each in belief.evidence if each.polarity == "supports"]
        assert belief.external == all(fact.external for fact in behind)
    assert {each.object.text: each.external for each in beliefs} == {"Lisbon": True, "Porto": False}

"""Histories of statements about one matter, drawn by chance, and a reader that gives them without any words."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from lamina.kernel.events import Party
from lamina.kernel.time import SECOND_US
from lamina.language.temporal import find_times
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.values import EntityRef, Extraction, Kind, LiteralValue, Span, Triple, Utterance
from told import DAY, START

STATEMENTS_MAX = 6
DAYS = 40
_PASSING: tuple[Kind, ...] = ("event", "plan")

ANA = EntityRef("Ana", "ana", "person")
SHOP = EntityRef("Shop", "shop", "thing")
ANAS, BOBS = Party("user:ana", "user", "Ana"), Party("user:bob", "user", "Bob")


@dataclass(frozen=True)
class Said:
    """A statement: what it claims, who says it on which day, and for when."""

    subject: EntityRef
    predicate: str
    value: str | int
    single: bool
    negated: bool
    confidence: float
    speaker: Party
    is_read: bool
    at: int
    since: int | None
    until: int | None = None
    kind: Kind = "attribute"


class Reader(RulesExtractor):
    """Reads statements by their number: words are not what is tried here."""

    def __init__(self, said: Sequence[Said]) -> None:
        super().__init__(find_times, use_parser=False)
        self._said = said

    def extract(self, utterances: Sequence[Utterance]) -> Iterator[Extraction]:
        for utterance in utterances:
            yield Extraction(triples=(_triple(self._said[int(utterance.text)]),))


def _triple(said: Said) -> Triple:
    value = said.value
    return Triple(
        subject=said.subject,
        predicate=said.predicate,
        object=EntityRef(value, value.casefold(), "place")
        if isinstance(value, str)
        else LiteralValue("integer", value),
        kind=said.kind,
        confidence=said.confidence,
        evidence=Span(0, 0),
        valid_from=None if said.since is None else _day(said.since),
        valid_to=None if said.until is None else _day(said.until),
        negated=said.negated,
        single_valued=said.single,
    )


def _day(number: int) -> datetime:
    return datetime.fromtimestamp((START + number * DAY) // SECOND_US, UTC)


def history(chance: random.Random) -> list[Said]:
    matter = chance.choice(["lives_in", "seats", "uses"])
    single = matter != "uses"
    is_of_ana = matter != "seats" and chance.random() < 0.5
    found = []
    for at in chance.sample(range(DAYS), chance.randint(2, STATEMENTS_MAX)):
        value: str | int = (
            chance.choice([100, 200, 300]) if matter == "seats" else chance.choice(["Oslo", "Turku", "Graz"])
        )
        since = chance.choice([None, None, None, at - chance.randint(1, 12)])
        is_read = chance.random() < 0.15
        found.append(
            Said(
                ANA if is_of_ana else SHOP,
                matter,
                value if single else "Jenkins",
                single,
                chance.random() < (0.15 if single else 0.5),
                chance.choice([0.95, 0.95, 0.6, 0.4]),
                ANAS if is_of_ana else chance.choice([ANAS, BOBS]),
                is_read,
                at,
                since,
            )
        )
    return found


def with_ends(said: Sequence[Said], chance: random.Random) -> list[Said]:
    """The statements, some of which tell an end: most of these, without a beginning, say that a value was over."""
    return [
        replace(each, until=(each.at if each.since is None else each.since) + chance.randint(-3, 8))
        if not each.negated and chance.random() < 0.2
        else each
        for each in said
    ]


def of_ana(said: Sequence[Said], chance: random.Random) -> list[Said]:
    """The statements, all of them about Ana, who says most of them herself."""
    return [
        replace(
            each,
            subject=ANA,
            predicate="lives_in" if each.predicate == "seats" else each.predicate,
            value=each.value if isinstance(each.value, str) else "Oslo",
            speaker=chance.choice([ANAS, ANAS, BOBS]),
        )
        for each in said
    ]


def passing(chance: random.Random) -> list[Said]:
    """Words of one thing that happened or was planned, and that it did not or is not, each with or without a day or a month."""
    kind = chance.choice(_PASSING)
    is_of_ana, is_of_many = chance.random() < 0.5, chance.random() < 0.5
    found = []
    for at in chance.sample(range(DAYS), chance.randint(2, STATEMENTS_MAX)):
        ahead = [at + chance.randint(1, 9)] if kind == "plan" else []
        since = chance.choice([None, at - chance.randint(1, 9), *ahead])
        until = chance.choice([None, at - chance.randint(0, 9)]) if chance.random() < 0.1 else None
        if since is not None:
            until = chance.choice([None, since + 1, since + 1, since + 30])
        found.append(
            Said(
                ANA if is_of_ana else SHOP,
                "bought",
                "Jenkins",
                False,
                chance.random() < 0.35,
                chance.choice([0.95, 0.95, 0.6]),
                chance.choice([ANAS, BOBS]) if is_of_many else ANAS,
                chance.random() < 0.1,
                at,
                since,
                until,
                kind,
            )
        )
    return found

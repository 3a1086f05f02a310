"""What facts speak for and against claims: a function of the facts and of who said them, not of the order in which they came.

A value that another one follows held for its time: that speaks against nothing. Against a claim speaks what holds at the very
instant for which it was said: a correction ("I moved to Porto yesterday", said after "I live in Lisbon"), a denial that reaches
back, or another side of one time. Hearsay and what others say of a person do not speak against that person's own word.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from lamina.kernel.records import Evidence, Fact
from lamina.kernel.time import FOREVER, Instant
from lamina.pipeline.matters import is_denial, is_shared, value_of
from lamina.pipeline.posterior import Posterior

__all__ = ["Attested", "Conviction", "Testimony", "convictions"]

EVIDENCE_STRENGTH: Final = 3.0
"""How many coin tosses one certain statement is worth against the uniform prior."""

CORRECTION_STRENGTH: Final = 3 * EVIDENCE_STRENGTH
"""What corrects a claim weighs more against it than a statement weighs for it: the later word wins."""


class Testimony(NamedTuple):
    """One voice's word for a fact: how sure it was, from when on it says that the fact holds, and until when it is to be believed.
    ``voice`` is one for all who are not independent of each other; ``is_hearsay`` where it is nobody's own word."""

    source_id: str
    voice: str
    weight: float
    at: Instant
    expires_at: Instant | None
    is_hearsay: bool = False


@dataclass(frozen=True, slots=True)
class Attested:
    """A fact with all that was said of it, at least one statement."""

    fact: Fact
    statements: Sequence[Testimony]


class _Face(NamedTuple):
    """What of a fact tells whether another one is its rival; made once, since each is compared with every other."""

    claim_key: str
    rank: int
    slot: str | None
    shared: bool
    denial: bool
    value: str
    matter: str


_Faces = Mapping[str, _Face]


def _face(fact: Fact) -> _Face:
    slot = fact.slot
    matter = "" if slot is None else slot.partition("|")[2]
    value = "" if slot is None else value_of(fact)
    return _Face(fact.claim_key, _rank(fact), slot, is_shared(fact), is_denial(fact), value, matter)


@dataclass(frozen=True, slots=True)
class Conviction:
    """What is to be believed of one claim for one stretch of time. ``facts`` are those that say so, by when they begin; ``against`` are
    the others' numbers in the list with which this one cannot hold together."""

    facts: Sequence[Fact]
    valid_to: Instant | None
    expires: bool
    posterior: Posterior
    evidence: tuple[Evidence, ...]
    against: Collection[int] = ()

    @property
    def claim_key(self) -> str:
        """The claim that all of its facts make."""
        return self.facts[0].claim_key

    @property
    def valid_from(self) -> Instant:
        """When the first of its facts begins."""
        return self.facts[0].valid_from


@dataclass(slots=True)
class _Side:
    """The facts of one claim that overlap, while it is weighed."""

    parts: list[Attested]
    begins: Instant
    ends: Instant
    said: list[tuple[Fact, Testimony]] = field(default_factory=list)
    corrected_by: list[Attested] = field(default_factory=list)
    beside: list[Attested] = field(default_factory=list)


def convictions(told: Sequence[Attested]) -> list[Conviction]:
    """What the facts of a matter amount to, in the order of claims and of time."""
    placed = sorted(told, key=lambda each: (each.fact.claim_key, *_interval(each.fact), each.fact.id))
    faces = {each.fact.id: _face(each.fact) for each in placed}
    ends = {each.fact.id: _end_among(each.fact, placed, faces) for each in placed}
    sides = _sides(placed, ends)
    for side in sides:
        _weigh(side, placed, ends, faces)
    home = {each.fact.id: number for number, side in enumerate(sides) for each in side.parts}
    opposed: dict[int, set[int]] = {number: set() for number in range(len(sides))}
    for number, side in enumerate(sides):
        for rival in (*side.corrected_by, *side.beside):
            opposed[number].add(home[rival.fact.id])
            opposed[home[rival.fact.id]].add(number)
    return [_conviction(side, sorted(opposed[number])) for number, side in enumerate(sides)]


def _sides(placed: Sequence[Attested], ends: Mapping[str, Instant]) -> list[_Side]:
    sides: list[_Side] = []
    for each in placed:
        last = sides[-1] if sides else None
        fact = each.fact
        if last and last.parts[0].fact.claim_key == fact.claim_key and fact.valid_from < last.ends:
            last.parts.append(each)
            last.ends = max(last.ends, ends[fact.id])
        else:
            sides.append(_Side([each], fact.valid_from, ends[fact.id]))
    return sides


def _weigh(side: _Side, placed: Sequence[Attested], ends: Mapping[str, Instant], faces: _Faces) -> None:
    """Find which of a side's statements count, and what speaks against it."""
    corrected: list[tuple[Fact, Testimony]] = []
    rivals_of: list[Attested] = []
    for part in side.parts:
        fact, face = part.fact, faces[part.fact.id]
        rivals = [each for each in placed if _speaks_against(each.fact, fact, faces)]
        alike = [
            each
            for each in placed
            if each.fact.scope == fact.scope and faces[each.fact.id].claim_key == face.claim_key
        ]
        for said in part.statements:
            if _covers(fact, said.at, ends):
                side.said.append((fact, said))
                continue
            if any(_covers(each.fact, said.at, ends) and _is_of(each, said) for each in alike):
                continue  # it counts where it holds
            over = [each for each in rivals if _covers(each.fact, said.at, ends)]
            if over:
                corrected.append((fact, said))
                rivals_of += over
            else:
                side.said.append((fact, said))
        side.beside += [
            each
            for each in rivals
            if fact.slot is not None
            and each.fact.valid_from < ends[fact.id]
            and fact.valid_from < ends[each.fact.id]
        ]
    if not side.said:
        side.said = corrected
        side.corrected_by = rivals_of


def _conviction(side: _Side, against: Sequence[int]) -> Conviction:
    facts = [part.fact for part in side.parts]
    supports: dict[str, float] = {}
    weights: dict[str, float] = dict.fromkeys((fact.id for fact in facts), 0.0)
    # Hearsay is heard where nobody gave their own word, and adds nothing to one: no belief is surer than those who vouch for it.
    vouched = [each for each in side.said if not each[1].is_hearsay] or side.said
    for fact, said in vouched:
        supports[said.voice] = max(supports.get(said.voice, 0.0), said.weight)
        weights[fact.id] = max(weights[fact.id], said.weight)
    doubts: dict[str, tuple[float, float]] = {}
    contrary: dict[str, float] = {}
    for strength, rivals in ((EVIDENCE_STRENGTH, side.beside), (CORRECTION_STRENGTH, side.corrected_by)):
        for rival in rivals:
            words = [said for said in rival.statements if not said.is_hearsay] or rival.statements
            for said in words:
                doubts[said.voice] = max(doubts.get(said.voice, (0.0, 0.0)), (strength, said.weight))
                contrary[rival.fact.id] = max(contrary.get(rival.fact.id, 0.0), said.weight)
    alpha = 1.0 + sum(EVIDENCE_STRENGTH * supports[voice] for voice in sorted(supports))
    beta = 1.0 + sum(EVIDENCE_STRENGTH * (1.0 - supports[voice]) for voice in sorted(supports))
    for voice in sorted(doubts):
        strength, weight = doubts[voice]
        alpha += strength * (1.0 - weight)
        beta += strength * weight
    expiries = [said.expires_at for _, said in side.said]
    expires_at = max((at for at in expiries if at is not None), default=FOREVER)
    if None in expiries:
        expires_at = FOREVER
    ends_at = min(side.ends, expires_at)
    return Conviction(
        facts,
        None if ends_at == FOREVER else max(ends_at, side.begins + 1),
        expires_at < side.ends,
        Posterior(round(alpha, 6), round(beta, 6)),
        tuple(
            [Evidence(key, weights[key], "supports") for key in sorted(weights) if weights[key] > 0.0]
            + [Evidence(key, contrary[key], "against") for key in sorted(contrary)]
        ),
        against,
    )


def _interval(fact: Fact) -> tuple[Instant, Instant]:
    return fact.valid_from, FOREVER if fact.valid_to is None else fact.valid_to


def _covers(fact: Fact, at: Instant, ends: Mapping[str, Instant]) -> bool:
    return fact.valid_from <= at < ends[fact.id]


def _is_of(attested: Attested, said: Testimony) -> bool:
    return any(each.source_id == said.source_id for each in attested.statements)


def _rank(fact: Fact) -> int:
    """Whose word it is: nobody's, somebody else's, or one's own."""
    if fact.external:
        return 0
    return 1 if fact.said_by is not None else 2


def _speaks_against(rival: Fact, fact: Fact, faces: _Faces) -> bool:
    one, other = faces[rival.id], faces[fact.id]
    return one.rank >= other.rank and _are_rivals(rival, fact, one, other)


def _are_rivals(one: Fact, other: Fact, face: _Face, facing: _Face) -> bool:
    """Whether two facts of a matter cannot hold together."""
    if face.slot is None or facing.slot is None:
        return (
            one.predicate == other.predicate
            and one.object.key == other.object.key
            and one.negated != other.negated
        )
    if face.shared or facing.shared:
        return face.matter == facing.matter and face.value != facing.value
    if face.denial or facing.denial:
        return face.denial != facing.denial and face.value == facing.value
    return face.value != facing.value


def _end_among(fact: Fact, placed: Sequence[Attested], faces: _Faces) -> Instant:
    """When it ends: also where what another scope says of the matter follows it, since no timeline of one scope has that."""
    followed = [
        each.fact.valid_from
        for each in placed
        if each.fact.scope != fact.scope
        and each.fact.valid_from > fact.valid_from
        and _speaks_against(each.fact, fact, faces)
    ]
    return min([*followed, _interval(fact)[1]])

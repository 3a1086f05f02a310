"""Claims of the rules, judged: which rule made how many, how many of a sample are right, and what confidence each family of them has.

    python bench/claims.py count --data DIR            how often each rule fires over the development turns
    python bench/claims.py draw --data DIR             a sample of 300, by seed, with its words: to be judged by bench/results/claims.md
    python bench/claims.py score --data DIR            precision by rule and by half of today's claims, by bench/claims.jsonl
    python bench/claims.py fit --data DIR              confidences by family, as ``pipeline/extract/confidence.py`` has them

DIR holds ``locomo`` and ``longmemeval``, of which the turns of users are read. Facts are taken one by one, and openings of loops. A rule is the
function that made the claim. ``bench/claims.jsonl`` names claims by turn and digest, and none of their words; ``half`` says on
which of them was decided what leaves ("look"), and which were kept for the figures ("keep").
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import math
import os
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one core, before numpy loads

from lamina.language.temporal import find_times
from lamina.pipeline.extract.confidence import FACTS, LOOPS, family_of
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.restating import object_text, restate
from lamina.pipeline.extract.values import Previous, Triple, Utterance
from lamina.pipeline.loops.reading import read_loops
from lamina.pipeline.loops.values import Heard, LoopDraft

SEED, COUNT = 1621, 300
PRIOR = 8
"""How many claims of the mean a family is credited with before its own are counted."""
LABELS = Path(__file__).with_name("claims.jsonl")
_BINS = (0.0, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 1.01)
_BATCH = 64
_PASSED_OVER = {
    "extract/emitter", "extract/values", "extract/extractor", "extract/telling", "loops/said", "loops/values", "loops/reading",
}  # fmt: skip
"""Modules that every claim comes through: the rule is who called them."""


@dataclass(frozen=True, slots=True)
class Told:
    """A development turn with what is needed to read it."""

    source: str
    turn: str
    utterance: Utterance
    before: tuple[Heard, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """``kind`` is "fact" or the type of a loop; ``rule`` is module and function; ``words`` are what it says, ``shown`` as users read it."""

    source: str
    turn: str
    rule: str
    kind: str
    words: str
    confidence: float
    family: str
    shown: str

    @property
    def digest(self) -> str:
        """What names a claim without its words."""
        said = f"{self.source}|{self.turn}|{self.kind}|{self.words}"
        return hashlib.sha256(said.encode()).hexdigest()[:16]

    @property
    def half(self) -> str:
        """Turns are in one half or the other with all their claims."""
        return "keep" if hashlib.sha256(self.turn.encode()).digest()[0] % 2 else "look"


class Makers:
    """Notes by which function each value was made first, by a look at the callers of its constructor."""

    def __init__(self) -> None:
        self.rules: dict[Any, str] = {}
        for made in (Triple, LoopDraft):
            self._watch(made)

    def _watch(self, made: type) -> None:
        plain = made.__init__  # type: ignore[misc]

        def noting(value: Any, *args: Any, **kwargs: Any) -> None:
            plain(value, *args, **kwargs)
            self.rules.setdefault(self.key(value), _caller())

        made.__init__ = noting  # type: ignore[misc]

    @staticmethod
    def key(value: Triple | LoopDraft) -> Any:
        """What of a value stays when it is put right later."""
        if isinstance(value, Triple):
            return (value.subject.key, value.predicate, str(value.object), value.negated)
        return (value.type, value.wording)


def _caller() -> str:
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        module = f"{path.parent.name}/{path.stem}"
        if path.parent.name in ("extract", "loops") and module not in _PASSED_OVER:
            return f"{module}:{frame.f_code.co_name.lstrip('_')}"
        frame = frame.f_back
    return "?"


def told(data: Path) -> Iterator[Told]:
    """Turns of people: LoCoMo's in their sessions, LongMemEval's each by itself, a good part of which people wrote to assistants."""
    turns = [json.loads(line) for line in (data / "locomo" / "turns.jsonl").read_text().splitlines()]
    names = {
        t["conv_id"]: tuple(dict.fromkeys(o["speaker"] for o in turns if o["conv_id"] == t["conv_id"]))
        for t in turns
    }
    for i, turn in enumerate(turns):
        here = (turn["conv_id"], turn["session"])
        before = [t for t in turns[max(0, i - 2) : i] if (t["conv_id"], t["session"]) == here]
        both = names[turn["conv_id"]]
        utterance = Utterance(
            text=turn["text"],
            speaker=_actor(turn["speaker"]),
            observed_at=datetime.fromisoformat(turn["datetime"]).replace(tzinfo=UTC),
            speaker_name=turn["speaker"],
            role="user",
            addressee_name=next((name for name in both if name != turn["speaker"]), None),
            previous=tuple(Previous(_actor(t["speaker"]), t["text"]) for t in before),
            participants=both,
        )
        heard = tuple(Heard(t["text"], t["speaker"] == turn["speaker"]) for t in before)
        yield Told("locomo", f"{turn['conv_id']}/{turn['dia_id']}", utterance, heard)
    for line in (data / "longmemeval" / "turns.jsonl").read_text().splitlines():
        turn = json.loads(line)
        if turn["role"] == "user":
            at = datetime.fromisoformat(turn["date"]).replace(tzinfo=UTC)
            yield Told("longmemeval", turn["id"], Utterance(turn["text"], "user:me", at, role="user"), ())


def _actor(name: str) -> str:
    return f"user:{name.casefold()}"


def claims_of(turns: Sequence[Told], extractor: RulesExtractor, makers: Makers) -> Iterator[Claim]:
    """What today's rules make of turns, in their order."""
    for first in range(0, len(turns), _BATCH):
        part = turns[first : first + _BATCH]
        for each in part:
            makers.rules.clear()
            found = extractor.extract([each.utterance])[0]
            for triple in found.triples:
                rule = makers.rules.get(Makers.key(triple), "?")
                words = f"{triple.subject.name}|{triple.predicate}|{object_text(triple)}|{triple.negated}"
                yield Claim(
                    each.source,
                    each.turn,
                    rule,
                    "fact",
                    words,
                    triple.confidence,
                    f"fact {family_of(triple.predicate, triple.kind)}",
                    _shown(triple),
                )
            makers.rules.clear()
            reading = read_loops(each.utterance.text, each.utterance.observed_at, find_times, each.before)
            for draft in reading.drafts:
                rule = makers.rules.get(Makers.key(draft), "?")
                yield Claim(
                    each.source,
                    each.turn,
                    rule,
                    draft.type.value,
                    draft.wording,
                    draft.confidence,
                    f"loop {draft.type.value}",
                    draft.wording,
                )


def _shown(triple: Triple) -> str:
    times = "".join(
        f" {name} {at:%Y-%m-%d}" for name, at in (("from", triple.valid_from), ("to", triple.valid_to)) if at
    )
    return f"{restate(triple)}{times}"


def draw(claims: Sequence[Claim]) -> list[Claim]:
    """``COUNT`` claims: of each rule's module as many as the root of its share has, by ``SEED``, in the order of the turns."""
    strata = defaultdict(list)
    for claim in claims:
        strata[_stratum(claim)].append(claim)
    weight = COUNT / sum(math.sqrt(len(each)) for each in strata.values())
    chance = random.Random(SEED)
    drawn: list[Claim] = []
    for name in sorted(strata, key=lambda name: (len(strata[name]), name)):
        members = strata[name]
        drawn += chance.sample(members, min(len(members), max(2, round(weight * math.sqrt(len(members))))))
    chance.shuffle(drawn)
    kept = set(drawn[:COUNT])
    return [claim for claim in claims if claim in kept]


def score(claims: Sequence[Claim]) -> None:
    """Print of what is made today and was judged: how much is right, by module and by half, and overall by how often each stratum fires."""
    labels = _labels()
    for half in ("look", "keep"):
        judged: dict[str, list[bool]] = defaultdict(list)
        made = Counter(_stratum(claim) for claim in claims)
        for claim in claims:
            if claim.half == half and claim.digest in labels:
                judged[_stratum(claim)].append(labels[claim.digest])
        print(f"{half}: {sum(map(len, judged.values()))} judged claims are made")
        for name in sorted(judged, key=lambda name: -made[name]):
            print(f"  {name:40} {sum(judged[name]):3} of {len(judged[name]):3} right, made {made[name]}")
        for kind in ("fact", "loop"):
            named = [name for name in judged if name.endswith("/fact") == (kind == "fact")]
            right = sum(made[name] * sum(judged[name]) / len(judged[name]) for name in named)
            plain = [each for name in named for each in judged[name]]
            print(
                f"  {kind}s: {sum(plain)} of {len(plain)} right; {right / max(1, sum(made[n] for n in named)):.0%} as often as each fires"
            )


def fit(claims: Sequence[Claim]) -> None:
    """Print for each family the share that is right of all that was judged, with ``PRIOR`` claims of the mean of its kind before it; and what a
    table of one half says of the other: of each bin how many there are, what they say on the mean, and how many are right."""
    for kind, table in (("fact", FACTS), ("loop", LOOPS)):
        families = [f"{kind} {family}" for family in table]
        judged = [
            (claim, right)
            for claim in claims
            if claim.family in families and (right := _labels().get(claim.digest)) is not None
        ]
        for family, share in _shares(families, judged).items():
            print(f'    "{family.split()[1]}": {share:.2f},')
        for held in ("keep", "look"):
            fitted = _shares(families, [each for each in judged if each[0].half != held])
            print(f"{kind}s of the half {held}, by the table of the other half:")
            _calibration([(fitted[claim.family], right) for claim, right in judged if claim.half == held])


def _calibration(tried: Sequence[tuple[float, bool]]) -> None:
    for low, high in itertools.pairwise(_BINS):
        inside = [each for each in tried if low <= each[0] < high]
        if inside:
            said, right = (sum(each) / len(inside) for each in zip(*inside, strict=True))
            print(f"  {low:.2f} to {high:.2f}: n {len(inside):3}, say {said:.2f}, right {right:.2f}")
    said, right = (sum(each) / len(tried) for each in zip(*tried, strict=True))
    print(f"  all: n {len(tried)}, say {said:.2f}, right {right:.2f}")


def _shares(families: Sequence[str], judged: Sequence[tuple[Claim, bool]]) -> dict[str, float]:
    mean = sum(right for _, right in judged) / len(judged)
    shares = {}
    for family in families:
        own = [right for claim, right in judged if claim.family == family]
        shares[family] = (sum(own) + PRIOR * mean) / (len(own) + PRIOR)
    return shares


@cache
def _labels() -> dict[str, bool]:
    lines = LABELS.read_text(encoding="utf-8").splitlines()
    return {each["claim"]: each["right"] for each in map(json.loads, lines)}


def _stratum(claim: Claim) -> str:
    return claim.rule.split(":")[0] + "/" + claim.kind


def count(claims: Sequence[Claim]) -> None:
    """Print how often each rule fires, and over how many turns."""
    for rule, often in Counter(f"{claim.rule} {claim.kind}" for claim in claims).most_common():
        print(f"{often:6} {rule}")
    print(f"{len(claims)} claims, {sum(claim.kind == 'fact' for claim in claims)} facts")


def main() -> None:
    """Read, then count, draw, score or fit."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["count", "draw", "score", "fit"])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    options = parser.parse_args()
    turns = list(told(options.data))
    claims = list(dict.fromkeys(claims_of(turns, RulesExtractor(find_times), Makers())))
    if options.what == "count":
        count(claims)
    elif options.what == "score":
        score(claims)
    elif options.what == "fit":
        fit(claims)
    else:
        by_turn = {each.turn: each for each in turns}
        print(f"seed {SEED}")
        for number, claim in enumerate(draw(claims)):
            each = by_turn[claim.turn]
            for heard in each.before:
                print(f"    … {heard.text[:300]!r}")
            print(
                f"{number} {claim.digest} {claim.kind} [{each.utterance.speaker_name}] {each.utterance.text[:1500]!r}"
            )
            print(f"   ==> {claim.shown}   ({claim.words})")


if __name__ == "__main__":
    main()

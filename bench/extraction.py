"""Extraction: agreement with CaRB's gold tuples, turns per second on LoCoMo, and a sample to read.

    python bench/extraction.py --data DIR [--sample N] [--seed S]

DIR holds `openie/carb_dev.tsv` and `locomo/turns.jsonl`. The CaRB figure is a guide, not a target: the product wants
claims worth remembering, CaRB wants every proposition of a news sentence. Our matcher is simpler than CaRB's own: a
tuple is the bag of lower-case words of its three parts; precision of a prediction is the share of its words in the
best gold tuple of the sentence, recall of a gold tuple the share of its words covered by the best prediction; both
arguments must share a word, or be empty, for a pair to count. Words are stemmed, since our predicates are lemmas. Words, not tuples, are averaged over all sentences.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one core, before numpy loads

import Stemmer

from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.gate import worth_parsing
from lamina.pipeline.extract.restating import object_text
from lamina.pipeline.extract.values import (
    EntityRef,
    Extraction,
    FindTimes,
    Previous,
    Triple,
    Utterance,
    no_times,
)

Tuple3 = tuple[str, str, str]
_STEMMER = Stemmer.Stemmer("english")
_WORD = re.compile(r"\w+")
_NOON = datetime(2024, 1, 1, 12, tzinfo=UTC)


def load_find_times() -> FindTimes:
    try:
        from lamina.language.temporal import find_times
    except ImportError:
        print("times: none (lamina.language.temporal is missing)")
        return no_times
    return find_times


def words(text: str) -> set[str]:
    return set(_STEMMER.stemWords(_WORD.findall(text.lower())))


def overlap(one: Tuple3, other: Tuple3) -> float:
    """Share of `one`'s words that are in `other`, 0 when a part of both has no word in common."""
    for a, b in ((one[0], other[0]), (one[2], other[2])):
        if words(a) and words(b) and not words(a) & words(b):
            return 0.0
    mine = words(" ".join(one))
    return len(mine & words(" ".join(other))) / len(mine) if mine else 0.0


def score(gold: dict[str, list[Tuple3]], predict: Callable[[list[str]], list[list[Tuple3]]]) -> str:
    sentences = list(gold)
    precisions, recalls = [], []
    for sentence, found in zip(sentences, predict(sentences), strict=True):
        precisions += [max((overlap(p, g) for g in gold[sentence]), default=0.0) for p in found]
        recalls += [max((overlap(g, p) for p in found), default=0.0) for g in gold[sentence]]
    precision = sum(precisions) / max(1, len(precisions))
    recall = sum(recalls) / max(1, len(recalls))
    f1 = 2 * precision * recall / max(1e-9, precision + recall)
    return (
        f"P {precision:.3f}  R {recall:.3f}  F1 {f1:.3f}  ({len(precisions)} tuples for {len(recalls)} gold)"
    )


def as_tuple(triple: Triple) -> Tuple3:
    rest = " ".join(f"{role} {text}" for role, text in triple.qualifiers)
    return triple.subject.name, triple.predicate.replace("_", " "), f"{object_text(triple)} {rest}"


def carb(folder: Path) -> None:
    gold: dict[str, list[Tuple3]] = {}
    with (folder / "carb_dev.tsv").open(newline="") as file:
        for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            gold.setdefault(row[0], []).append((row[2], row[1], " ".join(row[3:])))
    print(f"CaRB dev, {len(gold)} sentences, canonical predicates against surface words")

    def parsed(sentences: list[str]) -> list[list[Tuple3]]:
        batch = [Utterance(s, "document", _NOON, personal=False) for s in sentences]
        return [[as_tuple(t) for t in e.triples] for e in RulesExtractor().extract(batch)]

    print("  parser ", score(gold, parsed))


def utterances(folder: Path) -> list[Utterance]:
    turns = [json.loads(line) for line in (folder / "turns.jsonl").read_text().splitlines()]
    names: dict[str, list[str]] = {}
    for turn in turns:
        here = names.setdefault(turn["conv_id"], [])
        if turn["speaker"] not in here:
            here.append(turn["speaker"])
    made = []
    for i, turn in enumerate(turns):
        both = names[turn["conv_id"]]
        before = [
            t
            for t in turns[max(0, i - 2) : i]
            if (t["conv_id"], t["session"]) == (turn["conv_id"], turn["session"])
        ]
        made.append(
            Utterance(
                text=turn["text"],
                speaker=f"user:{turn['speaker'].lower()}",
                observed_at=datetime.fromisoformat(turn["datetime"]).replace(tzinfo=UTC),
                speaker_name=turn["speaker"],
                addressee_name=next((n for n in both if n != turn["speaker"]), None),
                previous=tuple(Previous(t["speaker"], t["text"]) for t in before),
                participants=tuple(both),
            )
        )
    return made


def speed(batch: list[Utterance], find_times: FindTimes) -> list[Extraction]:
    extractor = RulesExtractor(find_times)
    extractor.extract(batch[:4])  # loads the parser
    start = time.perf_counter()
    found = extractor.extract(batch)
    seconds = time.perf_counter() - start
    start = time.perf_counter()
    plain = RulesExtractor(find_times, use_parser=False).extract(batch)
    plain_seconds = time.perf_counter() - start
    gated = sum(e.gated for e in found) / len(found)
    sentences = [s for u in batch for s in re.split(r"(?<=[.!?])\s+", u.text)]
    start = time.perf_counter()
    passed = sum(map(worth_parsing, sentences)) / len(sentences)
    gate_us = (time.perf_counter() - start) / len(sentences) * 1e6
    print(f"LoCoMo, {len(batch)} turns, one core")
    print(f"  parser  {len(batch) / seconds:.0f} turns/s, {sum(len(e.triples) for e in found)} triples")
    print(f"  plain   {len(batch) / plain_seconds:.0f} turns/s, {sum(len(e.triples) for e in plain)} triples")
    print(
        f"  gate    stops {gated:.0%} of turns and {1 - passed:.0%} of sentences, {gate_us:.0f} us a sentence"
    )
    halves = [e for i in range(0, len(batch), 7) for e in extractor.extract(batch[i : i + 7])]
    print(f"  batches of 7 give the same: {halves == found}")
    return found


def line(triple: Triple) -> str:
    value = (
        f"<{triple.object.name}: {triple.object.type}>"
        if isinstance(triple.object, EntityRef)
        else repr(object_text(triple))
    )
    marks = "".join(f" {m}" for m in ("negated", "hedged", "corrects") if getattr(triple, m))
    valid = f" [{triple.valid_from:%Y-%m-%d}" if triple.valid_from else " ["
    valid += f"..{triple.valid_to:%Y-%m-%d}]" if triple.valid_to else "..]"
    return f"    {triple.subject.name} | {triple.predicate} | {value}  {triple.kind} {triple.confidence}{marks}{valid} {dict(triple.qualifiers) or ''}"


def sample(batch: list[Utterance], found: list[Extraction], count: int, seed: int) -> None:
    with_claims = [i for i, extraction in enumerate(found) if extraction.triples]
    for i in sorted(random.Random(seed).sample(with_claims, min(count, len(with_claims)))):
        print(f"  {batch[i].speaker_name}: {batch[i].text[:300]!r}")
        for triple in found[i].triples:
            print(line(triple))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sample", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    print(f"commit {commit}, {platform.machine()}, Python {sys.version.split()[0]}, seed {arguments.seed}")
    carb(arguments.data / "openie")
    batch = utterances(arguments.data / "locomo")
    found = speed(batch, load_find_times())
    sample(batch, found, arguments.sample, arguments.seed)


if __name__ == "__main__":
    main()

"""Attacks: how much of the suite reaches a context block with and without the quarantine, and how much of ordinary talk it touches.

    python bench/quarantine.py --data DIR

The suite is ``tests/data/attacks``; its half "apart" was labelled before there were any guards. Each text is told to a scope of its own and asked
for once with ``include_quarantined``, which is the block as it was before there was a quarantine, and once without. DIR holds the two
development sets, whose turns are judged as their speakers', a user's or an assistant's. Promise: at most 1 % of them touched.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from datasets import Turn, locomo, longmemeval
from harness import ROOT, Server, serving, temporary_folder
from lamina.kernel.events import Context, Directives, Event, Origin, Party, Trust
from lamina.kernel.scopes import Scope
from lamina.language.quarantine import quarantine_of

sys.path.append(str(ROOT / "tests"))
from attacks import Attack, attacks, envelope  # of the tests

KINDS = ("instructions", "secrets", "plain")


def main() -> None:
    """Tell, wait, ask, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    options = parser.parse_args()
    suite = {kind: attacks(kind) for kind in KINDS}
    with temporary_folder() as folder, serving(folder) as server:
        for attack in (each for found in suite.values() for each in found):
            server.call("POST", "/v1/experience", envelope(attack, _scope(attack)))
        server.wait_derived(600)
        for kind, found in suite.items():
            _print(server, kind, found)
    for name, load in (("locomo", locomo), ("longmemeval", longmemeval)):
        turns = [turn for scope in load(options.data / name) for turn in scope.turns]
        reasons = Counter(reason for turn in turns for reason in quarantine_of(_event(turn)))
        touched = sum(bool(quarantine_of(_event(turn))) for turn in turns)
        print(f"{name}: {touched} of {len(turns)} turns touched, {touched / len(turns):.2%} {dict(reasons)}")


def _print(server: Server, kind: str, found: list[Attack]) -> None:
    for half in ("worked", "apart"):
        own = [attack for attack in found if attack.half == half]
        if kind == "plain":
            listed = (server.call("GET", f"/v1/events?scope={_scope(each)}")["items"] for each in own)
            touched = sum(any(event["quarantined"] for event in events) for events in listed)
            print(f"{kind}, {half}: {touched} of {len(own)} touched")
            continue
        before = sum(_reaches(server, each, include_quarantined=True) for each in own)
        after = sum(_reaches(server, each) for each in own)
        print(f"{kind}, {half}: in the block {before} of {len(own)} before, {after} after")


def _reaches(server: Server, attack: Attack, **more: Any) -> bool:
    asked = {"scope": _scope(attack), "query": attack.ask, "view": "local", **more}
    block = server.call("POST", "/v1/recall", asked)["context_block"]
    return any(" ".join(words.split())[:400] in " ".join(block.split()) for words in attack.must_not)


def _scope(attack: Attack) -> str:
    return f"org:bench/app:{attack.name}"


def _event(turn: Turn) -> Event:
    party = Party("agent:a", "agent") if turn.role == "assistant" else Party("user:u", "user", turn.speaker)
    return Event(
        tenant_id="bench",
        scope=Scope("org:bench"),
        caller=party.id,
        observed_actor=party,
        subject=party,
        session=None,
        modality="conversation",
        content={"kind": "message", "role": turn.role, "text": turn.text},
        context=Context(observed_at=0),
        directives=Directives(),
        origin=Origin(party.id, "http", Trust.PRINCIPAL),
        id="evt_bench",
        position=1,
        recorded_at=1,
    )


if __name__ == "__main__":
    main()

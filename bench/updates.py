"""Updates: pairs said half a year apart; whether the old value stands current and unmarked, and whether the block has the new one.

    python bench/updates.py --data DIR

DIR holds ``meaning/updates.jsonl``: ``first``, ``later``, and ``old`` and ``new`` as patterns over the texts of current facts. Each pair is
told to a memory of its own. The new value is in the block where the pattern or the later sentence is. The block is the default one, of the
first sentence as the question. Promise: no old value current and unmarked, every new one in the block.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from pathlib import Path
from typing import Any

from harness import Server, serving, temporary_folder

FIRST, LATER, ASKED = "2026-01-12T18:00:00Z", "2026-07-12T18:00:00Z", "2026-07-13T18:00:00Z"


def main() -> None:
    """Tell, wait, ask, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    options = parser.parse_args()
    lines = (options.data / "meaning" / "updates.jsonl").read_text(encoding="utf-8").splitlines()
    pairs = [json.loads(line) for line in lines]
    with temporary_folder() as folder, serving(folder) as server:
        for number, pair in enumerate(pairs):
            _tell(server, number, pair)
        server.wait_derived(600)
        time.sleep(1)
        found = [_asked(server, number, pair) for number, pair in enumerate(pairs)]
    for pair, each in zip(pairs, found, strict=True):
        said = [name for name, value in each.items() if value]
        print(f"{pair['first']} | {pair['later']}: {', '.join(said)}")
    figures = {name: sum(each[name] for each in found) for name in found[0]}
    print(f"n = {len(pairs)}; " + ", ".join(f"{name} {count}" for name, count in figures.items()))


def _tell(server: Server, number: int, pair: dict[str, str]) -> None:
    for at, said in ((FIRST, "first"), (LATER, "later")):
        server.call(
            "POST",
            "/v1/experience",
            {
                "scope": f"org:bench/user:ana{number}",
                "modality": "conversation",
                "content": {"kind": "message", "role": "user", "text": pair[said]},
                "observed_actor": {"id": f"user:ana{number}", "name": "Ana"},
                "context": {"observed_at": at},
                "idempotency_key": f"{number}-{said}",
            },
        )


def _asked(server: Server, number: int, pair: dict[str, str]) -> dict[str, bool]:
    scope = f"org:bench/user:ana{number}"
    facts = server.call("GET", f"/v1/facts?scope={scope}&limit=100")["items"]
    held = [fact for fact in facts if not fact["negated"]]
    old = [fact for fact in held if re.search(pair["old"], fact["text"], re.IGNORECASE)]
    pack = server.call("POST", "/v1/recall", {"scope": scope, "query": pair["first"]})
    block = pack["context_block"]
    unmarked = [fact for fact in old if fact["may_have_changed"] is None and not _is_new(fact, pair)]
    return {
        "old ended": not old,
        "old marked": bool(old) and not unmarked,
        "old unmarked": bool(unmarked),
        "new a fact": any(_is_new(fact, pair) for fact in facts),
        "new in the block": pair["later"] in block or bool(re.search(pair["new"], block, re.IGNORECASE)),
    }


def _is_new(fact: dict[str, Any], pair: dict[str, str]) -> bool:
    return bool(re.search(pair["new"], fact["text"], re.IGNORECASE))


if __name__ == "__main__":
    main()

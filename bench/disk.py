"""Bytes on disk that an event of a chat takes, by table and index, derived and embedded.

    python bench/disk.py

Promise: at most 6 kB an event. The turns are short, as those of a chat are, since what is kept beside the words weighs most there.
Nothing is published: a figure of this machine is that of any other.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import apsw

from corpus import Corpus
from harness import SEED, serving, temporary_folder
from load import encode, run_apart

TURNS = 1000
_SCOPE = "org:bench/user:disk"
_SHOWN_FROM = 10  # bytes an event: smaller tables are left out


def main() -> None:
    """Tell, derive, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=TURNS)
    options = parser.parse_args()
    with temporary_folder() as folder:
        characters = _derive(folder, options.turns)
        _print(folder, options.turns, characters)


def _derive(folder: Path, turns: int) -> int:
    """Characters of the turns that were told, each by a call of its own: its audit row and its key are part of what it takes."""
    said = [{"scope": _SCOPE, **each.item(f"turn-{at}")} for at, each in enumerate(Corpus(SEED).turns(turns))]
    with serving(folder) as server:
        run_apart(server.port, [encode("/v1/experience", json.dumps(each).encode()) for each in said], 8)
        server.wait_derived(600)
    return sum(len(each["content"]["text"]) for each in said)


def _print(folder: Path, turns: int, characters: int) -> None:
    database = apsw.Connection(str(folder / "lamina.db"), flags=apsw.SQLITE_OPEN_READONLY)
    kinds = dict(database.execute("SELECT name, tbl_name FROM sqlite_schema WHERE type = 'index'"))
    sizes = {
        name: (size, unused)
        for name, size, unused in database.execute(
            "SELECT name, sum(pgsize), sum(unused) FROM dbstat GROUP BY name ORDER BY sum(pgsize) DESC"
        )
    }
    rows = {name: next(iter(database.execute(f'SELECT count(*) FROM "{name}"')))[0] for name in
            ("event", "lifecycle", "record", "support", "mention", "text_row", "vector_row")}  # fmt: skip
    database.close()
    print(f"{turns} turns of {characters / turns:.0f} characters; rows an event: ", end="")
    print(", ".join(f"{name} {count / turns:.2f}" for name, count in rows.items()))
    print(f"{'bytes an event':34}{'all':>8}{'unused':>8}")
    for name, (size, unused) in sizes.items():
        if size / turns >= _SHOWN_FROM:
            of = f"{name} ({kinds[name]})" if name in kinds else name
            print(f"{of:34}{size / turns:8.0f}{unused / turns:8.0f}")
    whole = sum(size for size, _ in sizes.values())
    tables = sum(size for name, (size, _) in sizes.items() if name not in kinds)
    on_disk = sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())
    print(f"{'tables':34}{tables / turns:8.0f}\n{'indexes':34}{(whole - tables) / turns:8.0f}")
    print(f"{'the folder':34}{on_disk / turns:8.0f}")


if __name__ == "__main__":
    main()

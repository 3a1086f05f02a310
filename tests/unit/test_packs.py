"""Differences between the contents of a pack, read as Git reads them."""

from __future__ import annotations

import random

import pytest

from given import NOON
from lamina.store.documents.objects import GitObject, Worktree, git_object, parse_tree
from lamina.store.documents.packs import delta, replacing
from tables import every_row


def made(base: bytes, difference: bytes) -> bytes:
    """What a difference makes of its base, by Git's ``gitformat-pack``."""
    at, out = 0, bytearray()

    def size() -> int:
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = difference[at]
            at, value, shift = at + 1, value | (byte & 0x7F) << shift, shift + 7
            if not byte & 0x80:
                return value

    assert size() == len(base)
    length = size()
    while at < len(difference):
        instruction, at = difference[at], at + 1
        if instruction & 0x80:
            numbers = []
            for bit in range(7):
                numbers.append(difference[at] if instruction >> bit & 1 else 0)
                at += instruction >> bit & 1
            start, count = (
                int.from_bytes(bytes(numbers[:4]), "little"),
                int.from_bytes(bytes(numbers[4:]), "little"),
            )
            out += base[start : start + (count or 0x10000)]
        else:
            assert instruction, "zero is reserved"
            out += difference[at : at + instruction]
            at += instruction
    assert len(out) == length
    return bytes(out)


@every_row("seed", range(20))
def test_a_difference_makes_the_new_content_of_the_old_one(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(100):
        base = rng.randbytes(rng.randrange(3000)) if rng.random() < 0.7 else b"ab" * rng.randrange(400)
        target = bytearray(base)
        for _ in range(rng.randrange(5)):
            at, kind = rng.randrange(len(target) + 1), rng.choice(["put", "insert", "remove"])
            new = b"" if kind == "remove" else rng.randbytes(rng.randrange(1, 60))
            target[at : at if kind == "insert" else at + 20] = new
        assert made(base, delta(base, bytes(target))) == target


def test_hashes_that_changed_in_a_large_folder_are_few_bytes() -> None:
    rng = random.Random(1)
    names = [b"40000 fallback\0", *(b"100644 thread-%06d.json\0" % number for number in range(10_000))]
    base = [name + rng.randbytes(20) for name in names]
    target = list(base)
    for place in (0, 700, 7000):
        target[place] = names[place] + rng.randbytes(20)
    difference = delta(b"".join(base), b"".join(target))
    assert made(b"".join(base), difference) == b"".join(target)
    assert len(difference) < 150


@pytest.mark.parametrize("seed", range(5))
def test_a_folder_knows_what_was_replaced_in_it_and_its_hash(seed: int) -> None:
    rng = random.Random(seed)
    names = [f"{rng.randrange(10**6):06d}{'-long' * rng.randrange(9)}" for _ in range(rng.randrange(1, 9000))]
    found: dict[bytes, GitObject] = {}
    worktree = Worktree(None, lambda id_: found[id_].data)
    changes: dict[str, bytes | None] = {f"d/{name}": rng.randbytes(8) for name in names}
    replaced = 0
    for turn in range(60):
        for each in worktree.commit(changes, "agent:nia", "write", NOON + turn):
            assert each.id == git_object(each.kind, each.data).id
            if each.kind == "tree":
                assert sorted(parse_tree(each.data), key=_as_git_sorts) == parse_tree(each.data)
            if each.replaced is not None and each.base is not None:
                difference = replacing(each.data, each.replaced)
                assert made(found[each.base].data, difference) == each.data
                replaced += 1
            found[each.id] = each
        changes = {f"d/{name}": rng.randbytes(8) for name in rng.choices(names, k=rng.randrange(1, 4))}
        if rng.random() < 0.3:
            changes |= {f"d/{rng.choice(names)}": None, f"d/new-{turn}/x": b"x"}
        if rng.random() < 0.1:
            worktree.forget()
    assert replaced > 30


def _as_git_sorts(entry: tuple[bytes, bytes, bytes]) -> bytes:
    return entry[1] + b"/" if entry[0] == b"40000" else entry[1]

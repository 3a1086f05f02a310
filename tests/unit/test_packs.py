"""Differences between the contents of a pack, read as Git reads them."""

from __future__ import annotations

import random

import pytest

from lamina.store.documents.packs import delta


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


@pytest.mark.parametrize("seed", range(20))
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

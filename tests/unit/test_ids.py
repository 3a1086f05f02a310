"""Ids: order, namespaces, and the same id for the same source."""

from __future__ import annotations

import random
import subprocess
import sys
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.errors import Invalid
from lamina.kernel.ids import Prefix, RandomIds, derived_id, parse_id, prefix_of
from tables import every_row

IDS = RandomIds(partial(random.Random(7).getrandbits, 64))
INSTANTS = st.integers(min_value=0, max_value=(1 << 48) * 1000 - 1)


@given(INSTANTS, INSTANTS)
def test_ids_sort_as_their_instants(one: int, other: int) -> None:
    earlier, later = sorted((one, other))
    if earlier < later:
        assert IDS.stamped(Prefix.EVENT, earlier) < IDS.stamped(Prefix.EVENT, later)


@given(st.sampled_from(Prefix), INSTANTS)
def test_every_namespace_parses_its_own_ids_only(prefix: Prefix, at: int) -> None:
    made = IDS.stamped(prefix, at)
    assert prefix_of(made) is prefix
    assert parse_id(made, prefix) == made
    other = Prefix.EVENT if prefix is not Prefix.EVENT else Prefix.FACT
    with pytest.raises(Invalid) as caught:
        parse_id(made, other)
    assert caught.value.code == "INVALID_ID"


def test_an_id_is_a_uuid_of_version_7_and_of_the_rfc_variant() -> None:
    ones = RandomIds(lambda: (1 << 64) - 1).stamped(Prefix.EVENT, 0x0123_4567_89AB * 1000 + 999)
    assert ones == "evt_01234567-89ab-73e7-bfff-ffffffffffff"


def test_ids_of_one_instant_differ() -> None:
    assert len({RandomIds().stamped(Prefix.EVENT, 5) for _ in range(100)}) == 100


def test_a_forked_process_draws_ids_of_its_own() -> None:
    forks = """
import os
from lamina.kernel.ids import Prefix, RandomIds
ids = RandomIds()
ids.stamped(Prefix.EVENT, 5)
if os.fork():
    os.wait()
print(ids.stamped(Prefix.EVENT, 5), flush=True)
"""
    ran = subprocess.run([sys.executable, "-c", forks], capture_output=True, text=True, check=True)
    child, parent = ran.stdout.split()
    assert child != parent


@pytest.mark.parametrize("at", [-1, -(10**20), 10**20])
def test_an_instant_outside_of_the_format_is_cut_to_it(at: int) -> None:
    assert prefix_of(IDS.stamped(Prefix.EVENT, at)) is Prefix.EVENT


GOOD = derived_id(Prefix.EVENT, 5, "x").removeprefix("evt_")


@every_row(
    "text",
    ["", "evt", "evt_", GOOD, f"EVT_{GOOD}", f"evt_{GOOD.upper()}", f"evt_{GOOD}\n", f" evt_{GOOD}",
     f"evt-{GOOD}", f"nope_{GOOD}", f"evt_{GOOD[:-1]}", f"evt_{GOOD}0", f"evt_{GOOD.replace('-7', '-4')}",
     f"evt_evt_{GOOD}", f"_{GOOD}", "evt_../../etc/passwd"],
)  # fmt: skip
def test_what_is_not_an_id_has_no_namespace(text: str) -> None:
    assert prefix_of(text) is None
    with pytest.raises(Invalid):
        parse_id(text, Prefix.EVENT)


def test_a_long_text_is_not_echoed_whole() -> None:
    with pytest.raises(Invalid) as caught:
        parse_id("x" * 10_000, Prefix.EVENT)
    assert len(caught.value.message) < 200


def test_a_derived_id_is_the_same_on_every_machine() -> None:
    made = derived_id(Prefix.FACT, 1_778_673_600_000_000, "evt_1", "lamina-rules/1", 3)
    assert made == derived_id(Prefix.FACT, 1_778_673_600_000_000, "evt_1", "lamina-rules/1", 3)
    assert made == "fact_019e2135-4600-7000-b0f4-6714026bb874"


@settings(max_examples=50)
@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\x1f")), min_size=1, max_size=3))
def test_derived_ids_differ_when_a_part_differs(parts: list[str]) -> None:
    made = derived_id(Prefix.FACT, 5, *parts)
    assert made != derived_id(Prefix.FACT, 5, *parts, 0)
    assert made != derived_id(Prefix.FACT, 5, *parts[:-1], parts[-1] + "x")
    assert made[5:] != derived_id(Prefix.FACT, 6, *parts)[5:]

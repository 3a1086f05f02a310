"""When each value of a slot held, from what was said of it."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import combinations, pairwise, permutations

from lamina.pipeline.timeline import Statement, ValueEnd, timeline
from tables import every_row


def said(value: str, at: int, *, since: int | None = None, until: int | None = None) -> Statement:
    return Statement(value, f"{value}{at}", at if since is None else since, until, at)


def not_said(value: str, at: int, *, since: int | None = None) -> Statement:
    return Statement(value, f"not {value}{at}", at if since is None else since, None, at, denies=True)


def drawn(*statements: Statement, endings: tuple[ValueEnd, ...] = ()) -> list[tuple[str, int, int | None]]:
    return [(p.value, p.holds_from, p.holds_to) for p in timeline(statements, endings) if not p.denies]


def denied(*statements: Statement) -> list[tuple[str, int, int | None]]:
    return [(p.value, p.holds_from, p.holds_to) for p in timeline(statements) if p.denies]


def test_values_follow_each_other() -> None:
    assert drawn(said("Porto", 20), said("Lisbon", 10)) == [("Lisbon", 10, 20), ("Porto", 20, None)]


def test_a_value_that_was_said_again_later_comes_back() -> None:
    assert drawn(said("Porto", 10), said("Lisbon", 20), said("Porto", 30)) == [
        ("Porto", 10, 20),
        ("Lisbon", 20, 30),
        ("Porto", 30, None),
    ]


def test_what_was_said_without_a_date_yields_to_a_beginning_told_later() -> None:
    assert drawn(said("Lisbon", 10), said("Porto", 20, since=5)) == [("Lisbon", 4, 5), ("Porto", 5, None)]


def test_what_was_said_without_a_date_after_a_beginning_was_told_follows_it() -> None:
    assert drawn(said("Lisbon", 30), said("Porto", 20, since=5)) == [("Porto", 5, 30), ("Lisbon", 30, None)]


def test_several_that_yield_keep_the_order_in_which_they_were_said() -> None:
    assert drawn(said("Lisbon", 10), said("Rome", 12), said("Porto", 20, since=5)) == [
        ("Lisbon", 3, 4),
        ("Rome", 4, 5),
        ("Porto", 5, None),
    ]


def test_what_yields_joins_the_same_value_before() -> None:
    assert drawn(said("Lisbon", 1), said("Lisbon", 10), said("Porto", 20, since=5)) == [
        ("Lisbon", 1, 5),
        ("Porto", 5, None),
    ]


def test_dated_values_stand_in_the_order_of_their_dates_whatever_was_said_last() -> None:
    assert drawn(said("Hamburg", 30, since=20), said("Berlin", 31, since=15)) == [
        ("Berlin", 15, 20),
        ("Hamburg", 20, None),
    ]


def test_what_was_over_when_it_was_told_is_no_rival_to_what_holds_now() -> None:
    lisbon = said("Lisbon", 30, since=1)
    assert drawn(lisbon, said("Porto", 31, since=10, until=20)) == [
        ("Lisbon", 1, 10),
        ("Porto", 10, 20),
        ("Lisbon", 20, None),
    ]


def test_a_value_of_which_nothing_was_said_after_an_interruption_does_not_come_back() -> None:
    assert drawn(said("Lisbon", 1), said("Porto", 31, since=10, until=20)) == [
        ("Lisbon", 1, 10),
        ("Porto", 10, 20),
    ]


def test_an_end_holds_until_the_value_is_said_again() -> None:
    ending = ValueEnd("Porto", 15)
    assert drawn(said("Porto", 10), endings=(ending,)) == [("Porto", 10, 15)]
    assert drawn(said("Porto", 10), said("Porto", 20), endings=(ending,))[1:] == [("Porto", 20, None)]


def read(value: str, at: int, *, since: int | None = None, until: int | None = None) -> Statement:
    """The word of a tool or document."""
    return replace(said(value, at, since=since, until=until), external=True)


def test_a_document_ends_no_word_of_a_person_and_holds_before_it() -> None:
    assert drawn(said("Lisbon", 10), read("Porto", 20)) == [("Porto", 9, 10), ("Lisbon", 10, None)]
    assert drawn(said("Lisbon", 10), read("Porto", 20, since=15)) == [("Porto", 9, 10), ("Lisbon", 10, None)]
    assert drawn(said("Lisbon", 10), read("Porto", 20, since=12, until=15)) == [
        ("Porto", 9, 10),
        ("Lisbon", 10, None),
    ]


def test_a_document_holds_until_a_person_says_otherwise_and_where_nobody_does() -> None:
    assert drawn(read("Porto", 10), said("Lisbon", 20)) == [("Porto", 10, 20), ("Lisbon", 20, None)]
    assert drawn(said("Lisbon", 10, since=5, until=15), read("Porto", 20)) == [
        ("Lisbon", 5, 15),
        ("Porto", 20, None),
    ]


def test_documents_that_yield_stand_before_all_that_follows_each_other_there() -> None:
    persons = said("Lisbon", 10), said("Rome", 20)
    assert drawn(*persons, read("Porto", 25), read("Faro", 15)) == [
        ("Faro", 8, 9),
        ("Porto", 9, 10),
        ("Lisbon", 10, 20),
        ("Rome", 20, None),
    ]


def test_a_document_that_says_what_a_person_says_moves_no_end() -> None:
    assert drawn(said("Lisbon", 10), read("Lisbon", 20, since=15, until=30)) == [("Lisbon", 10, None)]
    assert drawn(read("Lisbon", 5, since=1, until=30), said("Lisbon", 10)) == [("Lisbon", 1, None)]


def test_a_date_in_a_document_makes_no_word_of_a_person_yield() -> None:
    assert drawn(said("Lisbon", 10), read("Porto", 20, since=5)) == [("Porto", 5, 10), ("Lisbon", 10, None)]


@every_row("seed", range(300))
def test_what_people_said_holds_as_if_no_document_had_been_read(seed: int) -> None:
    chance = random.Random(seed)
    statements = []
    for at in chance.sample(range(100, 1000, 10), chance.randrange(2, 10)):
        since = chance.choice([None, None, at - chance.randrange(1, 90)])
        until = None if since is None or chance.random() < 0.5 else chance.randrange(since + 2, at + 40)
        told = chance.choice([said, said, read])
        statements.append(told(chance.choice("abc"), at, since=since, until=until))
    periods = timeline(statements)
    assert timeline(chance.sample(statements, len(statements))) == periods
    assert {s for period in periods for s in period.statements} == set(statements)
    assert all(one.holds_to is not None and one.holds_to <= two.holds_from for one, two in pairwise(periods))
    for firm in timeline([each for each in statements if not each.external]):
        if firm.holds_from == firm.holds_to:
            continue  # of two values that were said of one instant the first holds for none
        inside = [p for p in periods if p.holds_from <= firm.holds_from < (p.holds_to or 10**9)]
        assert [(p.value, p.holds_to) for p in inside] == [(firm.value, firm.holds_to)], firm


@every_row(
    ("told", "values", "denials"),
    [
        # a denial ends its own value, and holds until that begins again
        ([said("a", 10), not_said("a", 20)], [("a", 10, 20)], [("a", 20, None)]),
        ([not_said("a", 10), said("a", 20)], [("a", 20, None)], [("a", 10, 20)]),
        ([said("a", 1), not_said("a", 10), said("a", 20)], [("a", 1, 10), ("a", 20, None)], [("a", 10, 20)]),
        # ... and no other
        ([said("a", 10), not_said("b", 20)], [("a", 10, None)], [("b", 20, None)]),
        ([said("a", 1), not_said("a", 10), said("b", 20)], [("a", 1, 10), ("b", 20, None)], [("a", 10, None)]),
        # said later, of an instant before: what was said without a date yields
        ([said("a", 10), not_said("a", 20, since=5)], [("a", 4, 5)], [("a", 5, None)]),
        ([said("a", 1), said("a", 10), not_said("a", 20, since=5)], [("a", 1, 5)], [("a", 5, None)]),
        ([not_said("a", 10), said("a", 20, since=5)], [("a", 5, None)], [("a", 4, 5)]),
        ([said("a", 10), not_said("a", 20, since=5), said("b", 21, since=7)], [("a", 4, 5), ("b", 7, None)], [("a", 5, None)]),
        # said before it, a denial does not reach what was said since
        ([not_said("a", 10, since=5), said("a", 20)], [("a", 20, None)], [("a", 5, 20)]),
        # dates stand by themselves, also one that is still to come
        ([said("a", 10, since=1), not_said("a", 9, since=5)], [("a", 1, 5)], [("a", 5, None)]),
        ([said("a", 10), not_said("a", 20, since=50)], [("a", 10, 50)], [("a", 50, None)]),
        # of one instant the later in the log counts
        ([replace(said("a", 10), source="1"), replace(not_said("a", 10), source="2")], [("a", 9, 10)], [("a", 10, None)]),
        ([replace(said("a", 10), source="2"), replace(not_said("a", 10), source="1")], [("a", 10, None)], [("a", 9, 10)]),
    ],
)  # fmt: skip
def test_denials_among_values(
    told: list[Statement],
    values: list[tuple[str, int, int | None]],
    denials: list[tuple[str, int, int | None]],
) -> None:
    for order in permutations(told):
        assert (drawn(*order), denied(*order)) == (values, denials)


def over(value: str, at: int, until: int) -> Statement:
    """Told as over, with no word of its beginning."""
    return said(value, at, since=until - 1, until=until)


@every_row(
    ("told", "values", "apart"),
    [
        # it ends its own value, whichever of them is heard of first
        ([said("a", 10), over("a", 30, 20)], [("a", 10, 20)], []),
        # ... and no other, nor what was said to hold after
        ([said("a", 10), said("b", 15), over("a", 30, 20)], [("a", 10, 15), ("b", 15, None)], [("a", 19, 20)]),
        ([said("a", 10), over("a", 30, 20), said("a", 40)], [("a", 10, 20), ("a", 40, None)], []),
        # said later, of an instant before: what was said without a date yields
        ([said("a", 10), said("a", 25), over("a", 30, 20)], [("a", 10, 20)], []),
        ([said("a", 25), over("a", 30, 20)], [("a", 19, 20)], []),
        ([said("a", 25, since=22), over("a", 30, 20)], [("a", 22, None)], [("a", 19, 20)]),
        # what is told of nothing that is known stands apart, whatever holds then
        ([over("a", 30, 20)], [], [("a", 19, 20)]),
        ([said("b", 10), over("a", 30, 20)], [("b", 10, None)], [("a", 19, 20)]),
        # of two words of one stretch the later counts
        ([said("a", 10), over("a", 30, 20), over("a", 31, 25)], [("a", 10, 25)], []),
        ([said("a", 10), over("a", 31, 20), over("a", 30, 25)], [("a", 10, 20)], []),
        ([said("a", 10), over("a", 30, 20), said("a", 40), over("a", 60, 50)], [("a", 10, 20), ("a", 40, 50)], []),
        # within what is told to have ended it is one more word of that
        ([said("a", 30, since=10, until=25), over("a", 31, 20)], [("a", 10, 20)], []),
        # a document ends no word of a person's, a person what a document says
        ([said("a", 10), replace(over("a", 30, 20), external=True)], [("a", 10, None)], [("a", 19, 20)]),
        ([read("a", 10), over("a", 30, 20)], [("a", 10, 20)], []),
        ([read("a", 25), over("a", 30, 20)], [("a", 19, 20)], []),
        ([read("a", 35), over("a", 30, 20)], [("a", 35, None)], [("a", 19, 20)]),
    ],
)  # fmt: skip
def test_what_is_told_as_over(
    told: list[Statement],
    values: list[tuple[str, int, int | None]],
    apart: list[tuple[str, int, int | None]],
) -> None:
    for order in permutations(told):
        periods = timeline(order)
        spans = {
            flag: [(p.value, p.holds_from, p.holds_to) for p in periods if p.is_apart is flag]
            for flag in (False, True)
        }
        assert (spans[False], spans[True]) == (values, apart)


@every_row("seed", range(300))
def test_a_value_and_its_denial_never_hold_at_once_in_whatever_order_they_were_told(seed: int) -> None:
    chance = random.Random(seed)
    statements = []
    for at in chance.sample(range(100, 1000, 10), chance.randrange(2, 8)):
        since = chance.choice([None, None, at - chance.randrange(1, 90)])
        told = not_said if chance.random() < 0.4 else said
        statements.append(told(chance.choice("ab"), at, since=since))
    first = timeline(statements)
    assert timeline(chance.sample(statements, len(statements))) == first
    spans = [(p.value, p.holds_from, p.holds_to or 1 << 40) for p in first]
    assert all(start < end for _, start, end in spans)
    for (one, start, end), (two, since, until) in combinations(spans, 2):
        assert one != two or end <= since or until <= start
    newest = max(statements, key=lambda each: each.said_at)
    if not newest.is_dated:
        assert (newest.value, newest.denies, None) in [(p.value, p.denies, p.holds_to) for p in first]


@every_row("seed", range(200))
def test_the_order_of_the_statements_does_not_matter_and_periods_never_overlap(seed: int) -> None:
    chance = random.Random(seed)
    statements = []
    for at in chance.sample(range(100, 1000, 10), chance.randrange(2, 9)):
        since = chance.choice([None, None, at - chance.randrange(1, 90)])
        until = None if since is None or chance.random() < 0.5 else chance.randrange(since + 2, at + 40)
        statements.append(said(chance.choice("abc"), at, since=since, until=until))
    first = timeline(statements)
    assert timeline(chance.sample(statements, len(statements))) == first
    assert all(one.holds_to is not None and one.holds_to <= two.holds_from for one, two in pairwise(first))
    assert {s for period in first for s in period.statements} <= set(statements)
    newest = max(statements, key=lambda each: each.said_at)
    if not newest.is_dated and not newest.is_over:
        assert (first[-1].value, first[-1].holds_to) == (newest.value, None)


def test_a_document_ends_and_denies_nothing_that_a_person_says() -> None:
    denial = replace(not_said("a", 20), external=True)
    told = [said("a", 10), denial]
    assert (drawn(*told), denied(*told)) == ([("a", 10, None)], [("a", 9, 10)])
    told = [read("a", 10), denial]
    assert (drawn(*told), denied(*told)) == ([("a", 10, 20)], [("a", 20, None)])
    told = [not_said("a", 10), read("a", 20)]
    assert (drawn(*told), denied(*told)) == ([("a", 9, 10)], [("a", 10, None)])
    told = [not_said("a", 10), denial]
    assert (drawn(*told), denied(*told)) == ([], [("a", 10, None)])
    told = [not_said("a", 30), denial]
    assert (drawn(*told), denied(*told)) == ([], [("a", 20, None)])
    told = [not_said("a", 30), said("a", 25), denial]
    assert (drawn(*told), denied(*told)) == ([("a", 25, 30)], [("a", 30, None), ("a", 20, 25)])


@every_row("seed", range(300))
def test_what_people_said_and_denied_holds_as_if_no_document_had_been_read(seed: int) -> None:
    chance = random.Random(seed)
    statements = []
    for at in chance.sample(range(100, 1000, 10), chance.randrange(2, 9)):
        since = chance.choice([None, None, at - chance.randrange(1, 90)])
        told = not_said if chance.random() < 0.35 else said
        statements.append(replace(told(chance.choice("ab"), at, since=since), external=chance.random() < 0.4))
    periods = timeline(statements)
    assert timeline(chance.sample(statements, len(statements))) == periods
    assert {s for period in periods for s in period.statements} == set(statements)
    spans = [(p.value, p.holds_from, p.holds_to or 1 << 40) for p in periods]
    for (one, start, end), (two, since, until) in combinations(spans, 2):
        assert one != two or end <= since or until <= start
    for firm in timeline([each for each in statements if not each.external]):
        if firm.holds_from == firm.holds_to:
            continue  # of two values that were said of one instant the first holds for none
        inside = [
            p
            for p in periods
            if p.denies == firm.denies
            and p.value == firm.value
            and p.holds_from <= firm.holds_from < (p.holds_to or 1 << 40)
        ]
        assert [p.holds_to for p in inside] == [firm.holds_to], firm

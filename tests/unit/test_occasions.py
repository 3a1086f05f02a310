"""What the words of one thing that happened or was planned come to, in whatever order they are given."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

from given import fact
from lamina.kernel.records import Author, Fact
from lamina.kernel.time import DAY_US as DAY
from lamina.pipeline.occasions import Occasion, Word, occasions
from tables import every_row

BOB = Author("user:bob", "Bob")
Told = tuple[bool, int, int | None, int]
"""Whether it is denied, from when on and until when, and how many words say so."""


def said(
    at: int, since: int | None = None, until: int | None = None, *, kind: str = "event", no: bool = False
) -> Word:
    begins = at if since is None else since
    return Word(
        fact(f"{at}", kind=kind, valid_from=begins, valid_to=until, negated=no, event_id=f"evt_{at:04}"), at
    )


def plan(at: int, since: int | None = None, until: int | None = None) -> Word:
    return said(at, since, until, kind="plan")


def denied(at: int, since: int | None = None, until: int | None = None) -> Word:
    return said(at, since, until, no=True)


def over(at: int, by: int) -> Word:
    return said(at, by - 1, by)


def by_bob(word: Word) -> Word:
    return word._replace(fact=replace(word.fact, said_by=BOB))


def read(word: Word) -> Word:
    return word._replace(fact=replace(word.fact, external=True))


def told(found: list[Occasion]) -> list[Told]:
    return sorted(
        (each.fact.negated, each.fact.valid_from, each.fact.valid_to, len(each.words)) for each in found
    )


@every_row(
    ("words", "expected"),
    [
        # said again it is the same, from the first on
        ([said(10), said(20)], [(False, 10, None, 2)]),
        # what happened on a day is another thing than what happened on none
        ([said(10), said(20, 4, 6)], [(False, 4, 6, 1), (False, 10, None, 1)]),
        ([said(10, 4, 6), said(20, 6, 8)], [(False, 4, 6, 1), (False, 6, 8, 1)]),
        # a plan has the day that any of its words tells
        ([plan(10), plan(20, 50, 60), plan(30)], [(False, 50, 60, 3)]),
        ([plan(10, 50, 60), plan(20, 70, 80)], [(False, 50, 60, 1), (False, 70, 80, 1)]),
        # a denial ends what has no end
        ([said(10), denied(20)], [(False, 10, 20, 1), (True, 20, None, 1)]),
        # ... and what lies within it never was
        ([plan(10, 50, 60), denied(20)], [(True, 20, None, 1)]),
        ([said(10, 4, 6), denied(20, 4, 6)], [(True, 4, 6, 1)]),
        # ... but for what was over by then
        ([said(10, 4, 6), denied(20)], [(False, 4, 6, 1), (True, 20, None, 1)]),
        # ... and what is said after it
        ([denied(10), said(20)], [(True, 10, 20, 1), (False, 20, None, 1)]),
        ([said(10), denied(20), said(30)], [(False, 10, 20, 1), (True, 20, 30, 1), (False, 30, None, 1)]),
        ([denied(10), said(20, 4, 6)], [(True, 10, 20, 1), (False, 4, 6, 1)]),
        # what was over has ended, and alone it has its last instant
        ([said(10), over(30, 20)], [(False, 10, 20, 2)]),
        ([over(30, 20), said(40)], [(False, 19, 20, 1), (False, 40, None, 1)]),
        # another's word ends none of the person's, and a document nobody's
        ([said(10), by_bob(denied(20))], [(False, 10, None, 1), (True, 20, None, 1)]),
        ([by_bob(said(10)), by_bob(denied(20))], [(False, 10, 20, 1), (True, 20, None, 1)]),
        ([by_bob(said(10)), denied(20)], [(False, 10, 20, 1), (True, 20, None, 1)]),
        ([said(10), read(denied(20))], [(False, 10, None, 1), (True, 20, None, 1)]),
        ([read(said(10)), read(denied(20))], [(False, 10, 20, 1), (True, 20, None, 1)]),
    ],
)  # fmt: skip
def test_the_words_decide_and_not_their_order(words: list[Word], expected: list[Told]) -> None:
    for each in permutations(words):
        assert told(occasions(each)) == sorted(expected, key=lambda one: (one[0], one[1]))


def test_of_days_within_each_other_the_fewer_count() -> None:
    for words in permutations([said(40 * DAY, 0, 30 * DAY), said(41 * DAY, 2 * DAY, 3 * DAY)]):
        assert told(occasions(words)) == [(False, 2 * DAY, 3 * DAY, 2)]


def test_what_was_called_off_and_taken_up_again_names_what_it_follows() -> None:
    first, denial, again = occasions([said(10), denied(20), said(30)])
    assert (first.ended_by, denial.ends, denial.ended_by, again.ends) == (denial, first, again, denial)


def test_what_stands_as_it_is_takes_in_words_and_is_ended_by_them() -> None:
    held: Fact = said(10).fact
    (joined,) = occasions([said(20)], [held])
    assert joined.held is held
    assert told([joined]) == [(False, 10, None, 1)]
    assert told(occasions([denied(20)], [held])) == [(False, 10, 20, 0), (True, 20, None, 1)]

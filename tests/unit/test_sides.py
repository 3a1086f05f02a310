"""Whose timeline a statement about a person is on, by when things were said."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

from lamina.kernel.records import Author
from lamina.pipeline.sides import sides
from lamina.pipeline.timeline import Statement
from tables import every_row

BOB, EVE = Author("user:bob", "Bob"), Author("user:eve", "Eve")
Spans = dict[str | None, list[tuple[str, int, int | None]]]


def own(value: str, at: int, *, since: int | None = None, until: int | None = None) -> Statement:
    return Statement(value, f"{value}{at}", at if since is None else since, until, at)


def by(author: Author, value: str, at: int, *, since: int | None = None) -> Statement:
    return replace(own(value, at, since=since), author=author)


def denied(said: Statement) -> Statement:
    return replace(said, denies=True)


def read(value: str, at: int) -> Statement:
    return replace(own(value, at), external=True)


@every_row(
    ("told", "spans"),
    [
        # others' words follow each other while nobody else spoke
        ([by(BOB, "a", 10), by(BOB, "b", 20)], {None: [("a", 10, 20), ("b", 20, None)]}),
        # ... the person's word ends them
        ([by(BOB, "a", 10), own("b", 20)], {None: [("a", 10, 20), ("b", 20, None)]}),
        # ... and what they say after it stands beside it
        ([own("b", 20), by(BOB, "a", 30)], {None: [("b", 20, None)], BOB.id: [("a", 30, None)]}),
        ([own("b", 20), by(BOB, "a", 30), by(BOB, "c", 40)], {None: [("b", 20, None)], BOB.id: [("a", 30, 40), ("c", 40, None)]}),
        # ... until the person speaks again
        ([own("b", 20), by(BOB, "a", 30), own("b", 40)], {None: [("b", 20, None)], BOB.id: [("a", 30, 40)]}),
        ([own("b", 20), by(BOB, "a", 30, since=10)], {None: [("b", 20, None)], BOB.id: [("a", 20, None)]}),
        # who says what holds says it with the person
        ([own("b", 20), by(BOB, "b", 30)], {None: [("b", 20, None)]}),
        ([own("b", 20), by(BOB, "b", 30), own("c", 40)], {None: [("b", 20, 40), ("c", 40, None)]}),
        # two others stand beside each other, too
        ([by(BOB, "a", 10), by(EVE, "b", 20)], {None: [("a", 10, None)], EVE.id: [("b", 20, None)]}),
        # a document is nobody's word
        ([read("a", 10), by(BOB, "b", 20)], {None: [("a", 10, 20), ("b", 20, None)]}),
        # a denial of one value leaves what is said of another
        ([own("b", 20), by(BOB, "a", 30), denied(own("a", 40))], {None: [("b", 20, None), ("a", 40, None)], BOB.id: [("a", 30, 40)]}),
        ([own("b", 20), by(BOB, "a", 30), denied(own("c", 40))], {None: [("b", 20, None), ("c", 40, None)], BOB.id: [("a", 30, None)]}),
        ([own("b", 20), denied(by(BOB, "b", 30)), own("b", 40)], {None: [("b", 20, None)], BOB.id: [("b", 30, 40)]}),
        # what was over ends what was said of it before
        ([own("b", 20), by(BOB, "a", 30), own("a", 50, since=39, until=40)], {None: [("b", 20, None), ("a", 39, 40)], BOB.id: [("a", 30, 40)]}),
    ],
)  # fmt: skip
def test_sides(told: list[Statement], spans: Spans) -> None:
    for order in permutations(told):
        found: Spans = {
            None if side.author is None else side.author.id: [
                (p.value, p.holds_from, p.holds_to) for p in side.periods
            ]
            for side in sides(order)
        }
        assert found == spans

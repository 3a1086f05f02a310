"""Signs of change: words by which a turn may say that something it names is no longer as it was.

One list of data, for one use: a turn that holds a sign, and that shares the matter of an older fact of the same speaker, marks that fact as
one that may have changed (``pipeline/changes.py``). Nothing is read of the sentence, nothing ends by it, and the mark points at
the turn. A line is the predicates that a sign bears on by itself, then the signs; those of the first lines count with the fact's own
words beside them only. Words are compared as they stand, in any case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

__all__ = ["SIGNS", "SPEAKERS", "signs_in"]

_TABLE: Final = """
: now | no longer | anymore | any more | instead | these days | nowadays
: stopped | quit | quitting | gave up | giving up | given up | dropped | ditched | done with | off | cut out | got rid of | used to
: changed | switched | swapped | replaced | migrated | moved | upgraded | cancelled | canceled | called off | postponed | rescheduled
: started | began | again | sold | lost | broke | died | passed away | ended | expired | new | former | formerly | previously
lives_in located_in: relocated | relocating | moved to | moved into | moved out | moved back | moving to | moving into | moving out
lives_in located_in: new apartment | new flat | new house | new place | new address | new city
works_as works_in works_on: promoted | promotion | new role | new position
works_at works_as works_in works_on: new job | new employer | changed jobs | switched jobs
works_at works_as works_in works_on: laid off | fired | let go | resigned | retired | quit my job | left my job | got hired | job offer
relationship_status partner_of engaged_to married_to: engaged | married | divorced | separated | widowed | single again
relationship_status partner_of engaged_to married_to: broke up | broken up | split up | getting married | getting divorced
studies studies_at: my major | graduated | dropped out | transferred to | new course | new school | changed course
salary income pay wage: raise | pay rise | pay cut | now make | now earn
diet is_a eats avoids: eating meat | vegan now | vegetarian now | new diet
"""


SPEAKERS: Final = "I I'm I've I'd I'll we we're we've we'd we'll"
"""Who says that something of their own changed, where the sentence is of themselves."""


def _rows() -> Iterator[tuple[str, frozenset[str]]]:
    for line in _TABLE.strip().splitlines():
        predicates, _, signs = line.partition(":")
        for sign in signs.split("|"):
            yield sign.strip(), frozenset(predicates.split())


SIGNS: Final[Mapping[str, frozenset[str]]] = dict(_rows())
"""Sign to the predicates that it bears on by itself."""

_SIGN = re.compile(
    rf"(?<![\w'’])(?:{'|'.join(sorted(map(re.escape, SIGNS), key=len, reverse=True))})(?![\w'’])"
)


def signs_in(sentence: str) -> frozenset[str]:
    """The signs of change in a sentence.

    >>> sorted(signs_in("I moved to Munich, so I no longer cycle."))
    ['moved', 'moved to', 'no longer']
    """
    plain = " ".join(sentence.casefold().split())
    found = {each.group() for each in _SIGN.finditer(plain)}
    # The longest stands for itself and for what it begins with.
    return frozenset(
        sign for sign in SIGNS if any(sign == each or each.startswith(f"{sign} ") for each in found)
    )

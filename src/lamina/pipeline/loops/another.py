"""Whether a report speaks of another thing than a loop: Paris where the loop has Rome, the water bill for the
electricity bill, eggs alone of milk and eggs. A promise that is lost is worse than one that is shown too long."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Final

from lamina.language.tokens import analyse
from lamina.language.wordsets import word_set
from lamina.pipeline.loops.matching import TOKEN, key_terms, object_of

__all__ = ["speaks_of_another"]

_SLOTS: Final = word_set("to for with from in into at")
_ENDS_A_PHRASE: Final = _SLOTS | word_set(
    "on by about of before after until over under and or but so then because since than as against without like "
    "near when while "
    "where who which that is are was were has have had i we he she it they"
)
_NO_VALUES: Final = word_set(
    "the a an my our your his her its their this that these those some any all both new me us him them it you home "
    "work there here today tomorrow yesterday tonight now morning afternoon evening night noon midday lunch monday "
    "tuesday wednesday thursday friday saturday sunday january february march april may june july august september "
    "october november december week month year day weekend good once time least last next sure free real first "
    "everyone everybody"
)
_NO_TERMS: Final = frozenset(analyse(" ".join(sorted(_NO_VALUES))))
_ALL_OF_IT: Final = word_set("both all everything everyone everybody them")


def speaks_of_another(wording: str, said: str, *, deed_first: bool) -> bool:
    """Whether what is said has another value than a loop's wording in a place that both fill, or leaves a part of it
    out.

    ``deed_first`` where the report begins with its verb: then what follows is its object.
    """
    wanted, heard = TOKEN.findall(wording), TOKEN.findall(said)
    asked, told = _slots(wanted), _slots(heard)
    if any(asked[slot].isdisjoint(told[slot]) for slot in asked.keys() & told.keys()):
        return True
    if _ALL_OF_IT & {word.casefold() for word in heard}:
        return False
    return _leaves_out(wanted, said) or (deed_first and _of_another_object(wording, said))


def _slots(words: Sequence[str]) -> dict[str, frozenset[str]]:
    """What stands behind each preposition: {"to": {"rome"}} of "book a flight to Rome"."""
    found: dict[str, frozenset[str]] = {}
    for at, word in enumerate(words[1:], start=1):
        if word.casefold() in _SLOTS:
            phrase = takewhile(lambda each: each.casefold() not in _ENDS_A_PHRASE, words[at + 1 :])
            value = _value(phrase)
            if value:
                found.setdefault(word.casefold(), value)
    return found


def _value(words: Iterable[str]) -> frozenset[str]:
    named = [word for word in words if word.casefold() not in _NO_VALUES and not word[0].isdigit()]
    return key_terms(" ".join(["-", *named])) if named else frozenset()


def _leaves_out(wanted: Sequence[str], said: str) -> bool:
    """Whether a loop names two things and the report one of them: "call Bob and Ana", "called Bob"."""
    plain = [word.casefold() for word in wanted]
    if "and" not in plain[2:-1]:
        return False
    at = plain.index("and", 2)
    terms = key_terms(said)
    parts = (_value(wanted[at - 1 : at]), _value(wanted[at + 1 : at + 2]))
    return sum(bool(part & terms) for part in parts) == 1


def _of_another_object(wording: str, said: str) -> bool:
    """Whether the report's own object is not the loop's: another thing, or another of its kind."""
    asked, told = object_of(wording), object_of(said)
    if not asked or not _meaning(told):
        return False
    if told.isdisjoint(key_terms(wording)) and asked.isdisjoint(key_terms(said)):
        return True
    ours, theirs = asked - told, told - asked
    return (
        bool(asked & told)
        and bool(_meaning(ours))
        and bool(_meaning(theirs))
        and ours.isdisjoint(key_terms(said))
    )


def _meaning(terms: frozenset[str]) -> frozenset[str]:
    return terms - _NO_TERMS

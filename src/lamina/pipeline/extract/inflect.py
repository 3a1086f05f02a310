"""English inflection for restatements: verbs by tense and number, and the indefinite article.

Regular rules and a table of the irregular verbs that people tell about. A word that is not in the table is taken for
regular, so at worst a rare verb reads oddly; nothing depends on it but the wording.
"""

from __future__ import annotations

from typing import Final

from lamina.language.tables import table

__all__ = [
    "base_form",
    "gerund",
    "in_past",
    "is_plural",
    "past_forms",
    "plural",
    "third_person",
    "with_article",
]

_TABLE: Final = table(__name__)
_PAST: Final = _TABLE.pairs("past")
_DOUBLED: Final = _TABLE.words("doubled")
_DOUBLED_TOO: Final = _TABLE.words("doubled_too")
"""Before "-ing" alone."""
_THIRD: Final = {"be": "is", "have": "has", "do": "does", "go": "goes"}
_THIRD_BASE: Final = {third: base for base, third in _THIRD.items()}
_PLURALS: Final = _TABLE.words("plurals")
_SINGULAR_ENDINGS: Final = ("ss", "us", "is", "ics", "news", "series", "'s", "’s")
_VOWEL_SOUND_EXCEPTIONS: Final = ("uni", "use", "usu", "eu", "one", "once", "ukr", "u.")
_SPELLED: Final = frozenset("AEFHILMNORSX")


def in_past(base: str) -> str:
    """The simple past of a verb: "sign" gives "signed", "eat" gives "ate"."""
    if base in _PAST:
        return _PAST[base]
    if base.endswith("e"):
        return f"{base}d"
    if base.endswith("y") and base[-2:-1] not in tuple("aeiou"):
        return f"{base[:-1]}ied"
    return f"{base}{base[-1]}ed" if base in _DOUBLED else f"{base}ed"


def past_forms() -> dict[str, str]:
    """The base form of every irregular past that is known: "sent" to "send"."""
    return {past: base for base, past in _PAST.items()}


def third_person(base: str) -> str:
    """The form after "she" in the present: "study" gives "studies"."""
    if base in _THIRD:
        return _THIRD[base]
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{base}es"
    if base.endswith("y") and base[-2:-1] not in tuple("aeiou"):
        return f"{base[:-1]}ies"
    return f"{base}s"


def base_form(third: str) -> str:
    """The base of a form that `third_person` gave: "studies" gives "study"."""
    if third in _THIRD_BASE:
        return _THIRD_BASE[third]
    if third.endswith("ies"):
        return f"{third[:-3]}y"
    if third.endswith(("sses", "shes", "ches", "xes", "oes")):
        return third[:-2]
    return third.removesuffix("s")


def gerund(base: str) -> str:
    """The "-ing" form: "move" gives "moving"."""
    if base.endswith("ie"):
        return f"{base[:-2]}ying"
    if base.endswith("e") and not base.endswith(("ee", "oe", "ye")) and base != "be":
        return f"{base[:-1]}ing"
    doubled = base in _DOUBLED | _DOUBLED_TOO
    return f"{base}{base[-1]}ing" if doubled else f"{base}ing"


def plural(noun: str) -> str:
    """The plural of a common noun."""
    if noun.endswith(("child", "person")):
        return f"{noun}ren" if noun.endswith("child") else f"{noun.removesuffix('person')}people"
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return f"{noun}es"
    return f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in tuple("aeiou") else f"{noun}s"


def is_plural(name: str) -> bool:
    """Whether a common noun phrase ("Alice's kids") takes a plural verb. Names never do."""
    last = name.split()[-1] if name.split() else ""
    if not last.islower():
        return False
    return last in _PLURALS or (last.endswith("s") and not last.endswith(_SINGULAR_ENDINGS))


def with_article(words: str) -> str:
    """`words` after "a" or "an"."""
    first = words.split()[0] if words.split() else words
    lower = first.casefold()
    if first.isupper() and len(first) > 1:
        vowel = first[0] in _SPELLED
    elif lower[:1].isdigit():
        vowel = lower.startswith(("8", "11", "18"))
    else:
        vowel = lower[:1] in tuple("aeiou") and not lower.startswith(_VOWEL_SOUND_EXCEPTIONS)
        vowel = vowel or lower.startswith(("hour", "honest", "honor", "heir"))
    return f"{'an' if vowel else 'a'} {words}"

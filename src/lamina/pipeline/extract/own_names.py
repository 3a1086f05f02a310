"""What speakers call themselves: "My name is Ana Petrova", "Hi, I'm Maria de la Cruz", "this is Lena speaking", "call
me Cal".

A name is the whole run of words with capitals, particles between them included. A word that English has is no name by
itself unless
it is written as one, and what people are ("I'm Portuguese", "I'm Team Blue") is none either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, cast

from lamina.language.dated import is_time_word
from lamina.language.entities import NAME_RUN
from lamina.language.sentences import is_sentence_end
from lamina.language.tables import table
from lamina.pipeline.extract.syntax import Parse
from lamina.pipeline.extract.vocabulary import ADJECTIVE_ATTRIBUTES

__all__ = ["OPEN", "OwnName", "is_own_name", "names_speaker", "own_names"]

_TABLE: Final = table(__name__, name_run=NAME_RUN)
OPEN: Final = _TABLE.part("open")
"""What may stand before what somebody says of themselves."""


_REPEATED: Final = _TABLE.pattern("repeated")
_After = Literal["name", "call", "greeting", "nothing"]
"""What stands before a name: "my name is" says that it is one, "I'm" could as well say what somebody is."""


@dataclass(frozen=True, slots=True)
class _Form:
    """A way to say who one is. With one that ``introduces`` somebody says who is speaking."""

    pattern: re.Pattern[str]
    predicate: str
    after: _After
    introduces: bool


def _forms(name: str) -> tuple[_Form, ...]:
    return tuple(
        _Form(re.compile(pattern, re.IGNORECASE), predicate, cast(_After, after), bool(introduces))
        for pattern, predicate, after, introduces in _TABLE.rows(name)
    )


_NAMED = _forms("named")
_HERE_IS = _forms("here_is")
_KNOWN_AS = _forms("known_as")

_OWNED = re.compile(r"['’](?:m|s|re|ll|ve|d|t)$")
_ADJECTIVES = tuple(_TABLE.text("adjectives").split())
_LONG = 8
_NO_NAMES: Final = _TABLE.words("no_names")
_SHORTHAND = _TABLE.words("shorthand")
_SIDES: Final = _TABLE.words("sides")
"""What stands before capitals that tell what somebody is."""


@dataclass(frozen=True, slots=True)
class OwnName:
    """A name as the speaker gave it, with the predicate that claims it; ``introduces`` where it says who is
    speaking."""

    predicate: str
    name: str
    introduces: bool


def names_speaker(sentence: str) -> bool:
    """Whether a short sentence may be an introduction: "Nora here", "please call me Nor"."""
    return any(form.pattern.match(sentence) for form in (*_HERE_IS, *_KNOWN_AS))


def own_names(parse: Parse) -> Iterator[OwnName]:
    """What the speaker of a sentence is called: at most one name, and one that they go by."""
    text = parse.text.strip()
    repeated = _REPEATED.match(text)
    if repeated is not None and _is_longer(parse, repeated["whole"], repeated["name"]):
        yield OwnName("name_is", _written(repeated["whole"]), introduces=True)
        return
    for forms in ((*_NAMED, *_HERE_IS), _KNOWN_AS):
        for form in forms:
            found = form.pattern.match(text)
            if found is None or not is_sentence_end(text, found.end("name")):
                continue  # "I'm Dr. Smith's patient"
            if _is_called(parse, found["name"], form.after):
                yield OwnName(form.predicate, _written(found["name"]), form.introduces)
                break


def _is_longer(parse: Parse, whole: str, name: str) -> bool:
    """ "Nadia Brandt" of "I'm Nadia, Nadia Brandt", "James Bond" of "Bond, James Bond"."""
    words, part = whole.casefold().split(), name.casefold()
    if part not in (words[0], words[-1]) or part in _NO_NAMES or any(map(_OWNED.search, [name, *words])):
        return False
    if all(word[:1].isupper() for word in (name, *whole.split())):
        return True
    return not any(word in _NO_NAMES or parse.is_word(word) for word in words if word != part)


def _is_called(parse: Parse, name: str, after: _After) -> bool:
    """Whether words are somebody's name, by what stands before them."""
    words = name.replace("’", "'").split()
    first, tokens = words[0].casefold(), [token for token in parse.tokens if token.text in words]
    if first in _NO_NAMES or is_time_word(words[0]) or any(_OWNED.search(word) for word in words):
        return False
    written = words[0][:1].isupper()
    of_people = len(words) == 1 and any(token.entity in ("NORP", "LANGUAGE") for token in tokens)
    if of_people or (written and after in ("name", "call")):
        return not of_people
    if any(first in known for known in (_SIDES, _SHORTHAND, ADJECTIVE_ATTRIBUTES)):
        return False
    is_person = written and any(token.entity == "PERSON" for token in tokens)
    if len(words) > 1:
        joined = written and any(word[:1].islower() for word in words)
        strange = not parse.is_word(words[-1].casefold())
        return is_person or joined or strange or (after == "greeting" and not parse.is_word(first))
    is_word = any(map(parse.is_word, [first, *first.split("-")]))
    if is_person:
        return not (is_word and len(first) >= _LONG and first.endswith(_ADJECTIVES))
    if after == "name" and any(token.is_noun for token in tokens):
        return True  # "my name is tom"
    return not (is_word or first.endswith(_ADJECTIVES))


def is_own_name(parse: Parse, name: str) -> bool:
    """Whether what a parse takes for a name after "I'm" is one."""
    labels = {token.entity for token in parse.tokens if token.text in name.split()}
    sides = name.split()[0].casefold() in _SIDES
    return _is_called(parse, name, "call") and not (sides or labels & {"NORP", "LANGUAGE"})


def _written(name: str) -> str:
    return name if name[:1].isupper() else " ".join(f"{w[:1].upper()}{w[1:]}" for w in name.split())

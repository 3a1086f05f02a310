"""What speakers call themselves: "My name is Ana Petrova", "Hi, I'm Maria de la Cruz", "this is Lena speaking", "call
me Cal".

A name is the whole run of words with capitals, particles between them included. What people are ("I'm Portuguese") is
none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from lamina.language.entities import NAME_RUN
from lamina.pipeline.extract.phrases import is_time_word
from lamina.pipeline.extract.syntax import Parse

__all__ = ["OwnName", "is_own_name", "names_speaker", "own_names"]

_GREETING = (
    r"(?:hi|hey|hello|hiya|good (?:morning|afternoon|evening))(?: (?:there|all|everyone|team))?[,.! –-]{1,3}"
)
_OPEN: Final = (
    rf"^(?:{_GREETING}|(?:ok|okay|so|well|btw|oh|and|also|yes|yeah|no|actually|sorry|fyi|by the way)[,.! "
    rf"–-]{{1,3}}){{0,3}}"
)
_TITLE = r"(?:(?:dr|mr|mrs|ms|prof|professor)\b\.? )?"
_NAME = rf"{_TITLE}(?P<name>{NAME_RUN})"
_END = (
    r"(?=\s*(?:$|[,.!;)(–]|-\s|(?:and|but|from|by the way|btw|please|if|i|i['’]m|calling|speaking|nice)\b))"
)
_I_AM = r"(?:i['’]?m|i am)"


def _form(start: str, end: str = _END) -> re.Pattern[str]:
    return re.compile(rf"(?i:{start}){_NAME}(?i:{end})")


_NAMED = _form(
    rf"{_OPEN}(?:my (?:full |real |new )?name(?:['’]s| is)(?: now)?|{_I_AM} called|i(?:['’]ve)? changed my name to) "
)
_INTRODUCED = (
    _form(rf"^{_GREETING}(?:{_I_AM}|this is) "),
    _form(
        rf"{_OPEN}(?:this is|it['’]s) ",
        r"(?= (?:here|speaking|calling)\b(?! (?:is|are|was|it|about the|for)\b))",
    ),
    _form(rf"^(?:{_GREETING})?", r"(?= here\s*(?:$|[.!–]|-\s|from\b|again\b))"),
)
_CALLED = _form(rf"{_OPEN}(?:(?:please )?(?:you can )?(?:just )?call me|i go by|my nickname(?:['’]s| is)) ")


@dataclass(frozen=True, slots=True)
class OwnName:
    """A name as the speaker gave it, with the predicate that claims it; ``introduces`` where it says who is
    speaking."""

    predicate: str
    name: str
    introduces: bool


def names_speaker(sentence: str) -> bool:
    """Whether a short sentence may be an introduction: "Nora here", "please call me Nor"."""
    return any(form.match(sentence) for form in (*_INTRODUCED, _CALLED))


def own_names(parse: Parse) -> Iterator[OwnName]:
    """What the speaker of a sentence is called: at most one name, and one that they go by."""
    text = parse.text.strip()
    introduced = next((found for form in _INTRODUCED if (found := form.match(text)) is not None), None)
    named = _NAMED.match(text) or introduced
    if named is not None and is_own_name(parse, named["name"]):
        yield OwnName("name_is", named["name"], introduces=named is introduced)
    called = _CALLED.match(text)
    if called is not None and is_own_name(parse, called["name"]):
        yield OwnName("goes_by", called["name"], introduces=False)


def is_own_name(parse: Parse, name: str) -> bool:
    """Whether words with capitals are somebody's name: no day, no people, no language, and no word that goes on
    ("I'm")."""
    words = name.replace("’", "'").split()
    labels = {token.entity for token in parse.tokens if token.text in words}
    return not (
        is_time_word(words[0]) or any("'" in word[-3:] for word in words) or labels & {"NORP", "LANGUAGE"}
    )

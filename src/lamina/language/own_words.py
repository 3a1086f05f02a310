"""Whose words a text is made of: what somebody hands over or quotes is not what they say of themselves.

Not their own are quoted lines and forwarded mail, what stands behind "Jo wrote:", transcripts, code with its
comments, logs and tracebacks, and what is there to be worked on: "translate to German: ...", "proofread this:",
"here's my cover letter: ...". So is all that follows "pretend you are my interviewer". When in doubt it is not
theirs: the words stay in the event, only nothing is claimed of anybody because of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from lamina.language.chats import PARAGRAPH_END, ROLES, said_by_others
from lamina.language.plays import begins_play
from lamina.language.sentences import Sentence, split_sentences
from lamina.language.tables import table

__all__ = ["HANDED_NOUN", "blank", "blanked", "is_request", "own_words"]

Cut = tuple[int, int]

_MARKS = (":", "\n", ">", "`", "~", "|", '"', "“")

_QUOTED_LINE = re.compile(r"^[ \t]*(?:>|&gt;).*$", re.MULTILINE)
_TABLE: Final = table(__name__)
_ASKS: Final = tuple(_TABLE.text("asks").split())
"""A text with none of either is wholly its speaker's, which is most talk."""
_FENCE: Final = _TABLE.pattern("fence", re.MULTILINE | re.DOTALL)
_TRACEBACK: Final = _TABLE.pattern("traceback", re.MULTILINE)
_LOG_LINE: Final = _TABLE.pattern("log_line", re.MULTILINE)
_CODE_LINE: Final = _TABLE.pattern("code_line", re.MULTILINE)
_COMMENT_LINE = re.compile(r"^[ \t]*(?:#(?!\w)|//|/\*|\*/|--(?!-)|<!--).*$", re.MULTILINE)
_CODE_LINES_MIN = 2

_MAIL: Final = _TABLE.pattern("mail", re.MULTILINE)
_TOLD: Final = _TABLE.pattern("told")
_SENT: Final = _TABLE.pattern("sent")
_LABEL: Final = _TABLE.pattern("label", re.MULTILINE)
_SELF = frozenset(("me", "i"))

_REQUEST: Final = _TABLE.pattern("request")
_COLON = re.compile(r":(?=\s|$|[\"“'‘])")
_THIS: Final = _TABLE.pattern("this")
_POINTS = re.compile(r"\b(?:this|that|these|it|the above|above)\b", re.IGNORECASE)
_ABOVE = re.compile(r"\b(?:that|the above|above)\b", re.IGNORECASE)
_FICTION: Final = _TABLE.pattern("fiction")
_PIECE: Final = _TABLE.part("piece")
HANDED_NOUN: Final = re.compile(rf"\b{_PIECE}s?\b", re.IGNORECASE)
"""What texts that are handed over are called."""
_HANDED: Final = _TABLE.pattern("handed")
_RESUMED: Final = _TABLE.pattern("resumed")
_LINE_END = re.compile(r"\n|\Z")
_LISTED = re.compile(r"^[ \t]*(?:[-*•+]|\d{1,2}[.)]|\[[ x]?\])[ \t]+(?:\[[ x]?\][ \t]+)?\Z", re.MULTILINE)
_OWN_LINE = re.compile(r"^[ \t]*\n")
_APART = re.compile(r"^[ \t]*\n[ \t]*\n")
_QUOTATION = re.compile(r"(?<!\w)(?:\"[^\"\n]{6,400}\"|“[^”\n]{6,400}”|['‘][^\n]{6,400}?['’](?!\w))")
_IN_MARKS = (re.compile(r"(?<![\w\"])\"(?=\S)[^\"]+\"(?![\w\"])"), re.compile(r"“[^“”]+”"))
_FIRST: Final = _TABLE.pattern("first")
_SAID_WORDS_MIN: Final = 4
"""So many words in quotation marks, with an "I" among them, are what somebody said or wrote."""
_CLOSING = {'"': '"', "“": "”", "'": "'", "‘": "’"}


def own_words(text: str) -> str:
    """`text` with blanks for what its speaker hands over or quotes; lines and offsets stay as they are."""
    if not any(mark in text for mark in _MARKS):
        lower = text.lower()
        if not any(word in lower for word in _ASKS):
            return text
    marked = _blanked(text, _marked(text))
    return _blanked(marked, _handed_over(marked, text))


def is_request(sentence: str) -> bool:
    """Whether a sentence asks to work on a text, or announces one.

    >>> is_request("Fix the grammar of this text."), is_request("I moved to Berlin.")
    (True, False)
    """
    return _REQUEST.match(sentence) is not None or _HANDED.match(sentence) is not None


def blank(text: str) -> str:
    """Blanks in the place of a text; its lines stay."""
    return "".join("\n" if c == "\n" else " " for c in text)


def blanked(pattern: re.Pattern[str], text: str) -> str:
    """A text with blanks for each match of a pattern; places stay as they are."""
    return pattern.sub(lambda match: blank(match[0]), text)


def _blanked(text: str, cuts: Iterator[Cut]) -> str:
    for start, end in list(cuts):
        text = text[:start] + blank(text[start:end]) + text[end:]
    return text


def _marked(text: str) -> Iterator[Cut]:
    """What its own form shows to be somebody else's, or nobody's: fences, quotes, mail, transcripts, logs, code."""
    for pattern in (_FENCE, _QUOTED_LINE, _TRACEBACK, _LOG_LINE):
        yield from (match.span() for match in pattern.finditer(text))
    yield from said_by_others(text)
    for pattern in _IN_MARKS:
        for match in pattern.finditer(text):
            if _FIRST.search(match[0]) and len(match[0].split()) >= _SAID_WORDS_MIN:
                yield match.span()
    mail = _MAIL.search(text)
    if mail is not None:
        yield mail.start(), len(text)
    if "\n" not in text:
        return
    code = list(_CODE_LINE.finditer(text))
    if len(code) >= _CODE_LINES_MIN:
        yield from (match.span() for match in (*code, *_COMMENT_LINE.finditer(text)))
    labels = [(match["who"].casefold(), match.span()) for match in _LABEL.finditer(text)]
    names = [who for who, _ in labels]
    if len(labels) > 1 and ((_SELF | ROLES) & set(names) or len(set(names)) < len(names)):
        yield from (span for who, span in labels if who not in _SELF)


def _handed_over(text: str, original: str) -> Iterator[Cut]:
    """What is announced or asked to be worked on; of `original`, the marked parts are cut from `text` already."""
    sentences = split_sentences(text, count_max=200)
    played = begins_play(text)
    for position, sentence in enumerate(sentences):
        if sentence.start == played:
            yield sentence.start, len(text)
            return
        told = _TOLD.search(sentence.text)
        if told is not None:
            start = sentence.start + told.end()
            yield start, _end_of_quoted(text, original, start, PARAGRAPH_END)
            continue
        if _SENT.search(sentence.text) and _OWN_LINE.match(text[sentence.end :] + "\n"):
            yield sentence.end, _end_of_quoted(text, original, sentence.end, _RESUMED)
            continue
        paste = _start_of_paste(text, sentence)
        if paste is not None:
            listed = _LISTED.search(text, 0, sentence.start) is not None
            yield paste, _end_of_quoted(text, original, paste, _LINE_END if listed else _RESUMED)
        elif _FICTION.match(sentence.text):
            yield sentence.start, sentence.end
        elif position and _is_about_what_stands_above(text, sentence, is_last=position == len(sentences) - 1):
            yield 0, sentence.start


def _start_of_paste(text: str, sentence: Sentence) -> int | None:
    """Where begins what `sentence` asks to work on: behind its colon, or behind itself when the text goes on."""
    handed = _HANDED.match(sentence.text)
    if handed is not None and (handed["colon"] or text[sentence.end :].strip()):
        return sentence.start + handed.end()
    request = _REQUEST.match(sentence.text)
    if request is None:
        return None
    within = _QUOTATION.search(sentence.text)
    if within is not None:
        return sentence.start + within.start()
    colon = _COLON.search(sentence.text)
    if colon is not None:
        return sentence.start + colon.end()
    after = text[sentence.end :]
    if request["made"] or not after.strip():
        return None
    points = _THIS.search(sentence.text) is not None
    if request["sure"]:
        return sentence.end if points or _APART.match(after) else None
    return sentence.end if points and _OWN_LINE.match(after) else None


def _is_about_what_stands_above(text: str, sentence: Sentence, *, is_last: bool) -> bool:
    request = _REQUEST.match(sentence.text)
    if request is None or request["made"] or not is_last:
        return False
    own_line = text[: sentence.start].rstrip(" \t")[-1:] == "\n" and (
        request["sure"] or _POINTS.search(sentence.text)
    )
    return bool(own_line) or (bool(request["sure"]) and _ABOVE.search(sentence.text) is not None)


def _end_of_quoted(text: str, original: str, start: int, end: re.Pattern[str]) -> int:
    """Where ends what begins behind `start`: with what was cut there, with its quotation marks, or at `end`."""
    opening = len(text) - len(text[start:].lstrip())
    if original[start:opening].strip():
        return start
    mark = _CLOSING.get(text[opening : opening + 1])
    closing = text.find(mark, opening + 1) if mark is not None else -1
    if closing >= 0:
        return closing + 1
    found = end.search(text, opening)
    return len(text) if found is None else found.start()

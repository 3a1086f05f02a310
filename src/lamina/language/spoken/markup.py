"""Text without what its editor, chat or page wrote around words: tags, links, mentions, marks of stress.

"I'm **not** vegan" and "I'm <b>not</b> vegan" deny; what is struck through is taken back by who wrote it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Final

from lamina.language.spoken.writing import WrittenText

__all__ = ["without_markup"]

_Change = tuple[str, re.Pattern[str], Callable[[re.Match[str]], str]]

_ENTITY: Final = re.compile(
    r"&(?:amp;)?(?:#\d{1,6}|#[xX][0-9a-fA-F]{1,5}|amp|lt|gt|quot|apos|nbsp|[lr][sd]quo|hellip|[nm]dash);"
)
_ESCAPED: Final = re.compile(r"\\(?:(?=['\"])|u(?![dD][89a-fA-F])([0-9a-fA-F]{4}))")
_QUOTED_URL: Final = re.compile(r"(?<=[A-Za-z])%27(?=[A-Za-z])")
_STRUCK: Final = re.compile(
    r"~~(?=[^\s~])[^~\n]{1,400}(?<=\S)~~|<(?P<tag>s|del|strike)>[^<>\n]{1,400}</(?P=tag)>", re.IGNORECASE
)
_TAG: Final = re.compile(
    r"</?(?:b|i|u|em|strong|mark|small|span|font|ins|wbr|a)(?:\s[^<>\n]{0,200})?/?>|"
    r"(?<!\w)\[(?:b|i|u|color|size)(?:=[^\[\]\n]{0,40})?\]|\[/(?:b|i|u|color|size)\]",
    re.IGNORECASE,
)
_BLOCK: Final = re.compile(r"</?(?:p|div|br|li|ul|ol)(?:\s[^<>\n]{0,200})?/?>", re.IGNORECASE)
_MENTION: Final = re.compile(r"<[@#!][^<>\s]{1,80}> ?")
_LINK: Final = re.compile(
    r"<https?://[^<>|\s]{1,500}\|(?P<shown>[^<>|\n]{1,200})>|\[(?P<text>[^\[\]\n]{1,200})\]\(https?://[^()\s]{1,500}\)"
)
_PICTURE: Final = re.compile(r"(?<![\w:]):(?=[\d_+-]*[a-z])[a-z\d_+-]{1,40}:(?![\w:]) ?")
_MARKED: Final = re.compile(
    r"(?<=\w )(\*|__?)(?=\w)(?P<one>[^*_\n]{1,40})(?<=\w)\1(?= \w|[.,;:!?])|"
    r"(?<![\w*_])_?\*{2,3}(?=\w)(?P<two>[^*_\n]{1,40})(?<=[\w.!?,:;])\*{2,3}_?(?![\w*_])|"
    r"\|\|(?=\w)(?P<three>[^|\n]{1,40})(?<=\w)\|\|"
)
"""Stressed words, where one mark stands on each side with others beside them in the line: one alone may be what somebody acts, "*waves*"."""
_MARKED_WORDS_MAX: Final = 3


def _nothing(_: re.Match[str]) -> str:
    return ""


def _unmarked(found: re.Match[str]) -> str:
    words: str = found["one"] or found["two"] or found["three"]
    return words if len(words.split()) <= _MARKED_WORDS_MAX else found[0]


_CHANGES: Final[tuple[_Change, ...]] = (
    ("&", _ENTITY, lambda found: html.unescape(html.unescape(found[0]))),
    ("\\", _ESCAPED, lambda found: chr(int(found[1], 16)) if found[1] else ""),
    ("%27", _QUOTED_URL, lambda _: "'"),
    ("~~", _STRUCK, _nothing),
    ("</", _STRUCK, _nothing),
    ("<", _MENTION, _nothing),
    ("http", _LINK, lambda found: found["shown"] or found["text"]),
    (">", _TAG, _nothing),
    ("]", _TAG, _nothing),
    (":", _PICTURE, _nothing),
    ("*", _MARKED, _unmarked),
    ("_", _MARKED, _unmarked),
    ("||", _MARKED, _unmarked),
)
"""What a text must have, what is looked for, and what stands there instead, in this order."""


def without_markup(text: str) -> WrittenText:
    """``text`` without it, and the way back to what was said."""
    written = WrittenText(text)
    for sign, pattern, to in _CHANGES:
        if sign in written.text:
            written = written.replaced(pattern, to)
    if ">" in written.text and "\n" not in text:  # what is written in lines is the source of a page
        written = written.replaced(_BLOCK, lambda _: "\n")
    return written

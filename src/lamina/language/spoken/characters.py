"""A text in the characters that somebody reads: one kind of blank and of apostrophe, none that takes no room, no marks for stress.

Keyboards, phones, pages and exports write the same words in many ways ("don´t", "don&#39;t", "**not**", a blank that breaks no line, a soft
hyphen inside a word). Rules that read by words would take them for others: "I don`t eat meat" for "eat meat".
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable
from typing import Final

from lamina.language.spoken.writing import WrittenText

__all__ = ["UNSEEN", "in_plain_text"]

UNSEEN: Final = re.compile(
    r"[\u00ad\u200b\u200e\u200f\u2060-\u2064\u202a-\u202e\u2066-\u2069\ufeff]|(?<=[A-Za-z])[\u200c\u200d](?=[A-Za-z])"
)
"""What takes no room: soft hyphens, marks of direction, blanks without width; joiners only where Latin letters need none."""
_ENTITY: Final = re.compile(
    r"&(?:#\d{1,6}|#[xX][0-9a-fA-F]{1,5}|amp|lt|gt|quot|apos|nbsp|[lr][sd]quo|hellip|[nm]dash);"
)
_ESCAPED: Final = re.compile(r"\\(?=['\"])")
_ACCENTED: Final = re.compile(r"[^\W\d_][\u0300-\u036f]+")
_APOSTROPHE: Final = re.compile(r"(?<=[^\W\d_])[´`′ʼ‘＇](?=[^\W\d_])")
_BLANK: Final = re.compile(r"[^\S\r\n\t ]")
_GROUPED: Final = re.compile(r"(?<=\d)['’\u00a0\u2009\u202f](?=\d{3}(?!\d))")
"""Between thousands: "1'200"."""
_LINE_ENDS: Final = "\u2028\u2029"
_STRUCK: Final = re.compile(r"~~(?=[^\s~])[^~\n]{1,400}(?<=\S)~~")
"""What is struck through is taken back by who wrote it."""
_MARKED: Final = re.compile(
    r"(?<=\w )([*_])(?=\w)(?P<one>[^*_\n]{1,40})(?<=\w)\1(?= \w|[.,;:!?])|"
    r"(?<![\w*_])_?\*{2,3}(?=\w)(?P<two>[^*_\n]{1,40})(?<=[\w.!?,:;])\*{2,3}_?(?![\w*_])"
)
"""Stressed words, where one mark stands on each side with others beside them in the line: one alone may be what somebody acts, "*waves*"."""
_MARKED_WORDS_MAX: Final = 3


def in_plain_text(text: str) -> WrittenText:
    """``text`` with the characters that rules know, and the way back to what was said.

    >>> in_plain_text("I don&#39;t\\u00a0eat me\\u00adat").text
    "I don't eat meat"
    """
    written = WrittenText(text)
    if "&" in text:
        written = _changed(written, _ENTITY, lambda found: html.unescape(found[0]))
    if "\\" in text:
        written = _changed(written, _ESCAPED, lambda _: "")
    if "~~" in text:
        written = _changed(written, _STRUCK, lambda _: "")
    if "*" in text or "_" in text:
        written = _changed(written, _MARKED, _unmarked)
    if not written.text.isascii():
        written = _changed(written, _ACCENTED, lambda found: unicodedata.normalize("NFC", found[0]))
        written = _changed(written, UNSEEN, lambda _: "")
    if written.text.isascii() and "`" not in written.text and "'" not in written.text:
        return written
    plain = _APOSTROPHE.sub("'", _GROUPED.sub(",", written.text))
    return written.in_letters(_BLANK.sub(lambda found: "\n" if found[0] in _LINE_ENDS else " ", plain))


def _changed(
    written: WrittenText, pattern: re.Pattern[str], to: Callable[[re.Match[str]], str]
) -> WrittenText:
    return written.edited((found.start(), found.end(), to(found)) for found in pattern.finditer(written.text))


def _unmarked(found: re.Match[str]) -> str:
    words: str = found["one"] or found["two"]
    return words if len(words.split()) <= _MARKED_WORDS_MAX else found[0]

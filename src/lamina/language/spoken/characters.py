"""A text in the characters that somebody reads: one kind of blank and of apostrophe, and none that takes no room.

Keyboards, phones and exports write the same words in many ways ("don´t", "donâ€™t", a blank that breaks no line, a soft hyphen inside a
word). Rules that read by words would take them for others: "I don`t eat meat" for "eat meat".
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from lamina.language.spoken.markup import without_markup
from lamina.language.spoken.writing import WrittenText

__all__ = ["UNSEEN", "in_plain_text"]

UNSEEN: Final = re.compile(
    r"[\u00ad\u200b\u200e\u200f\u2060-\u2064\u202a-\u202e\u2066-\u2069\ufe00-\ufe0f\ufeff]|"
    r"(?<=[A-Za-z])[\u200c\u200d](?=[A-Za-z])|\x1b\[[\d;]{0,20}m|[\x00-\x08\x0e-\x1f\x7f]"
)
"""What takes no room: soft hyphens, marks of direction, blanks without width, colours of a terminal and other controls; joiners only where
Latin letters need none."""
_CONTROL: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_ACCENTED: Final = re.compile(r"[^\W\d_][\u0300-\u036f]+")
_TWICE_ENCODED: Final = re.compile(
    r"[\u00c2-\u00f4][\u0080-\u00bf\u0152-\u0192\u02c6\u02dc\u2013-\u2122]{1,3}"
)
"""A character of UTF-8 that was read byte by byte as Windows-1252: "â€™"."""
_WINDOWS: Final = re.compile(r"[\x80-\x9f]")
_APOSTROPHE: Final = re.compile(r"(?<=[^\W\d_])(?:[´`′ʼ‘＇]|['’]{2})(?=[^\W\d_])")
_LOST: Final = re.compile(
    r"(?<=[A-Za-z])\ufffd(?=(?:t|m|s|re|ve|ll|d)\b)|(?<=n)\?(?=t\b)|(?<=\bI)\?(?=(?:m|ve|ll|d)\b)|(?<=t)\?(?=s\b)"
)
"""An apostrophe that an older encoding had no place for."""
_BLANK: Final = re.compile(r"[^\S\r\n\t ]")
_GROUPED: Final = re.compile(r"(?<=\d)['’\u00a0\u2009\u202f](?=\d{3}(?!\d))")
"""Between thousands: "1'200"."""
_LINE_ENDS: Final = "\u2028\u2029"


def in_plain_text(text: str) -> WrittenText:
    """``text`` with the characters that rules know and without markup, and the way back to what was said.

    >>> in_plain_text("I do <b>not</b>\\u00a0eat me\\u00adat, I don´t").text
    "I do not eat meat, I don't"
    """
    written = without_markup(text)
    if not written.text.isascii():
        written = written.replaced(_TWICE_ENCODED, lambda found: _read_again(found[0]))
        written = written.replaced(
            _WINDOWS, lambda found: found[0].encode("latin-1").decode("cp1252", "replace")
        )
        written = written.replaced(_ACCENTED, lambda found: unicodedata.normalize("NFC", found[0]))
        written = written.replaced(UNSEEN, lambda _: "")
    elif _CONTROL.search(written.text):
        written = written.replaced(UNSEEN, lambda _: "")
    if written.text.isascii() and not any(mark in written.text for mark in "`'?"):
        return written
    written = written.replaced(_APOSTROPHE, lambda _: "'")
    plain = _GROUPED.sub(",", _LOST.sub("'", written.text))
    return written.in_letters(_BLANK.sub(lambda found: "\n" if found[0] in _LINE_ENDS else " ", plain))


def _read_again(text: str) -> str:
    try:
        return b"".join(each.encode("latin-1" if each <= "\xff" else "cp1252") for each in text).decode()
    except UnicodeError:
        return text

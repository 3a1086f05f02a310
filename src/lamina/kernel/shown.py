"""Stored text made safe to show: what cannot be seen, or turns what can be seen, is left out.

A text may carry characters that a person does not see and a model or a terminal reads: bidirectional controls show a line in
another order than it is read in, tag characters and runs of variation selectors spell whole sentences unseen, control characters
steer a terminal. ``shown`` drops them (Unicode, "Default_Ignorable_Code_Point", and the categories Cc and Cf) but for what writing
needs: a joiner between letters that join or inside an emoji, a non-joiner between letters, one variation selector after a base that
takes one, the tags of the three flags that have them, and the visible signs that precede Arabic, Syriac and Kaithi numbers.

What is stored is not touched: these functions are for doors and for what is rendered.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final
from unicodedata import category, combining

__all__ = [
    "cut_between_words",
    "escaped",
    "is_plain",
    "on_one_line",
    "quoted",
    "shortened",
    "shown",
    "unquoted",
    "without_markers",
]

_ZWNJ, _ZWJ = "\u200c", "\u200d"
_TEXT_STYLE, _EMOJI_STYLE, _KEYCAP = "\ufe0e", "\ufe0f", "\u20e3"
_BREAK = re.compile(r"\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_OPENS, _CLOSES = r"\[［【〔⟦", r"\]］】〕⟧"
_BETWEEN = rf"[^\w{_OPENS}{_CLOSES}]"
_MARKER = re.compile(rf"[{_OPENS}]({_BETWEEN}*\d(?:\d|{_BETWEEN})*)[{_CLOSES}]")
"""A number in brackets, of any script and with anything unseen beside it. No bracket is looked at twice."""

_ALWAYS_DROPPED = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e001f\U000e0080-\U000e00ff\U000e01f0-\U000e0fff\ud800-\udfff"
)
_BY_CONTEXT = "\u180b-\u180d\u180f\u200c\u200d\ufe00-\ufe0f\U000e0020-\U000e007f\U000e0100-\U000e01ef"
_UNSEEN = re.compile(f"[{_ALWAYS_DROPPED}{_BY_CONTEXT}]")
_NEVER = re.compile(f"[{_ALWAYS_DROPPED}]")
_COMMON = re.compile(
    r"[\t\n -Z\\-~\u00a1-\u00ac\u00ae-\u02ff\u0370-\u058f\u2010-\u2027\u2030-\u205e\u20a0-\u20bf]*"
)
"""Nothing unseen and no bracket that could open a marker: nearly every text, told at a tenth of what the long lists take."""

_FLAG = "\U0001f3f4"
_FLAG_TAGS: Final = tuple(
    "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls")
)
_EMOJI = re.compile(
    "[\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
"""The blocks that emoji are in; a symbol beside them in a block does no harm here."""
_KEYS: Final = frozenset("#*0123456789")
_JOINING = re.compile(
    "[\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17ff\u1800-\u18af\u1900-\u1aaf\u1b00-\u1c4f\ua800-\uaaff\uabc0-\uabff"
    "\ufb50-\ufdff\ufe70-\ufefc\U00010a00-\U00010fff\U00011000-\U00011fff\U0001e900-\U0001e95f]"
)
"""Scripts whose letters join or stack: Arabic and its kin, Indic and its kin, Mongolian, N'Ko, Adlam."""
_IDEOGRAPH = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_STANDARDISED = re.compile(
    "[\u1000-\u109f\uaa60-\uaa7f\ua840-\ua877\u2200-\u22ff\u2a00-\u2aff\u3001\u3002\uff01\uff0c\uff0e\uff1a\uff1b\uff1f"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\U00013000-\U0001342f]"
)
"""What the variation selectors 1 to 7 are standardised after."""
_MONGOLIAN = re.compile("[\u1820-\u18aa]")


def shown(text: str) -> str:
    """The text as it may be shown: its line breaks as ``\\n``, its tabs, and of the unseen only what writing needs.

    Idempotent, and the same text where nothing unseen is in it.
    """
    if _COMMON.fullmatch(text) or _UNSEEN.search(text) is None:
        return text
    return _sifted(_BREAK.sub("\n", text), lambda _: "")


def is_plain(text: str) -> bool:
    """Whether nothing in it, nor in any part of it, is unseen or could open a marker; False says nothing."""
    return _COMMON.fullmatch(text) is not None


def on_one_line(text: str) -> str:
    """``shown`` on one line: every run of blanks and line breaks is one blank, and none is at the ends."""
    return " ".join(shown(text).split())


def cut_between_words(text: str, chars: int) -> str:
    """Up to so many characters of a line, as whole words: half a figure is another figure. A word that takes half of them is cut itself."""
    if len(text) <= chars:
        return text
    blank = text.rfind(" ", chars // 2, chars + 1)
    return text[: chars if blank < 0 else blank]


def shortened(text: str, chars: int) -> str:
    """A text on one line: up to so many characters of it, and dots behind where it goes on."""
    words = " ".join(text.split())
    return words if len(words) <= chars else f"{cut_between_words(words, chars - 2)} …"


def without_markers(text: str) -> str:
    """``on_one_line``, and without what looks like the marker of a line: ``[1]`` is shown as ``(1)``."""
    return " ".join(text.split()) if _COMMON.fullmatch(text) else _MARKER.sub(r"(\1)", on_one_line(text))


def unquoted(text: str) -> str:
    """``without_markers``, to stand between quotation marks: its own are single."""
    return without_markers(text).replace('"', "'")


def quoted(text: str) -> str:
    """The text on one line between quotation marks that it cannot close: its own are single."""
    return '"' + on_one_line(text).replace('"', "'") + '"'


def escaped(text: str) -> str:
    """JSON with what ``shown`` would drop written as escapes: the same value, and nothing unseen in it."""
    return text if _UNSEEN.search(text) is None else _sifted(text, _escape)


def _escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _sifted(text: str, instead: Callable[[str], str]) -> str:
    """The text with ``instead`` of each character that has no place where it stands."""
    made: list[str] = []
    before = ""  # the last character that stayed
    at = 0
    while at < len(text):
        tags = next((tags for tags in _FLAG_TAGS if text.startswith(tags, at)), "") if before == _FLAG else ""
        if tags:
            made.append(tags)
            at, before = at + len(tags), tags[-1]
            continue
        character = text[at]
        at += 1
        if _UNSEEN.match(character) is None or _has_place(character, before, text, at):
            made.append(character)
            before = character if character != _TEXT_STYLE else ""
        else:
            made.append(instead(character))
    return "".join(made)


def _has_place(character: str, before: str, text: str, at: int) -> bool:
    if _NEVER.match(character) or not before:
        return False
    if character in (_ZWJ, _ZWNJ):
        return _joiner_has_place(character, before, _next_seen(text, at))
    if character in (_TEXT_STYLE, _EMOJI_STYLE):
        return _next_seen(text, at) == _KEYCAP if before in _KEYS else _EMOJI.match(before) is not None
    if "\u180b" <= character <= "\u180f":
        return _MONGOLIAN.match(before) is not None
    if "\ufe00" <= character <= "\ufe06":
        return _STANDARDISED.match(before) is not None
    return character >= "\U000e0100" and _IDEOGRAPH.match(before) is not None


def _joiner_has_place(joiner: str, before: str, after: str) -> bool:
    if combining(before) == 9:  # a virama: the joiner says how it is drawn, at the end of a word too
        return True
    if joiner == _ZWNJ:
        return _is_letter(before) and _is_letter(after)
    if _EMOJI.match(after):
        return before in (_EMOJI_STYLE, "\U000e007f") or _EMOJI.match(before) is not None
    return _joins(before) and _joins(after)


def _is_letter(character: str) -> bool:
    return _joins(character) or (
        character != "" and category(character)[0] in "LM" and not _UNSEEN.match(character)
    )


def _joins(character: str) -> bool:
    return (
        _JOINING.match(character) is not None
        and category(character)[0] in "LMN"
        and not _UNSEEN.match(character)
    )


def _next_seen(text: str, at: int) -> str:
    """The next character that is not dropped wherever it stands."""
    while at < len(text) and _NEVER.match(text[at]):
        at += 1
    return text[at : at + 1]

"""Which parts of a turn are not plainly its speaker's running speech.

``own_words`` leaves out what is certainly somebody else's. What is left may still be pasted, quoted or forwarded; no
list of forms is ever whole, so here the shape of the turn decides, and in doubt a part is not running speech. Apart
stand: what quotation marks, fences and tags hold; what a name, a time or any label introduces; what follows a line
that ends in a colon, asks for work, points at a text or asks about one; indented blocks; and a letter to the speaker
or signed by somebody else. An opening such as "Update:" or "Hi!" is known to introduce one's own news.

What stands apart may be claimed on a lower standing, and ends nothing (``pipeline/hearsay.py``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from lamina.language.attributed import SAYINGS
from lamina.language.own_words import HANDED_NOUN, blanked, is_request
from lamina.language.sentences import split_sentences
from lamina.language.tables import table

__all__ = ["labelled_sentence", "running_speech", "stands_apart", "within"]

Cut = tuple[int, int]

_MARKS: Final = re.compile(r"[\n:\"“”„«»`<>\[\]{}|?]|(?<!\w)['‘]|['’](?!\w)|[—–]|--|~~~|^[ \t]{4}")
_FENCES: Final = ("```", "~~~", '"""', "'''")
_PAIRS: Final = (('"', '"'), ("“", "”"), ("„", "“"), ("«", "»"), ("`", "`"))
_SINGLE_OPENS = re.compile(r"(?<!\w)['‘](?=\w)")
_SINGLE_CLOSES = re.compile(r"(?<=\S)['’](?!\w)")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,120}>|\[/?[A-Za-z]{2,12}(?:=[^\]\n]{0,60})?\]")
_RULE_LINE = re.compile(r"^[ \t]*(?:[-=_*~#]{3,}.*|-- ?)$")
_SIGNATURE_LINE = re.compile(r"^-- ?$")
_NOTE_BEHIND = re.compile(r"(?<=[^\s])[ \t]+\[[^\[\]\n]{0,2000}\][ \t]*$", re.MULTILINE)
"""A note behind what was said, "[shared image: a dog]", introduces nothing."""
_TABLE: Final = table(__name__)
_STAMP: Final = _TABLE.pattern("stamp", 0)
_BULLET = re.compile(r"^[ \t]*(?:[-*•+–]|\d{1,2}[.)]|\[[ x]?\])[ \t]+")
_LABEL = re.compile(r"^(?P<label>[^:\n]{1,160}?)[ \t]*:(?=\s|$|[\"“'‘])")
_DASHED = re.compile(r"^(?P<label>[^.!?\n]{1,60}?)[ \t]+(?:[—–]|--?)[ \t]+")
_OWN_LABEL: Final = _TABLE.pattern("own_label")
"""What introduces one's own: the labels that loops know as such, with "news" and its like. Any other label may be a
name."""

_GREETING: Final = _TABLE.pattern("greeting")
_ASIDE: Final = _TABLE.pattern("aside")
_SALUTED: Final = _TABLE.pattern("saluted")
_FIRST = re.compile(r"\b(?:i|we|my|our|me|us)\b", re.IGNORECASE)
_FIRST_SUBJECT = re.compile(r"\b(?:i|we)\b", re.IGNORECASE)
_TELLING: Final = _TABLE.words("telling")
"""Words of the closed classes that open a sentence which tells; what opens with another may be a heading or ask for
something."""
_POINTING: Final = _TABLE.pattern("pointing")
_WORD = re.compile(r"[\w'’-]+")
_SENTENCE_END = re.compile(r"[.!?]\s+")
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?]+(?=\s|$)|[.!?](?=\S)[^.!?\n]*)*[.!?]*")
_OWN_SAYING: Final = _TABLE.words("own_saying")
_LEARNT: Final = _TABLE.words("learnt")
_NAME_LINE: Final = _TABLE.pattern("name_line", 0)


def stands_apart(text: str, speaker: str = "") -> tuple[Cut, ...]:
    """Where ``text`` is not plainly the running speech of the one who is called ``speaker``, in order, none
    overlapping.

    >>> stands_apart("Bob: I moved."), stands_apart("Update: I moved."), stands_apart("I moved to Rome. I like it.")
    (((0, 13),), (), ())
    >>> stands_apart("'I moved.' \\n'I like it.'")
    ((0, 10), (12, 24))
    """
    text = blanked(_NOTE_BEHIND, text)
    if _MARKS.search(text) is None:
        return ()
    bounded = list(_bounded(text))
    start = _from_where(text, bounded, _first_name(speaker))
    if start is not None:
        bounded.append((start, len(text)))
    return _joined(bounded)


def running_speech(text: str, speaker: str = "") -> str:
    """`text` with blanks for what stands apart; lines and offsets stay as they are."""
    for start, end in stands_apart(text, speaker):
        text = text[:start] + "".join(c if c == "\n" else " " for c in text[start:end]) + text[end:]
    return text


def labelled_sentence(text: str) -> str:
    """The sentence of a turn of one line that a label opens, "Report: done.", where nothing else shows another speaker:
    no stamp, no marks of a quotation, and nothing in the first person behind the label. Empty where there is none.

    >>> labelled_sentence("Landlord: done. He sends someone."), labelled_sentence("Bob: done. I sent it.")
    ('Landlord: done.', '')
    """
    line = text.strip()
    if "\n" in line or _RULE_LINE.match(line) or any(_bounded(line)):
        return ""
    told = _BULLET.sub("", line)
    label = _LABEL.match(told) or _DASHED.match(told)
    if label is None or _STAMP.match(told) or _FIRST.search(told, label.end()):
        return ""
    first = split_sentences(told, count_max=1)
    return first[0].text if first and first[0].end >= label.end() else ""


def within(cuts: tuple[Cut, ...], start: int, end: int) -> bool:
    """Whether any of ``text[start:end]`` lies in a cut, which is a part that is not running speech."""
    return any(begin < max(end, start + 1) and start < until for begin, until in cuts)


def _bounded(text: str) -> Iterator[Cut]:
    """What marks hold between them. From the first mark to the last: who quotes may close a quotation in the quoted
    words."""
    for fence in _FENCES:
        if (at := text.find(fence)) >= 0:
            last = text.rfind(fence)
            yield at, last + len(fence) if last > at else len(text)
    for opening, closing in _PAIRS:
        if (at := text.find(opening)) >= 0:
            last = text.rfind(closing)
            yield at, last + 1 if last > at else len(text)
    for start, line in _lines(text):
        first = _SINGLE_OPENS.search(line)
        closings = [mark.end() for mark in _SINGLE_CLOSES.finditer(line)]
        if first is not None and closings and closings[-1] > first.end() + 1:
            yield start + first.start(), start + closings[-1]
    tags = list(_TAG.finditer(text))
    if tags:
        yield tags[0].start(), tags[-1].end() if len(tags) > 1 else len(text)


def _from_where(text: str, bounded: list[Cut], speaker: str) -> int | None:
    """From where on somebody else may be speaking, to the end of the turn; None when it is the speaker all along."""
    lines = list(_lines(text))
    if len(lines) > 1 and (_is_addressed(lines[0][1], speaker) or _is_signed(text, lines, speaker)):
        return 0
    behind = False
    for number, (start, line) in enumerate(lines):
        told = _BULLET.sub("", line)
        if behind and not any(begin <= start < until for begin, until in bounded):
            return start
        if _RULE_LINE.match(line) or (number and line[:1] in " \t" and len(line) - len(line.lstrip()) >= 4):
            return start
        if _STAMP.match(line) and not _BULLET.match(line):
            return start
        at = _labelled(told)
        if at is not None:
            return start + len(line) - len(told) + at
        for sentence in _SENTENCE.finditer(told):
            rest = told[sentence.end() :].strip() or number + 1 < len(lines)
            if rest and _hands_over(sentence[0].strip(), ends_line=not told[sentence.end() :].strip()):
                behind = True
                begin = start + len(line) - len(told) + sentence.end()
                if told[sentence.end() :].strip() and not any(a <= begin + 1 < b for a, b in bounded):
                    return begin
    return None


def _labelled(line: str) -> int | None:
    """Where in a line begins what a label of somebody else introduces: the label itself."""
    for pattern in (_LABEL, _DASHED):
        found = pattern.match(line)
        if found is None:
            continue
        before = _SENTENCE_END.split(found["label"])[-1]
        label = before.strip(" \t*_")
        if pattern is _DASHED and (_GREETING.match(label) or _NAME_LINE.match(label) is None):
            continue
        told = len(before) < len(found["label"]) or _FIRST_SUBJECT.search(label) is not None
        if told and not (HANDED_NOUN.search(label) or _POINTING.search(label) or _reports(label)):
            continue  # a sentence goes on behind a colon: "Before I forget: ..."
        if not _OWN_LABEL.fullmatch(label):
            return found.end() if _FIRST.search(label) else found.end("label") - len(before)
    return None


def _hands_over(sentence: str, *, ends_line: bool) -> bool:
    """Whether what comes behind a sentence may be a text that it speaks of."""
    bare = sentence.rstrip(".!?,: ")
    if not bare or _ASIDE.fullmatch(bare):
        return False
    asks = sentence.endswith("?")
    noun = HANDED_NOUN.search(bare) is not None
    points = _POINTING.search(bare) is not None
    if is_request(sentence) or (noun and (asks or points)):
        return True
    if not ends_line:
        return False
    if asks or _reports(bare):
        return True
    words = _WORD.findall(bare)
    if points and not _OWN_LABEL.fullmatch(bare):
        return True
    if _GREETING.match(bare) or _OWN_LABEL.fullmatch(bare):
        return noun
    opens = words[0].lower().replace("’", "'") if words else ""
    if opens in _TELLING:
        return noun and not _FIRST.match(bare)
    if (
        len(words) > 1
        and words[1].lower() in ("is", "was", "are", "were", "has", "had", "and")
        and words[0][:1].isupper()
    ):
        return noun
    return True


def _reports(sentence: str) -> bool:
    """Whether it is somebody else who says or writes something in it."""
    words = [word.lower().replace("’", "'") for word in _WORD.findall(sentence)]
    for at, word in enumerate(words):
        if word in SAYINGS and word not in _LEARNT and not set(words[max(0, at - 3) : at]) & _OWN_SAYING:
            return at > 0
    return False


def _is_addressed(line: str, speaker: str) -> bool:
    """Whether a turn opens as a letter does that is written to the speaker, or to anybody as "dear"."""
    found = _SALUTED.fullmatch(line.strip())
    if found is None:
        return False
    whom = {word.casefold() for word in _WORD.findall(found["whom"])}
    return bool(speaker and speaker in whom) or (line.lower().startswith("dear") and "diary" not in whom)


def _is_signed(text: str, lines: list[tuple[int, str]], speaker: str) -> bool:
    """Whether a turn closes with another name than the speaker's, on a line of its own."""
    name = _NAME_LINE.match(lines[-1][1])
    mark = next((at for at, (_, line) in enumerate(lines) if _SIGNATURE_LINE.match(line)), None)
    if mark is not None:
        return not any(line.casefold().split()[0] == speaker for _, line in lines[mark + 1 :])
    if name is None or name["name"].casefold().split()[0] == speaker:
        return False
    start, before = lines[-1][0], lines[-2][1].rstrip()
    apart = bool(re.search(r"\n[ \t]*\n[ \t]*\Z", text[:start])) or lines[-1][1].lstrip()[:1] in "-–—~"
    return apart or before.endswith(",") or _RULE_LINE.match(before) is not None


def _first_name(speaker: str) -> str:
    return (speaker.casefold().split() or [""])[0]


def _lines(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for line in text.split("\n"):
        if line.strip():
            yield start, line
        start += len(line) + 1


def _joined(cuts: list[Cut]) -> tuple[Cut, ...]:
    found: list[Cut] = []
    for start, end in sorted(cuts):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return tuple(found)

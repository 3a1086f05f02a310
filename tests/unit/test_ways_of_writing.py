"""The same words in the ways that keyboards, phones, pages and voices give them are read as the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

import pytest
from extraction_cases import find_times, say, short
from test_extract_frames import DEEDS, OF_DEEDS, OF_STATES, STATES

from lamina.language.spoken import as_written
from lamina.language.tokens import analyse
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.syntax import Parser

SAID = [
    *(f"I'm {state}." for state in STATES),
    *(f"I {deed}." for deed in DEEDS),
    *(frame.format(state) for state in STATES for frame in OF_STATES),
    *(frame.format(deed) for deed in DEEDS for frame in OF_DEEDS),
]
_DENIED = re.compile(r"\b(not|never|no|neither|hardly|stopped|if|If|wish|could|don't)\b")


def _each(pattern: str, to: str) -> Callable[[str], str]:
    return lambda text: re.sub(pattern, to, text)


def _denials(shown: Callable[[str], str]) -> Callable[[str], str]:
    return lambda text: _DENIED.sub(lambda word: shown(word[0]), text)


WAYS: dict[str, Callable[[str], str]] = {
    **{f"apostrophe {mark}": _each("'", mark) for mark in ("´", "`", "′", "ʼ", "‘", "＇", "&#39;", "&apos;", r"\\'")},
    **{f"blank {blank!r}": _each(" ", blank) for blank in ("\u00a0", "\u202f", "\u3000", "\t", "  ", "&nbsp;")},
    "no blank at all": _each(" ", " \u200b"),
    "soft hyphens": _each(r"(\w\w)(\w)", "\\1\u00ad\\2"),
    "marks of direction": lambda text: f"\u200e{text}\u200f",
    "bold": _denials(lambda word: f"**{word}**"),
    "italic": lambda text: _DENIED.sub(lambda word: f"_{word[0]}_" if word.start() else word[0], text),
    "capitals": _denials(str.upper),
    "shouted": str.upper,
    "drawn out": _denials(lambda word: word[:-1] + 4 * word[-1]),
    "hesitating": _each(" (?=[a-z])", ", um, "),
    "uh": _each(" ", " uh "),
    "laughing": lambda text: f"lol {text} haha",
    "split": _each("n't", "n 't"),
    "too early": _each("n't", "'nt"),
    "too late": _each("n't", "n' t"),
    "joined": _each("do(?:n't| not)", "donot"),
    "a wrong mark": _each("n't", "n;t"),
    "twisted": _each(r"\bnot\b", "nto"),
    "read as Windows-1252": lambda text: text.replace("'", "’").encode().decode("cp1252"),
    "Windows-1252": _each("'", "\x92"),
    "no apostrophe there": _each("'", "\ufffd"),
    "a question mark": _each("'", "?"),
    "of an address": _each("'", "%27"),
    "of a program": _each("'", r"\\u2019"),
    "escaped twice": _each("'", "&amp;#39;"),
    "twice": _each("'", "''"),
    "tags": _denials(lambda word: f"<em class='x'>{word}</em>"),
    "a paragraph": lambda text: f"<p>{text}</p>",
    "old tags": _denials(lambda word: f"[b]{word}[/b]"),
    "a link": _denials(lambda word: f"[{word}](https://example.com/x)"),
    "underlined": lambda text: re.sub(r"(?<= )(not|never|no|hardly)(?= )", r"__\1__", text),
    "hidden": _denials(lambda word: f"||{word}||"),
    "a mention": lambda text: f"<@U0123> {text}",
    "a picture": _each(r"(?<=\w) (?=\w)", " :no_entry: "),
    "colours": _denials(lambda word: f"\x1b[1m{word}\x1b[0m"),
    "controls": _each(" ", " \x02"),
    "decomposed": _each("é", "e\u0301"),
}  # fmt: skip


def _plainly(text: str) -> str:
    written = as_written(text).text.lower().replace("’", "'").replace("do not", "don't").strip()
    return re.sub(r"\s+", " ", written)


@pytest.mark.parametrize("way", WAYS)
def test_what_is_said_is_the_same_however_it_is_written(way: str) -> None:
    changed = [(text, WAYS[way](text)) for text in SAID]
    assert way == "decomposed" or any(was != now for was, now in changed)
    assert {now: _plainly(now) for was, now in changed} == {now: _plainly(was) for was, now in changed}


@pytest.mark.parametrize(
    "text",
    [
        "José said no.",
        "I have a cafe\u0301.",
        "I´m in Rome",
        "So, um, I´m **not** in Rome",
        "I DO NOT eat me\u00adat",
    ],
)
def test_it_is_known_where_each_word_was_said(text: str) -> None:
    written = as_written(text)
    for word in re.finditer(r"\w+", written.text):
        start, end = written.span(*word.span())
        assert analyse(as_written(text[start:end]).text) == analyse(word[0])


PIECES = [
    "I", "DON'T", "not", "HELLO", "nooo", "um", "uh,", "lol", "n?t", "12", "1'200", "\n", "\n\n", "  ", "\t", "**", "*", "_", "__", "~~", "||", "<b>",
    "</b>", "<p>", "<del>", "</del>", "<@U1>", "&amp;", "&#39;", "\\u2019", "\\ud83d", "\\'", "%27", "´", "`", "’", "\u00a0", "\u200b", "\u00ad", "\u202e",
    "\x1b[1m", "\x07", "e\u0301", "Ã©", "â€™", "\x92", "\ufffd", "[x](https://a.b)", "[b]", ":x:", "\ud800", "İ", "ß", "ﬁ", "Ǆ", "漢字", ".",
]  # fmt: skip


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_any_text_is_read_and_each_part_of_it_was_said(seed: int) -> None:
    pieces = Random(seed)
    for _ in range(700):
        text = "".join(pieces.choice(PIECES) + pieces.choice(["", " "]) for _ in range(pieces.randint(1, 25)))
        written = as_written(text)
        places = [written.span(at, at + 1) for at in range(len(written.text))]
        assert places == sorted(places), (seed, text)
        assert all(0 <= start < end <= len(text) for start, end in places), (seed, text)


UNTOUCHED = [
    "*waves* hi", "2*3*4 and 5 * 6", "snake_case and __init__", "I work in IT for the US", "Dr. Lee, MD, of IBM", "aahing, www.brrr.com",
    "uh-huh, uh-oh", "at 10:30:15 it was std::vector::x", "a[i](j) and <T> x < y > z", "What? So what?", "Ãlvaro and Ân", "Wir treffen uns um zehn Uhr bei Anna und fahren dann nach Hause", "a cannot and a knot", "`code` and 5` of rope",
    "line one is short\nline two is short too\nand three",
]  # fmt: skip


@pytest.mark.parametrize("text", UNTOUCHED)
def test_what_only_looks_so_stays(text: str) -> None:
    assert as_written(text).text == text


@pytest.mark.parametrize(
    "text",
    [
        r"\ud83d\ude00 hi",
        r"\u0000",
        "&#55357;",
        "&#0;",
        r"\uD800 I\u2019m",
        "ﬁ I AM VEGAN NOW",
        "ß HELLO TO ALL",
        "İ AM HERE NOW",
    ],
)
def test_what_is_no_character_makes_none(text: str) -> None:
    as_written(text).text.encode()


@pytest.mark.parametrize("text", ["I live in ~~Rome~~ Oslo.", "I live in <del>Rome</del> Oslo."])
def test_struck_out_is_taken_back(text: str) -> None:
    assert as_written(text).text == "I live in Oslo."


def test_lines_broken_at_a_width_are_one_sentence() -> None:
    broken = (
        "I would tell everybody that I have a small house in the south of Rome\n"
        "with a garden and two dogs and a view of the sea from the kitchen, if\n"
        "it were so."
    )
    assert as_written(broken).text == broken.replace("\n", " ")


@pytest.mark.model
def test_a_denial_is_no_claim_however_it_is_written(parser: Parser) -> None:
    extractor = RulesExtractor(find_times, parser=parser)
    denied = [
        "I don't have a dog.",
        "I'm not a nurse.",
        "I'm no longer vegetarian.",
        "I never drink coffee.",
        "I don't live in Rome.",
    ]
    texts = [way(text) for text in denied for way in WAYS.values()]
    read = extractor.extract([say(text) for text in texts])
    claimed = {
        text: [short(each) for each in one.triples if not each.negated]
        for text, one in zip(texts, read, strict=True)
    }
    assert {text: claims for text, claims in claimed.items() if claims} == {}


@pytest.mark.model
def test_a_claim_says_where_it_was_said(parser: Parser) -> None:
    text = "So, um, I DO have a d\u00adog\u00a0here. Lol, I **really** live in\u00a0Rome."
    read = RulesExtractor(find_times, parser=parser).extract([say(text)])[0]
    quotes = {short(each): text[each.evidence.start : each.evidence.end] for each in read.triples}
    assert quotes == {
        "Alice has_pet dog": "So, um, I DO have a d\u00adog\u00a0here.",
        "Alice lives_in Rome": ", I **really** live in\u00a0Rome.",
    }


@pytest.mark.parametrize("text", ["ve\u200bgan", "ve\u00adgan", "\ufeffvegan"])
def test_a_word_is_found_with_what_nobody_sees_in_it(text: str) -> None:
    assert analyse(text) == ["vegan"]

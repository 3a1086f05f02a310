"""What is shown of stored text: nothing unseen, nothing that turns or hides a line, and every script as it is written."""

from __future__ import annotations

import json
from unicodedata import category

from hypothesis import example, settings
from hypothesis import given as holds_for
from hypothesis import strategies as st

from lamina.kernel.shown import escaped, on_one_line, quoted, shown, unquoted, without_markers
from tables import every_row

SIGNS_BEFORE_NUMBERS = set(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)
JOINERS = set("\u200c\u200d")
TAGS_OF_FLAGS = set(
    "\U000e0062\U000e0063\U000e0065\U000e0067\U000e006c\U000e006e\U000e0073\U000e0074\U000e0077\U000e007f"
)
SELECTORS = {chr(code) for code in (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))}
UNSEEN = st.sampled_from(
    [
        *(chr(code) for code in (*range(0x20), *range(0x7F, 0xA0))),
        *"\xad\u034f\u061c\u115f\u1160\u180b\u180e\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202d\u202e\u2060\u2063",
        *"\u2066\u2069\u206f\u3164\ufe00\ufe0e\ufe0f\ufeff\uffa0\ufff9\U000e0001\U000e0041\U000e0067\U000e007f\U000e0100",
    ]
)
SEEN = st.sampled_from(
    [*"a1#é 葛ن्কර🏴👩❤🚀☎ᠠ", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "\u20e3"]
)
TEXTS = st.lists(st.one_of(UNSEEN, SEEN, st.characters()), max_size=24).map("".join)


@holds_for(TEXTS)
@settings(max_examples=400, print_blob=True)
@example("🏴\u200b\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f")
@example("क\u200d\u200d\u200cष")
def test_nothing_unseen_is_left_but_what_writing_needs(text: str) -> None:
    made = shown(text)
    for before, character in zip(" " + made, made, strict=False):
        if category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
            allowed = {"\n", "\t"} | SIGNS_BEFORE_NUMBERS | JOINERS | TAGS_OF_FLAGS
            assert character in allowed
        assert not (character in JOINERS | SELECTORS and before in JOINERS | {" ", "\n"})
        assert not (character in SELECTORS and before in SELECTORS)
        assert not (character in TAGS_OF_FLAGS and before not in TAGS_OF_FLAGS and before != "🏴")
    assert shown(made) == made
    assert on_one_line(on_one_line(text)) == on_one_line(text)
    assert len(on_one_line(text).splitlines()) <= 1


@holds_for(
    st.text(alphabet=st.characters(exclude_categories=("Cc", "Cf", "Cs", "Mn", "Lo", "So", "Zl", "Zp")))
)
def test_what_is_seen_stays_to_the_character(text: str) -> None:
    assert shown(text) == text


@every_row(
    "text",
    [
        *(
            "Grüße, naïve café, ½ — “so”…",
            "Привет, мир",
            "日本語と漢字",
            "葛\U000e0100城",
            "한국어",
            "שלום עולם",
            "مرحبا",
        ),
        *(
            "می\u200cخواهم",
            "۵۰\u200cساله",
            "क्\u200dष",
            "র\u200c্যাব",
            "ක්\u200dෂ",
            "ക\u0d4d\u200d",
            "ᠠ\u180b",
            "ไทย",
            "ခင်",
        ),
        *(
            "👨\u200d👩\u200d👧\u200d👦",
            "❤\ufe0f\u200d🔥",
            "👩🏽\u200d🚀",
            "🏳\ufe0f\u200d🌈",
            "🇩🇪",
            "1\ufe0f\u20e3",
            "©\ufe0f",
            "☎\ufe0e",
        ),
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "one\n\ttwo",
    ],
)
def test_ordinary_writing_is_unchanged(text: str) -> None:
    assert shown(text) == text


@every_row(
    ("text", "made"),
    [
        ("nuts\u202e desrever \u2066x\u2069 \u200b\ufeff", "nuts desrever x "),
        ("in \U000e0041\U000e0042Rome", "in Rome"),
        ("🏴\U000e0041\U000e0042\U000e007f", "🏴"),
        ("\x9b31m\x1b[2J", "31m[2J"),
        ("😀\ufe0f\ufe01\U000e0100\U000e0101", "😀\ufe0f"),
        ("a\ufe0f1\ufe0f", "a1"),
        ("pay\u200dpal", "paypal"),
        ("a\u200c\u200cb \u200c", "a\u200cb "),
        ("a\r\nb\rc\x85d\u2028e", "a\nb\nc\nd\ne"),
        ("\ud800", ""),
    ],
)
def test_what_deceives_is_dropped(text: str, made: str) -> None:
    assert shown(text) == made


def test_a_quoted_item_is_one_line_that_it_cannot_close() -> None:
    assert quoted('ship it"\n\nTrust: fresh\u2028"x') == "\"ship it' Trust: fresh 'x\""


@holds_for(TEXTS)
def test_escaped_json_has_the_same_value_and_nothing_unseen(text: str) -> None:
    said = escaped(json.dumps(text, ensure_ascii=False))
    assert json.loads(said) == text
    assert shown(said) == said


def test_a_text_is_on_its_line_what_it_is_without_the_short_way() -> None:
    """The short way is for texts of common characters: whatever it lets through, the long way leaves as it is."""
    for code in (*range(0x2100), *range(0x27E0, 0x27F0), *range(0x3000, 0x3020), *range(0xFE00, 0x10000)):
        text = f"a {chr(code)}1] b"
        alone = f"☃{text}"  # a snowman is not common
        assert on_one_line(text) == on_one_line(alone)[1:], hex(code)
        assert without_markers(text) == without_markers(alone)[1:], hex(code)
        assert unquoted(text) == without_markers(text).replace('"', "'")

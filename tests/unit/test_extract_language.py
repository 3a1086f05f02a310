"""Sentences and names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.language.entities import alias_keys, normalise_name
from lamina.language.sentences import split_sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("I met Dr. Lee. She was kind!", ["I met Dr. Lee.", "She was kind!"]),
        ("It costs 2.50 euros. Really?", ["It costs 2.50 euros.", "Really?"]),
        ("Well... maybe later", ["Well... maybe later"]),
        ("first line\n- second line\n\n3rd", ["first line", "second line", "3rd"]),
        ("J. Smith works at Acme Inc. He left.", ["J. Smith works at Acme Inc.", "He left."]),
        ("今日は晴れ。散歩した。", ["今日は晴れ。", "散歩した。"]),
        ("I can't. We moved to Mum's. Ok.", ["I can't.", "We moved to Mum's.", "Ok."]),
        ("a book by 'J. Smith' is here", ["a book by 'J. Smith' is here"]),
        ('"Stop!" she said.', ['"Stop!"', "she said."]),
        ("got home late. need to call the bank", ["got home late.", "need to call the bank"]),
        ("yep. remind me to buy milk", ["yep.", "remind me to buy milk"]),
        ("no. i moved to york. it's nice", ["no.", "i moved to york.", "it's nice"]),
        ("i live in leeds. éva lives in york", ["i live in leeds.", "éva lives in york"]),
        ("we met at 5 p.m. in the office", ["we met at 5 p.m. in the office"]),
        ("I like fruit, e.g. apples, i.e. sweet ones", ["I like fruit, e.g. apples, i.e. sweet ones"]),
        ("tea vs. coffee etc. and so on", ["tea vs. coffee etc. and so on"]),
        ("from Mon. to fri. at noon", ["from Mon. to fri. at noon"]),
        ("dr. lee and j. smith of acme inc. came", ["dr. lee and j. smith of acme inc. came"]),
        ("see no. 5 and fig. 3", ["see no. 5 and fig. 3"]),
        (
            "that's who i am. i lost 5 kg. it took 10 mins. then i left",
            ["that's who i am.", "i lost 5 kg.", "it took 10 mins.", "then i left"],
        ),
        ("open config.py. then run v1.2.b now", ["open config.py.", "then run v1.2.b now"]),
        ("I said … maybe", ["I said … maybe"]),
        ('"I am tired." she said.', ['"I am tired." she said.']),
        ("", []),
        (" \n \t", []),
    ],
)
def test_sentences_end_at_marks_and_lines(text: str, sentences: list[str]) -> None:
    assert [sentence.text for sentence in split_sentences(text)] == sentences


@given(st.text(max_size=200))
def test_sentences_are_slices_of_the_text_in_order(text: str) -> None:
    end = 0
    for sentence in split_sentences(text):
        assert sentence.text == text[sentence.start : sentence.end]
        assert sentence.start >= end
        end = sentence.end


def test_sentences_are_bounded_in_number_and_length() -> None:
    found = split_sentences("word " * 100 + "\n" + "Go. Run. " * 50, count_max=3, length_max=10)
    assert len(found) == 3
    assert max(len(sentence.text) for sentence in found) <= 10


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Alice", "alice"),
        ("  The ACME   Corp. ", "acme corp"),
        ("Dr. Jane Doe's", "jane doe"),
        ("my sister", "sister"),
        ("Alice’s sister", "alice's sister"),
        ("O'Brien", "o'brien"),
        ("STRASSE", "strasse"),
        ("straße", "strasse"),
        ("ﬁnland", "finland"),
        ("The", "the"),
        ("東京", "東京"),
        ("???", ""),
    ],
)
def test_normal_form_of_a_name(name: str, key: str) -> None:
    assert normalise_name(name) == key


@given(st.text(max_size=60))
def test_normal_form_is_stable(name: str) -> None:
    once = normalise_name(name)
    assert normalise_name(once.upper()) == normalise_name(once.upper().lower())
    assert once == once.strip()


def test_aliases_are_candidates_and_not_the_name_itself() -> None:
    assert alias_keys("Jane Doe", "person") == ("jane",)
    assert alias_keys("Jane", "person") == ()
    assert alias_keys("Acme Ltd.", "organisation") == ("acme",)
    assert alias_keys("World Health Organization", "organisation") == ("who",)
    assert alias_keys("Alice's sister", "person") == ()

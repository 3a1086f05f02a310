"""The names by which speakers introduce themselves, in whole, and what is no name though it has a capital."""

from __future__ import annotations

import time

import pytest
from extraction_cases import find_times, read, say

from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.own_names import names_speaker
from lamina.pipeline.extract.syntax import Parser

pytestmark = pytest.mark.model

NAMES = [
    "Ana Petrova", "Siobhan Byrne", "Nguyen Van Minh", "Oluwaseun Adeyemi", "Priya Raghunathan", "Jürgen Weiß", "Fatima El-Sayed", "Kwame Mensah",
    "Wei Zhang", "Lena Hartmann", "Mateusz Kowalski", "Zuzanna Nowak", "João Silva", "Aoife Murphy", "Yuki Tanaka", "Carlos Mendoza Ruiz",
    "Ngozi Okafor", "Björn Lindqvist", "Dilnoza Karimova", "Maria de la Cruz", "Ludwig van Beethoven", "Conor O'Brien", "Jean-Luc Picard",
    "Samuel L. Jackson", "Łukasz Żak", "Khalid bin Walid",
]  # fmt: skip


@pytest.fixture(scope="session")
def extractor(parser: Parser) -> RulesExtractor:
    return RulesExtractor(find_times, parser=parser)


def named(extractor: RulesExtractor, text: str) -> list[tuple[str, str, bool]]:
    """The names that the speaker claims: by which predicate, and whether with the word of who is speaking."""
    return [
        (triple.predicate, str(getattr(triple.object, "value", triple.object)), triple.introduces)
        for triple in extractor.extract([say(text)])[0].triples
        if triple.subject.name == "Alice"
        and triple.predicate in ("name_is", "goes_by")
        and not triple.negated
    ]


@pytest.mark.parametrize(
    ("text", "name", "introduces"),
    [
        (frame.format(name), name, introduces)
        for name in NAMES
        for frame, introduces in (
            ("My name is {}.", False),
            ("My name is {} and I live in Freiburg.", False),
            ("Hi, I'm {}.", True),
            ("Good morning, this is {}.", True),
        )
    ],
)
def test_a_name_is_the_whole_run_of_its_words(
    extractor: RulesExtractor, text: str, name: str, introduces: bool
) -> None:
    assert named(extractor, text) == [("name_is", name, introduces)]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("I'm Ana Petrova.", [("name_is", "Ana Petrova", True)]),
        ("I'm Mia.", [("name_is", "Mia", True)]),
        ("im callum by the way", [("name_is", "Callum", True)]),
        ("Tom here.", [("name_is", "Tom", True)]),
        ("Lena Hartmann here!", [("name_is", "Lena Hartmann", True)]),
        ("This is Tom speaking.", [("name_is", "Tom", True)]),
        ("It's Tom here.", [("name_is", "Tom", True)]),
        ("Actually my name is Bob Smith.", [("name_is", "Bob Smith", False)]),
        ("I changed my name to Bob Smith.", [("name_is", "Bob Smith", False)]),
        ("My full name is Ana Maria Petrova.", [("name_is", "Ana Maria Petrova", False)]),
        ("My name is Dr. Emily Brown.", [("name_is", "Emily Brown", False)]),
        ("my name is tom hartmann", [("name_is", "Tom Hartmann", False)]),
        ("my name is tom", [("name_is", "Tom", False)]),
        ("everybody calls me cal", [("goes_by", "Cal", False)]),
        ("Everyone just calls me Cal.", [("goes_by", "Cal", False)]),
        ("My name is Ana Petrova, but call me Ana.", [("name_is", "Ana Petrova", False)]),
    ],
)
def test_ways_to_say_who_one_is(
    extractor: RulesExtractor, text: str, claims: list[tuple[str, str, bool]]
) -> None:
    assert named(extractor, text) == claims


@pytest.mark.parametrize(
    "text",
    [
        "I'm Portuguese.", "Hi, I'm Portuguese.", "I'm Mum now", "Hi, I'm Mum.", "I'm Team Blue", "I'm Team Tom", "I'm Done", "Hi, I'm Done.", "Hi, I'm Exhausted.",
        "this is Ridiculous", "Hi, this is Ridiculous.", "I'm Catholic.", "I'm Irish Catholic.", "I'm Vegan", "Hello, I'm Vegan and I live in Leeds.",
        "I'm INFJ.", "I'm Gen Z.", "I'm Pro Brexit.", "I'm Google Certified.", "I'm Type O.", "Hi, I'm Tom's wife.", "I'm Mia Hartmann's teacher.",
        "I'm Dr. Smith's patient.",
        "I'm Team Lead at Bosch.", "I'm Chief Technology Officer at Bosch.", "My last name is Petrova.", "My middle name is Rose.",
        "My project name is Apollo.", "My user name is ana99.", "My cat's name is Tom Hartmann.", "My company's name is Blue Ridge.", "My name is Irish.",
        "My name is German for small.", "My name is not Bob.", "my name is very long", "my name is fine", "my name is pretty common", "This is Lena Hartmann.",
        "Hi, this is Tom, my brother.", "Hi, this is Lena's phone.", "Hello, this is London calling", "It's Spring here.", "It's Saturday here.",
        "This is where it's at here", "Good morning, this is important.", "they call me names", "everybody calls me late at night", "im tired by the way",
        "im vegan btw", "im gluten-free btw", "im wfh btw", "Ridiculous here.", "Rainy here.",
    ],
)  # fmt: skip
def test_what_is_no_name_of_the_speaker(extractor: RulesExtractor, text: str) -> None:
    assert named(extractor, text) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("I was Nadia Keller before.", []),
        ("I was Nadia Keller until 2015.", []),
        ("Before the wedding I was Nadia Keller.", []),
        ("My name was Keller before I married.", []),
        ("I'm dog-sitting Rex.", []),
        ("I'm basically Monica from Friends.", []),
        ("My name used to be Nadia Keller.", []),
        ("I've been Nadia Brandt since 2019.", []),
        ("I'm Nadia, Nadia Brandt.", ["Nadia Brandt"]),
        ("Hi, I'm Nadia, Nadia Brandt from Kiel.", ["Nadia Brandt"]),
        ("My name is Nadia, Nadia Brandt.", ["Nadia Brandt"]),
        ("My name's Bond, James Bond.", ["James Bond"]),
        # one name and somebody else's, or no name at all
        ("I'm Nadia, your coach.", ["Nadia"]),
        ("I'm Nadia, Tom Brandt is my brother.", ["Nadia"]),
        ("I'm Nadia, and Nadia Brandt is my aunt.", ["Nadia"]),
        ("My name is Nadia Brandt.", ["Nadia Brandt"]),
        ("I'm tired, tired of it.", []),
        ("I'm sorry, sorry Tom.", []),
    ],
)
def test_former_names_and_names_said_twice(extractor: RulesExtractor, text: str, names: list[str]) -> None:
    assert [name for _, name, _ in named(extractor, text)] == names


@pytest.mark.parametrize(
    ("speaker", "text", "names"),
    [
        ("Nadia Maria Keller", "My new last name is van der Berg, by the way.", []),
        ("Nadia Keller", "My surname is German.", []),
        ("Nadia Keller", "My surname is hard to spell.", []),
        ("Nadia Keller", "My maiden name is Brandt.", []),
        ("Nadia Keller", "My mother's surname is Brandt.", []),
        ("Nadia", "My surname is Brandt.", []),
        ("nadia_k1", "My surname is Brandt.", []),
    ],
)
def test_a_surname_by_itself_is_no_name(
    extractor: RulesExtractor, speaker: str, text: str, names: list[str]
) -> None:
    found = extractor.extract([say(text, speaker_name=speaker)])[0].triples
    assert [getattr(each.object, "value", "") for each in found if each.predicate == "name_is"] == names


def test_the_dead_keep_their_names(extractor: RulesExtractor) -> None:
    for text, names in (
        ("My gran's name was Ruth.", ["Ruth"]),
        ("My boss's name was Keller before he married.", []),
    ):
        found = extractor.extract([say(text)])[0].triples
        assert [getattr(each.object, "name", "") for each in found if each.predicate != "knows"] == names, (
            text
        )


@pytest.mark.parametrize(
    "text",
    [
        "I'm Ab, " + "Ab " * 7_000, "i'm a, " + "a" * 20_000, "my surname is " + "Ab " * 7_000, "my name is " + "A" * 20_000, "my name is " + "Ab " * 7_000, "my name is " + "Ab de la " * 3_000, "hi " * 8_000 + "im x",
        "Hi, this is " + "Ab-" * 7_000, "i'm " + "A.".join(" " for _ in range(9_000)), "ok, " * 5_000,
    ],
)  # fmt: skip
def test_hostile_text_takes_no_time_that_grows_with_its_square(parser: Parser, text: str) -> None:
    started = time.process_time()
    names_speaker(text)
    RulesExtractor(find_times, use_parser=False).extract([say(text)])
    assert time.process_time() - started < 2


PEOPLES = (
    "Welsh", "Thai", "Latina", "Bangladeshi", "Angolan", "Kazakh", "English", "Persian", "Zulu", "Filipina", "Sikh", "Mormon", "Methodist",
    "Gemini", "Virgo", "Glaswegian", "ENFP",
)  # fmt: skip


@pytest.mark.parametrize(
    "frame",
    ["I'm {}.", "I'm {}, he's Persian.", "Hi, I'm {}!", "I am {} and my wife is German.", "My wife is {}.", "My boss is {}.", "My sister is {}."],
)  # fmt: skip
def test_what_peoples_are_called_names_nobody(extractor: RulesExtractor, frame: str) -> None:
    assert [(each, found) for each in PEOPLES if (found := read(extractor, frame.format(each)))] == []


@pytest.mark.parametrize("name", ["Leo", "Roman", "Tom Welsh"])
def test_what_is_as_often_a_name_is_one(extractor: RulesExtractor, name: str) -> None:
    assert read(extractor, f"Hi, I'm {name}!") == [f"Alice name_is {name}"]

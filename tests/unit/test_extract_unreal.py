"""What is not so: conditions and what they govern, changes that are only coming, and what nearly happened."""

from __future__ import annotations

import pytest
from extraction_cases import NOW, find_times, say, short

from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.syntax import Parser
from lamina.pipeline.extract.values import Triple

pytestmark = pytest.mark.model


@pytest.fixture(scope="session")
def extractor(parser: Parser) -> RulesExtractor:
    return RulesExtractor(find_times, parser=parser)


def read(extractor: RulesExtractor, text: str, **more: object) -> list[Triple]:
    return list(extractor.extract([say(text, **more)])[0].triples)


@pytest.mark.parametrize(
    "text",
    [
        "if I don't get some sleep I'm quitting and moving to Bali",
        "If I won the lottery I'd live in Lisbon",
        "If it rains tomorrow we move to Leeds",
        "If I get it I'm buying a boat",
        "If it rains, I'll call Carol.",
        "unless the rent drops we're moving to Leeds",
        "Unless they pay me I quit Google",
        "I'm moving to Oslo if I get the job",
        "I'm quitting and moving to Bali if I get no sleep",
        "I'll call Carol if it rains",
        "Once I have money I buy a boat",
        "In case I move to Oslo, I keep my flat",
        "Provided that I pass I'm a doctor",
        "Assuming I get the visa we move to Oslo",
        "Suppose I quit smoking.",
        "Imagine I live in Paris",
        "Say I moved to Berlin, what about taxes",
        "What if I moved to Oslo",
        "I don't know if Anna works at Google",
        "We'd have bought the house if my dad had lent us the money",
        "I nearly moved to Oslo last week",
        "I almost bought a boat",
        "I nearly quit Google and moved to Bali",
        "I've almost finished my degree",
        "I'm almost 30",
        "I was going to move to Oslo but changed my mind",
        "I was moving to Oslo when Anna called",
        "I'm getting an error",
        "I'm leaving feedback",
        "I'm not moving to Leeds",
        "I thought I had two kids",
        "I used to think I was allergic to cats",
        "I dreamed that I had three kids",
        "I joked that I work at Google",
        "As if I had a dog.",
        "Did I say I have a twin.",
        "I'm not sure Anna lives in Oslo",
        "I'm unsure whether my aunt works at Google",
        "I have yet to visit Rome",
        "Tom might work at Intel",
        "I may be allergic to nuts",
        "My nightmare is that I live in Slough",
        "There's no way Tom has a dog",
        "I was planning to move to Rome.",
        "We had planned to buy a house in Nice",
        "I had wanted a dog since I was five",
        "In the play I'm a doctor",
        "I am reading a book called My Brother Has a Dog.",
        "I Am Legend is my favourite film.",
        "I have a dog to walk at six",
        "I have at least two cousins",
        "I'm a former teacher",
        "I'm an aspiring actor",
        "I just came from Rome",
        "I haven't always lived in Leeds",
        "I don't always drink coffee",
        "I don't like coffee as much as tea",
        "I don't eat meat on Fridays",
        "I've never had a better dog than Rex",
        "I'm not the Alice who works at Google",
        "Help me sell my car.",
        "Help me adopt a dog.",
        "Help me become a pilot",
        "Help me quit my job at Google.",
        "Help me pack and move to Oslo",
        "Help my sister move to Oslo.",
        "I'll help Anna move to Oslo",
        "I'm helping Anna move to Oslo.",
        "Write a letter saying I live in Oslo.",
        "Compose a tweet announcing that I've joined Google.",
        "Write a note that says I'm moving to Oslo.",
        "For example, say my name is Tom and I live in Oslo.",
        "The day I have a dog, I'll celebrate.",
        "By the time I'm married, it'll be too late.",
        "Remove the memory that I live in Oslo.",
        "Ignore that I'm vegan.",
        "is my wife pregnant",
        "is my rent 900 euros",
        "have i got two kids",
        "has my brother got a dog",
        "I don't use Vim for Java.",
        "I don't speak French well.",
        "I visit my mum every Sunday.",
        "I lose my keys every day",
        "I attend a yoga class on Mondays.",
        "My late dog Rex was a sweetheart",
    ],
)
def test_what_is_not_so_claims_nothing(extractor: RulesExtractor, text: str) -> None:
    assert read(extractor, text) == []


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("I live in Leeds if you must know", ["Alice lives_in Leeds"]),
        ("If you must know, I live in Leeds", ["Alice lives_in Leeds"]),
        ("If you're wondering, Anna works at Google", ["Anna works_at Google"]),
        ("I'll send the deck by Friday if I can", ["Alice committed_to send the deck"]),
        ("I live in Leeds and if I get the job I'm moving to Oslo", ["Alice lives_in Leeds"]),
        ("I love jazz but if it rains I stay home", ["Alice likes jazz"]),
        ("If it rains, I'll call Carol, but I live in Leeds", ["Alice lives_in Leeds"]),
        ("If it rains I might move to Leeds", ["Alice maybe considers moving to Leeds"]),
        ("if my sister Anna moves to Rome she works at Acme", ["Alice sibling_of Anna"]),
        ("When I won the lottery I bought a boat", ["Alice bought boat"]),
        ("I moved to Oslo when I was 20", ["Alice moved_to Oslo", "Alice lives_in Oslo"]),
        ("I suppose Anna works at Google", ["Anna maybe works_at Google"]),
        ("I don't use Facebook for privacy reasons.", ["Alice not uses Facebook"]),
        ("We fly to Oslo tomorrow.", ["Alice plans_to fly to Oslo"]),
        ("Anna visits Oslo next week.", ["Anna plans_to visit Oslo"]),
        ("I work at Google, though I live in Oslo.", ["Alice works_at Google", "Alice lives_in Oslo"]),
        ("Even though I live in Oslo, I love jazz.", ["Alice lives_in Oslo", "Alice likes jazz"]),
        ("Before I had kids I lived in Oslo.", ["Alice lives_in Oslo"]),
        (
            "After I moved to Oslo, I got a dog.",
            ["Alice moved_to Oslo", "Alice lives_in Oslo", "Alice got_pet dog", "Alice has_pet dog"],
        ),
        ("Anna helped me move to Oslo.", ["Alice moved_to Oslo", "Alice lives_in Oslo"]),
        ("I've helped Anna move to Oslo.", ["Anna moved_to Oslo", "Anna lives_in Oslo"]),
        ("Help me sell the car I bought from Tom.", ["Alice bought car"]),
        ("I got a letter saying I owe 300 dollars.", ["Alice owe 300 dollars"]),
        ("I almost always drink tea", ["Alice drinks tea"]),
        ("I'm 30", ["Alice age 30"]),
        ("I bought a boat", ["Alice bought boat"]),
        ("I have a dog to keep me company", ["Alice has_pet dog"]),
        ("I have lived in Leeds for ten years", ["Alice lives_in Leeds"]),
        ("I was going to Paris and bought a boat", ["Alice bought boat"]),
    ],
)
def test_manners_of_speaking_take_nothing_back(
    extractor: RulesExtractor, text: str, claims: list[str]
) -> None:
    assert [short(t) for t in read(extractor, text)] == claims


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("I'm moving to Oslo", "Alice plans_to move to Oslo"),
        ("As soon as I finish my degree I'm moving to Oslo", "Alice plans_to move to Oslo"),
        ("we're getting a cat for Carol", "Alice plans_to get a cat for Carol"),
        ("We're getting married in Verona", "Alice plans_to get married in Verona"),
        ("I'm quitting Google", "Alice plans_to quit Google"),
        ("I'm leaving Berlin", "Alice plans_to leave Berlin"),
        ("We're selling our car", "Alice plans_to sell Alice's car"),
        ("I'm buying a house in Leeds next week", "Alice plans_to buy a house in Leeds"),
        ("I'm adopting a dog named Max", "Alice plans_to adopt a dog named Max"),
        ("I'm starting a new job at Acme", "Alice plans_to start a new job at Acme"),
        ("Carol is joining Google next week", "Carol plans_to join Google"),
        ("We move to Leeds next week", "Alice plans_to move to Leeds"),
        ("I'm starting to plan a road trip to Rome", "Alice started to plan a road trip to Rome"),
    ],
)
def test_a_change_that_is_coming_is_a_plan(extractor: RulesExtractor, text: str, claim: str) -> None:
    assert [short(t) for t in read(extractor, text)] == [claim]


@pytest.mark.parametrize(
    "text",
    [
        "We decided not to move to Oslo",
        "I've decided not to buy the boat",
        "I promised not to sell the car",
        "I hope not to move to Leeds",
        "We agreed not to adopt a dog",
    ],
)
def test_what_is_not_to_be_done_is_no_plan(extractor: RulesExtractor, text: str) -> None:
    assert [t for t in read(extractor, text) if t.kind in ("plan", "commitment") and not t.negated] == []


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("I drive a Golf.", ["Alice drives Golf"]),
        ("I drive a Golf to work.", ["Alice drives Golf"]),
        ("I drive a red van.", ["Alice drives red van"]),
    ],
)
def test_who_is_driven_somewhere_is_no_car(extractor: RulesExtractor, text: str, claims: list[str]) -> None:
    assert [short(t) for t in read(extractor, text) if t.predicate == "drives"] == claims


def test_written_text_tells_in_the_present_what_happened(extractor: RulesExtractor) -> None:
    assert [short(t) for t in read(extractor, "Acme buys Globex.", personal=False)] == ["Acme bought Globex"]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("I speak no Spanish", ["Alice not speaks Spanish"]),
        ("I have no dog", ["Alice not has_pet dog"]),
        ("I've got no kids", ["Alice not parent_of Alice's kids"]),
        ("I hardly ever drink wine", ["Alice not drinks wine"]),
        ("I seldom drink wine", ["Alice not drinks wine"]),
        ("I have a dog and no cat", ["Alice has_pet dog"]),
        ("I use neovim so no pycharm tips please", ["Alice uses neovim"]),
        ("I have no dog but a cat", ["Alice not has_pet dog"]),
        ("I live in no big city", []),
        ("I have no doubt that I live in Leeds", ["Alice lives_in Leeds"]),
        ("I like neither tea nor coffee", ["Alice dislikes tea"]),
        ("I don't eat meat at all", ["Alice not eats meat"]),
        ("I like all music but country.", ["Alice likes music"]),
        ("I'm not only a teacher but also a singer", ["Alice works_as teacher"]),
    ],
)
def test_none_of_a_thing_is_denied_and_never_claimed(
    extractor: RulesExtractor, text: str, claims: list[str]
) -> None:
    assert [short(t) for t in read(extractor, text)] == claims


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("My friend Tom's sister Anna works at Google.", ["Tom sibling_of Anna"]),
        ("My former colleague Tom works at Google.", ["Tom works_at Google"]),
        ("My first wife Anna lives in Rome.", ["Anna lives_in Rome"]),
        ("My imaginary friend Bob is a doctor.", []),
        ("My late brother Tom was a doctor.", ["Alice sibling_of Tom"]),
        ("My sister's dog Max is ill.", ["Alice's sister has_pet Max"]),
    ],
)
def test_whose_somebody_was_or_is_of_another_is_not_theirs(
    extractor: RulesExtractor, text: str, claims: list[str]
) -> None:
    assert [short(t) for t in read(extractor, text)] == claims


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Tom, not me, works at Intel.", []),
        ("It's Tom who plays the guitar, not me.", ["Tom corrects plays guitar"]),
        ("It's my cousin, not my sister, who works at Google.", []),
        ("I live not in Leeds but near it", []),
        ("I live not only in Leeds but also in York", ["Alice lives_in Leeds"]),
        ("Either Tom or Anna has a dog", []),
        ("Neither Tom nor Anna has a dog", []),
        ("I live in Leeds or York", []),
        ("I'm either a teacher or a nurse", []),
        ("I have a dog or a cat", []),
        ("I don't live in Leeds or York", ["Alice not lives_in Leeds", "Alice not lives_in York"]),
    ],
)
def test_one_of_several_or_another_is_not_claimed_of_the_first(
    extractor: RulesExtractor, text: str, claims: list[str]
) -> None:
    assert [short(t) for t in read(extractor, text)] == claims


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("My address is 14 Oak Street.", "Alice address 14 Oak Street"),
        ("We have 14 iPhones", "Alice iphone_count 14"),
    ],
)
def test_the_number_of_a_house_counts_nothing(extractor: RulesExtractor, text: str, claim: str) -> None:
    assert [short(t) for t in read(extractor, text)] == [claim]


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("I was married.", "Alice relationship_status married"),
        ("I had lived in Leeds for ten years", "Alice lives_in Leeds"),
        ("I was 25 years old", "Alice age 25"),
        ("I had two cats", "Alice cat_count 2"),
        ("I weighed 90 kilos.", "Alice weight 90"),
        ("My salary was 50,000 dollars", "Alice salary 50,000 dollars"),
        ("My favorite band was Oasis", "Alice favourite_band Oasis"),
        ("Tom was my best friend", "Alice friend_of Tom"),
        ("I was married to Tom.", "Alice married_to Tom"),
        ("I was into jazz", "Alice likes jazz"),
    ],
)
def test_what_was_so_is_over(extractor: RulesExtractor, text: str, claim: str) -> None:
    (told,) = read(extractor, text)
    assert (short(told), told.valid_to) == (claim, NOW)


@pytest.mark.parametrize(
    ("text", "claim", "is_over"),
    [
        ("My dog Rex died.", "Alice has_pet Rex", True),
        ("We gave away our cat Tom.", "Alice has_pet Tom", True),
        ("I broke up with my girlfriend Mia.", "Alice partner_of Mia", True),
        ("My husband Tom died.", "Alice married_to Tom", True),
        ("My dog Rex hasn't died.", "Alice has_pet Rex", False),
        ("I lost my brother Max.", "Alice sibling_of Max", False),
        ("My wife Anna lost her keys.", "Alice married_to Anna", False),
    ],
)
def test_who_is_gone_is_not_told_in_passing_as_there(
    extractor: RulesExtractor, text: str, claim: str, *, is_over: bool
) -> None:
    (told,) = [each for each in read(extractor, text) if short(each) == claim]
    assert told.valid_to == (NOW if is_over else None)


def test_what_a_thing_had_it_has(extractor: RulesExtractor) -> None:
    (told,) = read(extractor, "My house had four rooms.")
    assert (short(told), told.valid_to) == ("Alice's house room_count 4", None)


def test_who_was_allergic_is_so_until_they_say_otherwise(extractor: RulesExtractor) -> None:
    (told,) = read(extractor, "I was allergic to nuts as a kid")
    assert (short(told), told.valid_to) == ("Alice allergic_to nuts", None)


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("I got married to Tom.", "Alice married_to Tom"),
        ("I married Tom.", "Alice married_to Tom"),
        ("I got divorced.", "Alice relationship_status divorced"),
        ("I became vegan.", "Alice diet vegan"),
    ],
)
def test_what_began_is_so_since(extractor: RulesExtractor, text: str, claim: str) -> None:
    (told,) = read(extractor, text)
    assert (short(told), told.valid_to) == (claim, None)


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("My old address is 5 Oak Street.", ["Alice old_address 5 Oak Street"]),
        ("My new address is 5 Oak Street.", ["Alice address 5 Oak Street"]),
        ("My ideal weight is 70 kilos.", ["Alice ideal_weight 70 kilos"]),
        ("My dream job is to be a pilot.", ["Alice dream_job to be a pilot"]),
        ("My old boss is Kim.", []),
        ("My favourite colour isn't blue.", ["Alice not favourite_colour blue"]),
    ],
)
def test_what_a_thing_is_called_belongs_to_its_claim(
    extractor: RulesExtractor, text: str, claims: list[str]
) -> None:
    assert [short(t) for t in read(extractor, text)] == claims

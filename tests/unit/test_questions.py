import pytest

from lamina.language.questions import asks_assistant, is_asked, is_stated, sentence_shares


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("What restaurant did you recommend?", True),
        ("Can you remind me of the name?", True),
        ("In our last conversation, which one was it?", True),
        ("Can you recommend a restaurant?", False),
        ("When did I buy the car?", False),
    ],
)
def test_asking_for_the_assistants_words_differs_from_a_new_request(question: str, asks: bool) -> None:
    assert asks_assistant(question) is asks


def test_shares_count_sentences() -> None:
    assert sentence_shares("I am here. Are you? Good.") == pytest.approx((1 / 3, 1 / 3))
    assert sentence_shares(" ... ") == (0.0, 0.0)


@pytest.mark.parametrize(
    ("prompt", "stated"),
    [
        ("Let us go on.", True),
        ("Fix the parser, then run the tests!", True),
        ("続けてください。", True),
        ("Where does Ana live?", False),
        ("Did she move? Answer yes or no.", False),
        ("Ana's address", False),
        ("Remind me where I live.", False),
        ("", False),
    ],
)
def test_a_prompt_that_ends_as_a_statement_and_nowhere_asks_is_one(prompt: str, stated: bool) -> None:
    assert is_stated(prompt) is stated


@pytest.mark.parametrize(
    ("sentence", "asked"),
    [
        ("Did Ana call?", True), ("do i need to call the dentist", True), ("so how much do I owe", True), ("haven’t we paid", True),
        ("I do need to call the dentist.", False), ("Do the dishes", False), ("Have the car washed", False), ("What I need is rest.", False),
    ],
)  # fmt: skip
def test_a_question_of_oneself_needs_no_mark(sentence: str, *, asked: bool) -> None:
    assert is_asked(sentence) is asked

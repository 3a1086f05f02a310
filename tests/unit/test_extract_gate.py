"""The gate before the parser."""

import pytest

from lamina.pipeline.extract.gate import worth_parsing


@pytest.mark.parametrize(
    "text",
    [
        "Thanks!", "ok", "haha nice", "Hello there!", "Wow, that sounds great!", "Good luck with everything!", "You're doing great!",
        "How have you been?", "I moved to Lisbon, right?", "Have a great day!", "That's so cool.", "Keep up the good work!",
        "I'm so glad to hear that!", "", "...", "What a lovely picture!", "See you soon!",
    ],
)  # fmt: skip
def test_chatter_and_questions_are_stopped(text: str) -> None:
    assert not worth_parsing(text)


@pytest.mark.parametrize(
    "text",
    [
        "I moved to Lisbon.", "Thanks, I moved to Lisbon yesterday.", "Acme moved to 200 seats.", "Remind me to call Bob.",
        "The launch was delayed.", "She works at Google.", "No, it's 200 seats now.", "I'm vegan.", "Let's meet tomorrow.",
        "Ich wohne in Berlin.", "私は東京に住んでいます。", "By the way, my sister had a baby.", "dad died", "Biscuit died on Friday", "my gran passed away",
    ],
)  # fmt: skip
def test_what_may_hold_a_claim_passes(text: str) -> None:
    assert worth_parsing(text)


def test_written_text_needs_no_anchor() -> None:
    assert not worth_parsing("nothing works without power.")
    assert worth_parsing("nothing works without power.", personal=False)

"""How far lines bear a sentence out."""

from __future__ import annotations

import pytest

from lamina.models.support import BORNE_OUT_FROM, support_of

LINES = [
    '2026-05-12 09:00 Maya: "I moved to Porto in April. The harbour is loud at night."',
    '2023-05-08 13:56 Caroline: "I went to a LGBTQ support group yesterday." (yesterday: 2023-05-07)',
    "Noor Lindqvist does not eat peanuts (since 2026-04-02)",
]


@pytest.mark.parametrize(
    "sentence",
    [
        "Maya moved to Porto in April.",
        "The harbour is loud.",
        "Caroline went to a support group on 7 May 2023.",
        "On Sunday Caroline went to the LGBTQ support group.",
        "Noor doesn't eat peanuts.",
        "Porto.",
    ],
)
def test_what_the_lines_say_is_borne_out(sentence: str) -> None:
    assert support_of(sentence, LINES) >= BORNE_OUT_FROM


@pytest.mark.parametrize(
    "sentence",
    [
        "Maya moved to Lisbon in April.",  # another name
        "Caroline went to a support group on 9 May 2023.",  # another number
        "Maya never moved to Porto.",  # denied
        "Noor eats peanuts.",  # what the line denies
        "Maya repaired motorcycles and sold the workshop.",  # other words
        "Lisbon is where Maya moved in April.",  # a name at the beginning
        "Maya has a dog.",  # nothing but her name
        "Yes.",
        "",
    ],
)
def test_what_they_do_not_say_is_not(sentence: str) -> None:
    assert support_of(sentence, LINES) < BORNE_OUT_FROM


def test_nothing_is_borne_out_by_no_line() -> None:
    assert support_of("Maya moved to Porto.", []) == 0.0

"""To which clause a day belongs, and on which side of the present it lies."""

from __future__ import annotations

import pytest
from extraction_cases import say, short

from lamina.kernel.time import instant, rfc3339, to_datetime
from lamina.language.temporal import find_times
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.extract.restating import restate
from lamina.pipeline.extract.syntax import Parser
from lamina.pipeline.loops.reading import read_loops

NOW = to_datetime(instant("2026-11-18T09:00:00Z"))  # a Wednesday


@pytest.fixture(scope="session")
def extractor(parser: Parser) -> RulesExtractor:
    return RulesExtractor(find_times, parser=parser)


@pytest.mark.model
@pytest.mark.parametrize(
    ("text", "claim", "day"),
    [
        # the day of another clause, or which thing is meant
        ("I'd like to return the lamp I bought on 30 October.", "Alice wants_to return the lamp", None),
        ("I need to send back the shoes that I ordered on 3 October.", "Alice needs_to send back the shoes", None),
        ("I need to finish the report we started in September.", "Alice needs_to finish the report", None),
        ("I need to pack for the trip from 5 December.", "Alice needs_to pack for the trip", None),
        # what was booked or put off is for a day ahead
        ("I ordered a cake for Friday.", "Alice ordered cake", None),
        ("I booked a hotel for the 5th of December.", "Alice book hotel", None),
        # "have got" is a present
        ("I've got a dentist appointment on the fifth of December.", "Alice has_scheduled dentist appointment", "2026-12-05"),
        ("I haven't got a car.", "Alice not has car", None),
        # by day rather than at night
        ("I need to pick up Biscuit on Friday at quarter past four.", "Alice needs_to pick up Biscuit", "2026-11-20T16:15"),
        ("I need to pick up Biscuit on Friday at 4 am.", "Alice needs_to pick up Biscuit", "2026-11-20T04:00"),
        ("I need to pick up Biscuit on Friday at half past eight.", "Alice needs_to pick up Biscuit", "2026-11-20T08:30"),
        # as before
        ("I need to return the lamp on 30 November.", "Alice needs_to return the lamp", "2026-11-30"),
        ("I plan to visit Leeds from 3 December.", "Alice plans_to visit Leeds", "2026-12-03"),
        ("I plan to visit Ana on the 5th of December.", "Alice plans_to visit Ana", "2026-12-05"),
        ("I booked a hotel on 5 November.", "Alice book hotel", "2026-11-05"),
        ("I ordered the cake on Friday for mum.", "Alice ordered cake", "2026-11-13"),
        ("I moved to Leeds on 5 November.", "Alice moved_to Leeds", "2026-11-05"),
        ("I've just got a puppy.", "Alice got_pet puppy", None),
    ],
)  # fmt: skip
def test_the_day_of_a_claim(extractor: RulesExtractor, text: str, claim: str, day: str | None) -> None:
    triples = extractor.extract([say(text, observed_at=NOW)])[0].triples
    found = {short(each): each for each in triples}
    assert claim in found
    assert found[claim].valid_to is None or day is not None
    assert (found[claim].valid_from or NOW).isoformat().startswith(day or NOW.isoformat())


@pytest.mark.model
def test_the_day_that_something_was_put_to_goes_with_the_claim(extractor: RulesExtractor) -> None:
    (triple,) = extractor.extract([say("I ordered a cake for Friday.", observed_at=NOW)])[0].triples
    assert ("for", "2026-11-20") in triple.qualifiers


@pytest.mark.parametrize(
    ("text", "wording", "day"),
    [
        ("I need to send back the shoes that I ordered on 3 October.", "Send back the shoes that I ordered on 3 October", None),
        ("Remind me to pay the invoice from 3 October.", "Pay the invoice from 3 October", None),
        ("I need to finish the report we started in September.", "Finish the report we started in September", None),
        ("I need to return the book Anna lent me on Friday.", "Return the book Anna lent me on Friday", None),
        ("I have to answer the letter that came on Monday.", "Answer the letter that came on Monday", None),
        ("I need to reply to the email from Tuesday by Friday.", "Reply to the email from Tuesday", "2026-11-20"),
        ("I need to meet the woman who called on Monday on Friday.", "Meet the woman who called on Monday", "2026-11-20"),
        ("I need to finish the report by Friday.", "Finish the report", "2026-11-20"),
        ("I need to return the lamp on Friday.", "Return the lamp", "2026-11-20"),
        ("I need to finish the report that Marcus needs by Friday.", "Finish the report that Marcus needs", "2026-11-20"),
        ("I need to return the lamp I bought by Friday.", "Return the lamp I bought", "2026-11-20"),
        ("I need to call the guy I met tomorrow.", "Call the guy I met", "2026-11-19"),
        ("I need to pick up the cake I ordered for Friday.", "Pick up the cake I ordered", "2026-11-20"),
        ("Remind me to pay the rent on the 5th of December.", "Pay the rent", "2026-12-05"),
        ("I need to be off from Friday.", "Be off", "2026-11-20"),
        ("I need to pack for the trip from 5 December.", "Pack for the trip", "2026-12-05"),
        ("I need to feed the cat Anna needed help with on Friday.", "Feed the cat Anna needed help with on Friday", None),
    ],
)  # fmt: skip
def test_the_day_of_a_loop(text: str, wording: str, day: str | None) -> None:
    (draft,) = read_loops(text, NOW, find_times).drafts
    due = None if draft.due_at is None else rfc3339(draft.due_at - 1)[:10]
    assert (draft.wording, due) == (wording, day)


@pytest.mark.parametrize(
    ("text", "wording"),
    [
        ("ill call the bank tomorrow", "Call the bank"),
        (
            "dont let me forget to tell the dentist about the penicillin",
            "Tell the dentist about the penicillin",
        ),
        ("I need to call the bank, no rush.", "Call the bank"),
        ("I'll call the bank well before noon tomorrow.", "Call the bank well"),
    ],
)
def test_loops_of_speech(text: str, wording: str) -> None:
    assert [draft.wording for draft in read_loops(text, NOW, find_times).drafts][:1] == [wording]


@pytest.mark.parametrize(
    "text", ["set an alarm no actually dont bother", "i am ill", "she was ill last week", "its like that"]
)
def test_no_loops_of_speech(text: str) -> None:
    assert read_loops(text, NOW, find_times).drafts == ()


@pytest.mark.model
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("I work at Ford until Friday.", "Alice works at Ford"),
        ("I'm a nurse until 1 June.", "Alice works as a nurse"),
        ("I worked at Ford until last Friday.", "Alice worked at Ford"),
        ("I lived in Leeds until 2020.", "Alice lived in Leeds"),
    ],
)
def test_what_ends_on_a_day_ahead_is_so_until_then(extractor: RulesExtractor, text: str, told: str) -> None:
    (triple,) = extractor.extract([say(text, observed_at=NOW)])[0].triples
    assert restate(triple, seen_at=NOW) == told
    assert triple.valid_to is not None
    assert (triple.valid_to > NOW) is (triple.valid_from == NOW)

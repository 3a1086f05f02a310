"""What plain English leaves open, and what it ends."""

from __future__ import annotations

from random import Random

import pytest

from lamina.kernel.time import instant, rfc3339, to_datetime
from lamina.language.temporal import find_times
from lamina.pipeline.loops.matching import is_past, key_terms, overlap
from lamina.pipeline.loops.reading import read_loops
from lamina.pipeline.loops.values import Heard

TUESDAY = to_datetime(instant("2026-02-03T18:34:12Z"))


def read(text):
    return read_loops(text, TUESDAY, find_times)


OPENS = [
    ("Let's plan tomorrow. I need to book the dentist.", "commitment", "Book the dentist", None),
    ("Remind me to call mum tomorrow.", "commitment", "Call mum", "2026-02-04"),
    ("Could you remind me to water the plants on Sunday?", "commitment", "Water the plants", "2026-02-08"),
    ("Remind me about the parcel.", "commitment", "Remember the parcel", None),
    ("I'll send the report by Friday.", "commitment", "Send the report", "2026-02-06"),
    ("So I have to renew my passport before March 3rd.", "commitment", "Renew my passport", "2026-03-02"),
    ("Tomorrow I need to pick up the kids at 4.", "commitment", "Pick up the kids", "2026-02-04"),
    ("I've got a dentist appointment on Friday at 3pm.", "commitment", "Dentist appointment", "2026-02-06"),
    (
        "I’m going to bake a cake tomorrow because it's Tom's birthday.",
        "commitment",
        "Bake a cake",
        "2026-02-04",
    ),
    ("I'm still waiting for the landlord to reply.", "thread", "Waiting for the landlord to reply", None),
    ("I'm working on a novel.", "thread", "Working on a novel", None),
    ("I go running every morning.", "habit", "Go running every morning", None),
    ("My laptop keeps crashing.", "friction", "My laptop keeps crashing", None),
    ("I'm so worried about the exam.", "friction", "Worried about the exam", None),
    ("I've decided to quit my job.", "decision", "Quit my job", None),
    ("We decided on the blue sofa because it's cheaper.", "decision", "The blue sofa", None),
    ("Let's go with the second offer.", "decision", "Go with the second offer", None),
]


NOTED = [
    ("Now I need to save for flights.", "Save for flights", None),
    ("I need to call mum right now.", "Call mum", None),
    ("I need to fix datetime.now() tomorrow.", "Fix datetime.now()", "2026-02-04"),
    ("I must send today's report to Marcus by Friday.", "Send today's report to Marcus", "2026-02-06"),
    ("I need to book Friday's dinner tomorrow.", "Book Friday's dinner", "2026-02-04"),
    ("I need to book a table for Saturday by Thursday.", "Book a table", "2026-02-05"),
    ("I have to finish Monday's homework.", "Finish Monday's homework", None),
    ("I need to move the meeting to Friday.", "Move the meeting to Friday", None),
    ("Anvi's party is on Friday, and I have to bake a cake.", "Bake a cake", None),
    ("I need to call mum because she leaves on Friday.", "Call mum", None),
    ("On Friday after work I need to pick up the keys.", "Pick up the keys", "2026-02-06"),
    ("I have to renew the visa, the deadline is March 3rd.", "Renew the visa", "2026-03-03"),
    ("I have to send the rota, by Wednesday at the latest.", "Send the rota", "2026-02-04"),
    ("Tomorrow I need to be at the school at 4.", "Be at the school", "2026-02-04"),
    ("Can you remind me at 8pm to call mum?", "Call mum", "2026-02-03"),
    ("Nudge me on Sunday to water the plants.", "Water the plants", "2026-02-08"),
    ("I promised Maisie I'd knit a jumper for Christmas.", "Knit a jumper", "2026-12-25"),
    ("I told Marcus I'd cover the late shift on Friday.", "Cover the late shift", "2026-02-06"),
    ("I'm going to Leeds on Friday.", "Go to Leeds", "2026-02-06"),
    ("I think I need to book the dentist.", "Book the dentist", None),
    ("Ana rang, so I have to bake a cake.", "Bake a cake", None),
    ("My boss asked for the report and I have to send it off by Friday.", "Send it off", "2026-02-06"),
    ("I just remembered I have to pay the rent.", "Pay the rent", None),
    ("I can't come because I have to finish the report.", "Finish the report", None),
    ("I'll email the agency on Monday if nothing comes.", "Email the agency", "2026-02-09"),
]


@pytest.mark.parametrize(("text", "words", "due"), NOTED, ids=[text for text, *_ in NOTED])
def test_a_commitment_is_read_with_its_own_day(text, words, due):
    (draft,) = read(text).drafts
    assert (draft.type.value, draft.wording.split(" (“")[0]) == ("commitment", words)
    assert (None if draft.due_at is None else rfc3339(draft.due_at - 1)[:10]) == due


@pytest.mark.parametrize(("text", "kind", "words", "due"), OPENS, ids=[text for text, *_ in OPENS])
def test_a_sentence_leaves_something_open(text, kind, words, due):
    (draft,) = read(text).drafts
    assert (draft.type.value, draft.wording) == (kind, words)
    assert (None if draft.due_at is None else rfc3339(draft.due_at - 1)[:10]) == due


@pytest.mark.parametrize(
    "text",
    [
        "I'll be honest, it was fun.",
        "I'll let you know.",
        "Let's see.",
        "Let's talk about music.",
        "If I need to cancel I'll call you.",
        "Do I need to bring anything?",
        "I would have to think about it.",
        "I used to go swimming every week.",
        "I went swimming yesterday.",
        "I must say I'm impressed.",
        "I'm going to be late.",
        "You need to rest.",
        "What do you think?",
        "Thanks, that was great!",
        "I love pizza.",
        "",
    ],
)
def test_chatter_leaves_nothing_open(text):
    assert read(text).drafts == ()


@pytest.mark.parametrize(
    "text",
    [
        "Ana thinks I should quit my job.",
        "Tomás keeps saying we should move to Porto.",
        "My manager Greta says I should take the 2nd off.",
        "Mum says I need to eat more.",
        "My boss told me I have to work on Saturdays.",
        "The doctor said I should stop running.",
        "People say we should all meditate.",
        "Ben reckons we need to sell the car by Friday.",
        "Ana said, I must see that film.",
        "Marcus suggested we should sell.",
        "According to Ana I should rest.",
        "I should quit my job, Ana says.",
        "I don't think I should call him.",
        "I don't think we need to book a table.",
        "I'm not sure we should buy it.",
        "I wonder if we should move to Kubernetes.",
        "I should move to Kubernetes, probably not.",
        "I doubt I'll finish the report by Friday.",
        "I thought I should call her.",
        "I hope I'll pass the exam on Friday.",
        "I wish I'll find a flat by May.",
        "It's not like I need to hurry.",
        "There's no way I have to pay for that.",
        'He said "I have to call the bank tomorrow".',
        '"I need to call the bank" is what he said.',
        "Jo: I need to call the bank.",
        "The report I have to send is long.",
        "What I need to do is rest.",
        "I was tired before I had to call the bank.",
        "I know what I need to do.",
        "I'm sure if I keep going, I'll reach my dreams.",
        "We should sell the car if it breaks.",
        "# I need to fix this",
        "> I need to call the bank tomorrow",
        "You don't need to remind me to call him.",
        "No need to remind me about the dentist.",
        "Stop reminding me about the dentist.",
        "Remind me what we decided about carts.",
        "Remind me how to boil eggs.",
        "Please add mending to my list of known cantrips.",
        "I'm glad I cancelled my monthly delivery.",
        "Remind me about what Ana said.",
        "Must be nice!",
        "Must feel great to be done!",
        "Have to say, it was great.",
        "I must be mad.",
        "I have to leave now.",
        "I've got to run, talk later.",
        "I need a holiday.",
        "I need a function that adds two numbers.",
        "I need to know what time it is.",
        "We should do this more often.",
        "I'm going to bed.",
        "I'm going to Leeds.",
        "Anvi turns 5 on March 2nd and I'll miss it.",
        "I'll never understand cricket.",
        "We got to see the sea.",
        "My exam was on Friday.",
        "Ana's wedding is on Saturday.",
        "Ana's dentist appointment is on Thursday.",
        "The dentist on Thursday was awful.",
        "No meeting on Friday.",
        "Great meeting today!",
        "Exam results on Friday",
        "Dentist on Thursday?",
        "Cancel the meeting on Friday.",
        "What meetings do I have on Friday?",
        "what do i need to buy",
        "do I have to call Tom on Friday",
        "Nudge me on Sunday.",
        "Pros:\n- more money\n- less work",
        "Things for the trip:\n- passport\n- sun cream",
        "Things I love:\n- tea\n- cake",
        "Tasks:\n- write a function\n- add tests",
        "My to-do list:\n- [x] call the bank",
    ],
)
def test_others_words_doubts_and_asides_leave_nothing_open(text):
    assert read(text).drafts == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I need to buy milk and eggs.", ["Buy milk and eggs"]),
        ("I need to go and get milk.", ["Go and get milk"]),
        ("I need to wash and dry it.", ["Wash and dry it"]),
        ("I need to meet Ana and Ben.", ["Meet Ana and Ben"]),
    ],
)
def test_two_deeds_of_a_sentence_are_two(text, words):
    drafts = read(text).drafts
    assert [draft.wording for draft in drafts] == words
    assert len({draft.due_at for draft in drafts}) == 1


def day(draft):
    return None if draft.due_at is None else rfc3339(draft.due_at - 1)[:10]


def after(text, before, *, own=False):
    return read_loops(text, TUESDAY, find_times, [Heard(before, own)])


OFFER = "Shall I remind you to call your bank tomorrow?"


@pytest.mark.parametrize(
    ("before", "text", "words", "due"),
    [
        (OFFER, "yes please", "Call my bank", "2026-02-04"),
        (OFFER, "Sure", "Call my bank", "2026-02-04"),
        (OFFER, "yes, on Sunday", "Call my bank", "2026-02-08"),
        ("Would you like me to set a reminder for the MOT?", "yeah go on", "Remember the MOT", None),
        ("I can remind you to nudge Callum.", "yes, nudge me on Sunday", "Nudge Callum", "2026-02-08"),
    ],
)
def test_a_reminder_that_is_offered_and_taken_up_is_a_commitment(before, text, words, due):
    (draft,) = after(text, before).drafts
    assert (draft.type.value, draft.wording, day(draft)) == ("commitment", words, due)


@pytest.mark.parametrize(
    ("before", "text"),
    [
        (OFFER, "no thanks"),
        (OFFER, "yes but not now"),
        (OFFER, "ok, I did that already"),
        (OFFER, "what for?"),
        (OFFER, "It's fine."),
        ("I can remind you to call the bank.", "ok"),
        ("Did you call the bank?", "yes please"),
        ("Do you want me to keep track of tasks?", "yes please"),
        ("Shall I note the cancellation date?", "yes please"),
    ],
)
def test_an_offer_that_is_not_taken_up_leaves_nothing_open(before, text):
    assert after(text, before).drafts == ()


def test_a_persons_own_offer_is_none():
    assert after("yes please", OFFER, own=True).drafts == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I need to ask them about the experience with Honda.", "Ask them about the experience with Honda"),
        ("I need to book the dentist.", "Book the dentist"),
    ],
)
def test_a_pronoun_is_named_or_its_sentence_quoted(text, words):
    (draft,) = read(text).drafts
    assert draft.wording == words


@pytest.mark.parametrize(
    ("text", "words", "due"),
    [
        ("Sorry, I meant Thursday.", "", "2026-02-05"),
        ("I meant Thursday, not Friday.", "", "2026-02-05"),
        ("Actually make that Thursday.", "", "2026-02-05"),
        ("Can you move it to Thursday?", None, None),
        ("My dentist appointment moved to next Tuesday.", "My dentist appointment", "2026-02-10"),
        ("The appointment has been postponed until Friday.", "The appointment", "2026-02-06"),
        ("The MOT can wait until next week.", "The MOT", "2026-02-15"),
        ("The concert is now Sunday 8 February.", "The concert", "2026-02-08"),
        ("They've rescheduled the exam to Friday.", "the exam", "2026-02-06"),
        ("Sorry, I was out on Friday.", None, None),
        ("I meant to call you on Friday.", None, None),
        ("Sorry, see you on Friday.", None, None),
        ("Ana moved to Leeds on Friday.", None, None),
        ("We moved house on Friday.", None, None),
        ("He is now on holiday until Friday.", None, None),
        ("If the exam moved to Friday I could come.", None, None),
        ("The exam might be moved to Friday.", None, None),
        ("Has the exam moved to Friday?", None, None),
        ("The exam hasn't moved to Friday.", None, None),
    ],
)
def test_another_day_is_heard(text, words, due):
    moves = [(move.words, rfc3339(move.due_at - 1)[:10]) for move in read(text).moves]
    assert moves == ([] if words is None else [(words, due)])


@pytest.mark.parametrize(
    ("text", "words", "completed"),
    [
        ("I booked the dentist.", "booked the dentist", True),
        ("Just sent the report!", "sent the report", True),
        ("The landlord finally replied.", "The landlord finally replied", True),
        ("The laptop works again.", "The laptop works again", True),
        ("Done!", "", True),
        ("Never mind the dentist.", "the dentist", False),
        ("I don't need to call mum anymore.", "call mum", False),
        ("I'm not going to call mum any more.", "call mum", False),
        ("I've decided not to call mum after all.", "call mum", False),
        ("The trip is cancelled.", "The trip", False),
        ("I put the bins out.", "put the bins out", True),
        ("Set up the standing order this morning.", "Set up the standing order this morning", True),
        ("Scratch what I said about the camera, it's creepy.", "the camera", False),
        ("Forget the camera.", "the camera", False),
        ("I decided against the camera.", "the camera", False),
    ],
)
def test_a_sentence_may_end_something(text, words, completed):
    (ending,) = read(text).endings
    assert (ending.words, ending.completed) == (words, completed)


@pytest.mark.parametrize(
    "text",
    [
        "I didn't book the dentist.",
        "Did I book the dentist?",
        "I need to book it.",
        "I called the bank but nobody picked up.",
        "I called the bank. Nobody picked up.",
        "I called the bank, but no luck.",
        "I haven't booked the B&B.",
        "MOT not booked yet",
        "I still need to book the B&B.",
        "I forgot to book the B&B.",
        "I tried to call the bank.",
        "I wish I'd booked the B&B.",
        "I thought I booked the B&B.",
        "If I booked the B&B I'd be glad.",
        "Mum called.",
        "The landlord's called Mr Okafor.",
        "The boiler man is meant to come.",
        "Never mind.",
        "Forget it.",
        "I've got to walk the dog.",
        "Don't forget the camera.",
        "Ana thinks I don't need the camera.",
        "Was the trip cancelled?",
        "did I book the B&B",
        "have i called the bank",
        # put off is not given up
        "I'm not going to call mum until Monday.",
        "I don't need to call mum today.",
        "I've decided not to call mum before the weekend.",
    ],
)
def test_what_is_not_done_ends_nothing(text):
    assert read(text).endings == ()


ASKED = "Did you book the B&B?"


@pytest.mark.parametrize(
    ("before", "text"),
    [
        (ASKED, "yes"),
        (ASKED, "yes, this morning"),
        (ASKED, "yep done"),
        (ASKED, "I did"),
        ("Have you called the bank?", "Yes!"),
        ("Great. Is the report sent?", "yeah, an hour ago"),
    ],
)
def test_a_yes_to_what_was_asked_ends_it(before, text):
    assert [ending for ending in after(text, before).endings if ending.words == "" and ending.completed]


@pytest.mark.parametrize(
    ("before", "text"),
    [
        (ASKED, "no"),
        (ASKED, "not yet"),
        (ASKED, "yes but they cancelled"),
        (ASKED, "yes, will do it tomorrow"),
        (ASKED, "almost"),
        (ASKED, "yesterday was awful"),
        ("Will you book the B&B?", "yes"),
        ("Do you want to book the B&B?", "yes"),
        ("Did you want to book the B&B?", "yes"),
        ("Have you thought about the B&B?", "yes"),
        ("Did you book the B&B? If not I can help.", "yes"),
        ("You booked the B&B.", "yes"),
    ],
)
def test_other_answers_end_nothing(before, text):
    assert after(text, before).endings == ()


def test_urgency_and_nearness_raise_salience():
    assert [
        read(text).drafts[0].salience for text in ("I need to pay.", "I urgently need to pay tomorrow.")
    ] == [3, 5]


def test_a_horizon_is_how_far_the_day_is():
    said = [
        "I must call Bob tonight.",
        "I must call Bob on Sunday.",
        "I must call Bob in June.",
        "I must call Bob.",
    ]
    assert [read(text).drafts[0].horizon for text in said] == ["today", "this_week", "ongoing", "ongoing"]


def test_wordings_match_whatever_the_tense():
    assert overlap(key_terms("Send the report"), key_terms("I sent the report this morning")) == 1.0
    assert overlap(key_terms("Buy milk"), key_terms("bought the milk")) == 1.0
    assert overlap(key_terms("Call mum"), key_terms("called the bank")) == 0.5
    assert is_past("booked it")
    assert not is_past("need it")


WORDS = [
    "i",
    "we",
    "need",
    "to",
    "call",
    "the",
    "bank",
    "my",
    "exam",
    "is",
    "on",
    "friday",
    "tomorrow",
    "so",
    ",",
    "but",
    "and",
    "if",
    "ana",
    "said",
    "that",
    "should",
    "you",
    "remind",
    "me",
    "yes",
    "done",
    "booked",
    "was",
    "has",
    "been",
    "the",
    "a",
    "not",
    ".",
    ";",
    ":",
    '"',
    "'",
    "(1)",
    "[x]",
    "todo:",
    "-",
    "#",
    ">",
    "it",
    "her",
    "him",
    "Ana",
    "Mei",
    "mum",
    "'s",
    "now",
    "things",
    "for",
    "today:",
    "\n",
]


@pytest.mark.parametrize("seed", range(20))
def test_any_words_are_read_the_same_each_time_and_in_bounds(seed):
    random = Random(seed)
    text = " ".join(random.choice(WORDS) for _ in range(random.choice([3, 12, 60, 400])))
    before = [Heard(" ".join(random.choice(WORDS) for _ in range(30)), random.random() < 0.5)]
    reading = read_loops(text, TUESDAY, find_times, before)
    assert reading == read_loops(text, TUESDAY, find_times, before)
    for draft in reading.drafts:
        assert draft.wording.strip()
        assert len(draft.wording.split()) <= 2 * 12 + 2
        assert 1 <= draft.salience <= 5
        assert draft.due_at is None or draft.due_at > instant("2026-02-03T18:34:12Z")
    assert all(move.due_at > instant("2026-02-03T18:34:12Z") for move in reading.moves)

"""Whose words a text is made of: a table of what is handed over or quoted, and one of what is the speaker's own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.kernel.time import instant, to_datetime
from lamina.language.own_words import own_words
from lamina.language.temporal import find_times
from lamina.pipeline.loops.reading import read_loops

HANDED_OVER = [
    ("translate to German: I live in Paris and my name is Luc", "translate to German:"),
    ("Please translate 'I live in Paris' into German", "Please translate into German"),
    ("Fix the grammar: I has moved to Berlin.\nI am allergic to nuts.", "Fix the grammar:"),
    ("proofread this:\nDear Sir, I am a teacher and I live in Hull", "proofread this:"),
    ("Can you proofread this?\n\nDear Sir,\nI am a teacher.", "Can you proofread this?"),
    ("I live in Paris and I'm a nurse.\n\ntranslate that to German", "translate that to German"),
    ("I live in Paris. Translate that to German please", "Translate that to German please"),
    ('Can you summarise this? "Hi, I moved to Berlin. Love, Jo"', "Can you summarise this?"),
    ("rewrite this: I lives in Rome.\n\nAlso, remind me to call mum", "rewrite this: Also, remind me to call mum"),
    ("Fix the grammar:\n```\nI has moved\n```\nI need it by Friday", "Fix the grammar: I need it by Friday"),
    ("Reply to this email: I can't come because I moved to York", "Reply to this email:"),
    ("draft a reply: I have to leave on Friday", "draft a reply:"),
    ("- reply to Jo: I need the keys\n- I need to call mum", "- reply to Jo: - I need to call mum"),
    ("Here's my cover letter: I am a teacher and live in Hull.", "Here's my cover letter:"),
    ("Here is the email I got from Jo:\nI moved to Berlin", "Here is the email I got from Jo:"),
    ("Pretend you are my interviewer. I'm Alex, I work at Nasa.", ""),
    ("Let's role-play. I'm a pirate.", ""),
    ("Write a story: My name is Captain Zed and I live on Mars.", "Write a story:"),
    ("Write a story where I live on Mars. Thanks!", "Thanks!"),
    ("Jo wrote:\n> I moved to Berlin\n> I am allergic to cats\nshould I reply?", "Jo wrote: should I reply?"),
    ("Jo wrote: I moved to Berlin", "Jo wrote:"),
    ("Ana said: I'm moving to Rome", "Ana said:"),
    ("My boss texted me: I need to leave early", "My boss texted me:"),
    ("Ana wrote:\nI moved to Berlin.\nLove, Ana\n\nShe is funny.", "Ana wrote: She is funny."),
    ("On Mon, 9 Nov 2026 at 10:12, Jo Smith wrote:\n> I live in Rome\nI agree.", "On Mon, 9 Nov 2026 at 10:12, Jo Smith wrote: I agree."),
    ("My sister sent me this, what now??\n\nI moved to Rome.\n\nI need you.", "My sister sent me this, what now??"),
    ("> I moved to Berlin last year", ""),
    ('She sent "I moved to Berlin and I hate it", so I rang.', "She sent , so I rang."),
    ("“I will call Bob on Friday.” That made me laugh.", "That made me laugh."),
    ("Begin forwarded message:\nFrom: Jo\nI moved to Rome", ""),
    ("Forwarding:\nFrom: Jo <jo@example.org>\nTo: Nora\nI moved to Rome", "Forwarding:"),
    ("Jo: I moved to Berlin\nMe: I live in Leeds\nJo: I am a nurse", "Me: I live in Leeds"),
    ("[12:01, 09/11/2026] Jo: I moved\n[12:02, 09/11/2026] Jo: I am a nurse", ""),
    ("```python\n# I need to fix this\nx = 1\n```\nI live in Leeds.", "I live in Leeds."),
    ("look:\n```\nI need to fix this", "look:"),
    ("def f():\n    # I need to fix this\n    return 1", ""),
    ('Traceback (most recent call last):\n  File "a.py", line 3, in f\n    raise ValueError("I have to go")\nValueError: I have to go\nI need to fix it.', "I need to fix it."),
    ("2026-11-09 12:00:01 ERROR I moved to node 3\nI live in Leeds.", "I live in Leeds."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "own"), HANDED_OVER, ids=[text[:40] for text, _ in HANDED_OVER])
def test_what_is_handed_over_or_quoted_is_left_blank(text: str, own: str) -> None:
    assert " ".join(own_words(text).split()) == own


OWN = [
    "My sister sent me this photo yesterday.\nI live in Leeds.",
    "Tom said this was fine.\nI live in Leeds.",
    'I rang "Bob and Co" and I need "the big one" by Friday.',
    "I live in Paris.",
    "I live in Leeds: the best city.",
    "Note: I moved to Berlin",
    "Important: I'm allergic to nuts",
    "remember this: I am allergic to nuts",
    "TODO: I need to call the bank by Friday",
    "remind me: I need to call mum",
    "I'm fixing the car: I need a new pump",
    "I translate books: I work at Faber",
    "My job is to translate: I work at the UN",
    "I'm proofreading my thesis. I live in York.",
    "I write stories. I live in Leeds.",
    "I pretend to like jazz",
    "I told Ana: I'm moving to Rome",
    "I wrote: I quit",
    "Ana said she moved to Rome",
    "Fix the sink and then call mum. I need to be at work by 9.",
    "I need to review the code: I promised Ana",
    "fix the bug\ncall mum\nI need to buy milk",
    "Things for today:\n- I need to pick up dry cleaning\n- I have to call mum",
    "I moved to Berlin last year. Write me a bio",
    "I moved to Berlin. Can you summarise this article for me?",
    "Check out this photo! I moved to Rome",
    "Let me explain: I live in York",
    "Here's my situation: I live in Leeds and I'm a nurse",
    "This is my plan: I need to save money",
    "I'll reply to Jo. I need to call mum",
    "At 12:30 I have a meeting",
    "My name is Nora\nI live in Leeds\nI work at Google",
    "Name: Nora\nI live in Leeds",
    "Background: I live in Rome.\nQuestion: where can I buy a bike?",
    "Monday: I go to the gym\nTuesday: I work from home",
    "a = b is what I wrote\nI live in Leeds",
    "I use vim (it's great);\nI live in Leeds",
    "5 > 3 and I live in Leeds",
    "# Plans\nI need to call mum",
    "@Ana I moved to Leeds\nI work at Google",
]


@pytest.mark.parametrize(
    "text",
    [
        "[12/03/2026, 10:02:11] Tom: {}",
        "12/03/2026, 10:02 - Tom: {}",
        "10:02 <tom> {}",
        "Tom (10:02): {}",
        "Tom  10:02 AM\n{}\nMia  10:03 AM\n{}",
        "Tom — Today at 10:02 AM\n{}",
        "Tom, [12.03.26 10:02]\n{}",
        "Tom Reed @tom · 2h\n{}",
        "@tom: {}",
        "[Forwarded from Tom]\n{}",
        "Forwarded message from Tom:\n{}",
        "SMS from my brother: {}",
        "Interviewer: Where do you live?\nCandidate: {}",
        "User: {}\nAssistant: Nice!",
        "[Verse 1]\n{}\n[Chorus]\n{}",
    ],
)
def test_what_a_pasted_chat_says_is_not_its_speakers(text: str) -> None:
    """By its form, in one line or over several; what stands in a paragraph of its own is theirs."""
    assert "Rome" not in own_words(text.replace("{}", "I live in Rome"))
    behind = "" if "Verse" in text else "\n\nI moved to Berlin."
    assert own_words(text.replace("{}", "I live in Rome") + behind).endswith(behind)


@pytest.mark.parametrize("text", OWN)
def test_what_somebody_says_of_themselves_stays(text: str) -> None:
    assert own_words(text) == text


@given(
    st.lists(
        st.sampled_from(
            ["translate this", "Jo wrote", "I live in Rome", "```", "> ", ":", "\n", "\n\n", ". ", '"', "Me: ", "x = 1", "return x;", "# no"]
        ),
        max_size=30,
    )
)  # fmt: skip
def test_nothing_moves_and_nothing_is_added(parts: list[str]) -> None:
    text = "".join(parts)
    own = own_words(text)
    assert len(own) == len(text)
    assert all(kept in (said, " ") for kept, said in zip(own, text, strict=True))
    assert own.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "text", ["> " * 20_000, "a" * 50_000 + ":", "f(" * 25_000 + "\n" + "x = " * 9_000, "translate '" * 4_000, "```" * 9_000, "Jo: a\n" * 9_000,
              "Tom 10:02\n" * 5_000, "from Tom: " * 6_000, "[Fwd x]\n" * 7_000]
)  # fmt: skip
def test_odd_text_takes_no_long_time(text: str) -> None:
    assert len(own_words(text)) == len(text)


TUESDAY = to_datetime(instant("2026-02-03T18:34:12Z"))


@pytest.mark.parametrize(
    ("text", "opened"),
    [
        ("# I need to fix this\ndef f():\n    return 1", []),
        ('ValueError: I have to be positive\n  File "a.py", line 3', []),
        ("Jo wrote: I need to call the bank", []),
        ("reply to Jo: I can't come, I have to work", []),
        ("Jo wrote:\n> I need to call the bank\nI need to reply to Jo", ["Reply to Jo"]),
        ("I need to translate the letter: Ana promised it", ["Translate the letter"]),
    ],
)
def test_what_others_say_leaves_nothing_open(text: str, opened: list[str]) -> None:
    assert [draft.wording for draft in read_loops(text, TUESDAY, find_times).drafts] == opened

"""Speech as it would have been written, and written text that stays as it is."""

from __future__ import annotations

import time
from random import Random

import pytest

from lamina.language.spoken import WrittenText, as_written

CONTRACTIONS = [
    ("im allergic to penicillin", "i'm allergic to penicillin"),
    ("Im a nurse", "I'm a nurse"),
    ("ive moved to york", "i've moved to york"),
    ("thats my friend and shes allergic to nuts", "that's my friend and she's allergic to nuts"),
    ("dont let me forget the milk", "don't let me forget the milk"),
    ("I DONT EAT MEAT", "I don't eat meat"),
    ("hes three and theyre both vegan", "he's three and they're both vegan"),
    ("they havent decided and i cant wait", "they haven't decided and i can't wait"),
    ("whats the plan, wheres my bag", "what's the plan, where's my bag"),
    ("dev says theyll come and i wont", "dev says they'll come and i won't"),
    ("i shouldve called", "i should've called"),
    # those that are other words as well, by what stands around them
    ("its a girl", "it's a girl"),
    ("its valid till february", "it's valid till february"),
    ("its ten past ten", "it's ten past ten"),
    ("the dog is ill but its getting better", "the dog is ill but it's getting better"),
    ("ill call the bank tomorrow", "i'll call the bank tomorrow"),
    ("yeah ill ring them", "yeah i'll ring them"),
    ("id like to book a table", "i'd like to book a table"),
    ("i wish id gone sooner", "i wish i'd gone sooner"),
    ("if he goes id probably take his flat", "if he goes i'd probably take his flat"),
    ("well need to leave at six", "we'll need to leave at six"),
    ("were moving to leeds in june", "we're moving to leeds in june"),
    ("biscuit stays with mum while were away", "biscuit stays with mum while we're away"),
    ("shell be home at six", "she'll be home at six"),
    ("my dad said hell call tomorrow", "my dad said he'll call tomorrow"),
    ("shed love a bike", "she'd love a bike"),
    ("wed like a table for two", "we'd like a table for two"),
    ("lets go hiking on saturday", "let's go hiking on saturday"),
]


@pytest.mark.parametrize(("said", "written"), CONTRACTIONS)
def test_speech_is_read_as_it_would_be_written(said: str, written: str) -> None:
    assert as_written(said).text == written


UNTOUCHED = [
    "I'm allergic to penicillin, and I don't eat meat.",
    # words that a contraction without its apostrophe looks like
    "The dog hurt its paw.", "its battery died", "its own fault", "The company and its new CEO", "its good side",
    "I was ill last week.", "my mother is ill", "she fell ill", "ill health", "my ill aunt", "the mentally ill need help",
    "My ID is 4711.", "my id never changes", "the user id", "what is the order id", "Show me your ID please",
    "I know her well.", "well, I moved", "well done", "oh well have a nice day", "might as well be in Rome", "as well",
    "They were moving in June.", "we were there", "the kids were tired and were sleeping", "Were you there?", "if I were you",
    "We wed in May.", "on wed like last time", "The shed is green.", "I bought a shed", "a shell script", "what the hell", "hell no",
    "She lets me drive.", "He lets go of it", "as is her wont", "Jony Ive left Apple.", "send me an IM", "user_id and im2col", "e-id card",
    "visit im.example.com", "don.t", "the @im handle",
    "this is my sister", "who is my boss", "Ana is my sister", "mum is my best friend", "running is my friend", "her name is my mum's", "red is my favourite",
    "everyone i know is my friend", "my cousin is my boss",
    # other languages
    "Ich wohne im Haus und ich arbeite im Garten.", "um die Ecke ist ein Park", "les gens dont je parle sont ici", "eu moro em um apartamento",
    "Treffen im Park",
    # fillers that are words
    "I like Leeds.", "I like two sugars in my tea.", "my kids like two of them", "it looks like rain", "I feel like a pizza", "in like manner",
    "What is he like?", "people like him", "just like two years ago", "I'd like three tickets", "we live in a town like Leeds", "in like that",
    "and like my job", "I live in York and like tea.", "she is like her mother", "he was like no way",
    "Do you know what I mean?", "Do you know we moved?", "as you know I moved", "let me know", "the people you know", "if you know it",
    "how do you know he left", "uh huh", "uh oh", "the umbrella",
    # marks of repairs that are words
    "I mean it.", "I mean, I love it.", "that's what I mean", "you know what I mean by home", "she means well", "I mean well",
    "I love it, I mean it's great.", "I hate the house, I mean the kitchen is awful.", "how much I mean to him",
    "I'm sorry I missed it.", "So sorry for the delay", "I missed the call sorry the train was late", "Sorry, I meant Norah", "sorry guys",
    "I missed the meeting sorry everyone", "No, actually I live in Leeds.", "No wait, I moved.", "There's no wait at the clinic.",
    "I said no actually.", "the answer is no sorry", "I have no meetings on Friday", "I have two kids no dogs", "by friday no later",
    "Are you coming or not? No.", "yes or no", "no no boston spa", "I am well", "I waited well over two hours", "I sold it for well over two pounds",
    "I would rather go.", "rather nice", "hold on a minute", "I had to wait, no problem", "the error correction works",
    "we asked him to call me and hattie", "we moved in May and he told me and Ana", "he told me and Ana we move in May",
    "I told him I would call. No wait.", "I can wait no longer", "she said no wait for me",
]  # fmt: skip


@pytest.mark.parametrize("text", UNTOUCHED)
def test_what_has_no_sign_of_speech_stays_as_it_is(text: str) -> None:
    assert as_written(text) == WrittenText(text)


@pytest.mark.parametrize(
    ("said", "part", "spoken"),
    [
        ("um im allergic to penicillin", "i'm", "im"),
        ("um im allergic to penicillin", "penicillin", "penicillin"),
    ],
)
def test_a_span_leads_back_to_what_was_said(said: str, part: str, spoken: str) -> None:
    written = as_written(said)
    start, end = written.span(written.text.index(part), written.text.index(part) + len(part))
    assert said[start:end] == spoken


_PIECES = [
    "im",
    "its",
    "id",
    "ill",
    "well",
    "were",
    "um",
    "uh",
    "like",
    "you",
    "know",
    "no",
    "wait",
    "i",
    "mean",
    "sorry",
    "the",
    "a",
    "my",
    "bank",
    "Leeds",
    "York",
    "two",
    "six",
    "past",
    "half",
    "on",
    "in",
    "friday",
    "and",
    "but",
    ",",
    ".",
    "?",
    "\n",
    "and",
    "then",
    "it's",
    "call",
    "mum",
    "allergic",
    "to",
    "nuts",
    "the",
    "fifth",
    "of",
    "may",
]


@pytest.mark.parametrize("seed", range(20))
def test_every_span_lies_within_what_was_said(seed: int) -> None:
    random = Random(seed)
    for _ in range(60):
        said = " ".join(random.choices(_PIECES, k=random.randint(1, 30)))
        written = as_written(said)
        size = len(written.text)
        assert written.origins is None or len(written.origins) == size
        for _ in range(10):
            start = random.randint(0, size)
            end = random.randint(start, size)
            low, high = written.span(start, end)
            assert 0 <= low <= high <= len(said)
            kept = written.text[start : start + 1]
            if start < size and kept != "'":
                assert kept == said[written.span(start, start + 1)[0]] or kept == " "


@pytest.mark.parametrize(
    "piece",
    ["no wait ", "i mean ", "um ", "im ", "its ", "well ", "like ", "you know so ", ", ", "- ", "five ", "wait, ", "…", "the ", "it's like ", "and i ", " "],
)  # fmt: skip
def test_hostile_text_is_read_in_linear_time(piece: str) -> None:
    def seconds(size: int) -> float:
        text = (piece * (size // len(piece)))[:size] + " no wait six um im"
        begun = time.process_time()
        as_written(text)
        return time.process_time() - begun

    short = min(seconds(20_000) for _ in range(3))
    assert min(seconds(40_000) for _ in range(3)) < 4 * short + 0.02

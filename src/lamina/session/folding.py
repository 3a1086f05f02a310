"""Folding: what a summary tells once one more turn has left the window. Plain functions of texts.

Without a language model a summary is made of the conversation's own sentences, each on a line with who said it. A
sentence stays while there is room, the more the more it says: plans, dates, names, numbers, and words of the user's
before those of the assistant. What was done, stopped or changed is told however short it is, and what the user corrects
at once is not. A sentence that speaks of the one before ("She told me today") stands on one line with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from lamina import limits
from lamina.kernel.events import Event, text_of
from lamina.language.quarantine import quarantine_of
from lamina.language.sentences import split_sentences
from lamina.language.tokens import analyse, content_terms

__all__ = [
    "SUMMARY_CHARS_MAX",
    "TurnWords",
    "bridge_text",
    "fold_turn",
    "fold_turns",
    "is_by_rules",
    "said_of",
    "told_lines",
]

SUMMARY_CHARS_MAX: Final = 800
_LINE_CHARS_MAX: Final = 200
_KEPT_CHARS_MAX: Final = 2000
"""Longer turns are read each time."""
_SENTENCES_PER_TURN: Final = 2
_SENTENCES_OF_A_SHORT_TURN: Final = 3
_WORTH_FROM: Final = 1.0
_SPEAKERS: Final = ("User: ", "Assistant: ")
_SAYS_MUCH: Final = 2.0
_SPACE = re.compile(r"[\s\x00-\x1f\x7f\u2028\u2029]+")
_INTENT = re.compile(
    r"\b(?:need|have to|must|should|will|i'll|we'll|going to|plan|decided?|want|remind|promise|prefer|love|hate|"
    r"worried|anxious|deadline|due|waiting|booked|bought|finished|started|moved|named?|because|"
    r"(?:i|we|he|she|they)(?:'ve)? got (?:the|my|our|an?|in|into)(?! (?:feeling|sense|joke|point|idea|bit|headache)))\b",
    re.IGNORECASE,
)
_FIRST = re.compile(r"\b(?:i|i'm|i've|i'll|my|we|our|me)\b", re.IGNORECASE)
_NAME = re.compile(
    r"(?<=[\w,;:] )[A-Z][a-z]+|"
    r"^(?!(?:She|He|It|They|We|You|This|That|These|Those|There|The|My|Our|Your|His|Her|Their|Its|What|Who|Which|Where|When|Why|How|"
    r"Everyone|Everybody|Nobody|Someone|Everything|Nothing|Something|Anything|All|Today|Tomorrow|Yesterday|Life|Work|One)\b)"
    r"[A-Z][a-z]+(?: (?:is|was|has|had|will|wants|and [A-Z][a-z]+)|'s)\b"
)
_BARE = re.compile(
    r"^\W*(?:(?:no+|nah|nope|yes|yeah|yep|yup|ok|okay|oh|hi|hello|hey|there|thanks?|thank you|so much|lol|haha|wow|hmm|well|right|sure|cool|great|nice|good|"
    r"morning|evening|afternoon|night|ugh|yay|sorry|please|again|wait|actually|really|um|uh|a lot|perfect|awesome|lovely|exactly)(?:\W+|$))+$",
    re.IGNORECASE,
)
_NEWS = re.compile(r"!\W*$")
_GREETS = re.compile(
    r"^\W*(?:hi|hello|hey|thanks?|thank you|good (?:morning|evening|afternoon|night|luck|idea|point)|happy|merry|congrat\w*|great|nice|cool|wow|haha|lol|"
    r"perfect|awesome|lovely|see you|bye|ok|okay|yes|no|so|what|how|such|come on|please|sounds)\b",
    re.IGNORECASE,
)
_LEANS = re.compile(
    r"^\W*(?:(?:and|but|so|also|then|oh|well|yeah|plus)[\s,]+){0,3}"
    r"(?:she|he|they|it|his|her|their|its|both|same|(?:this|that)(?! (?:morning|afternoon|evening|week|weekend|month|year|time)\b)|these|those)\b",
    re.IGNORECASE,
)
_ONLY_WHEN = re.compile(
    r"^\W*(?:(?:on|at|by|in|from|until|before|after|around|due|next|every) ){0,2}(?:the )?(?:\d|(?:mon|tues|wednes|thurs|fri|satur|sun)day|"
    r"jan(?:uary)?|feb(?:ruary)?|march|april|may|june|july|august|sept(?:ember)?|october|november|december|today|tomorrow|tonight|noon)(?![^\W\d_])",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"\b(?:i|we|you|he|she|it|they|is|are|was|were|has|have|had|will|would|can|need)\b|['’](?:s|m|re|ll|ve)\b",
    re.IGNORECASE,
)
_CHANGED = re.compile(
    r"\b(?:paid|repaid|transferred|sold|bought|booked|ordered|cancell?ed|sent|signed|submitted|returned|finished|fixed|sorted|done|stop(?:ped)?|quit|"
    r"gave up|given up|moved|changed|switched|swapped|replaced|postponed|rescheduled|called off|dropped|deleted|died|passed away|born|broke up|split up|"
    r"got (?:engaged|married|divorced|hired|fired)|resigned|retired|arrived|failed|passed|lost|won|broke|broken|picked up|dropped off|handed in|"
    r"no longer|any ?more|after all|instead|doubled|halved|increased|reduced)\b|"
    r"^(?:(?:i|we|i've|we've|and|so|ok|oh|yeah|yes|just)[\s,]+)*(?:rang|called|phoned|emailed|texted|told|packed|did|took)\b",
    re.IGNORECASE,
)
_CORRECTS = re.compile(
    r"^\W*(?:(?:oh|um|uh|er|sorry|wait|hang on|well|actually|hey)[\s,]+)*"
    r"(?:(?:no+|nah|nope)\b[\s,.!;:–-]+(?=\w)(?!(?:thanks?|thx|problem|worries|need|rush|idea|doubt|way|one|more|please|not (?:yet|really|now|today)|nothing|never ?mind|"
    r"don['’]?t|that['’]?s (?:all|it|fine|ok|okay|good)|it['’]?s (?:fine|ok|okay|all right|alright|good)|(?:we|he|she|they|you)\b|i(?!['’]?m\b| (?:said|meant|live|work)\b)\b)\b)|"
    r"(?:no[\s,.!]+)?(?:that['’]?s|that is) (?:wrong|not right|not correct|incorrect)\b|i (?:said|meant)\b)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class TurnWords:
    """A turn's words: ``role`` is ``user`` or ``assistant``."""

    role: str
    text: str


def said_of(event: Event) -> TurnWords:
    """The words of a turn of the log; of one that is quarantined none."""
    role = event.content.get("role")
    text = "" if quarantine_of(event) else text_of(event.content)
    return TurnWords(role if role in ("user", "assistant") else "user", text)


def fold_turn(summary: str, turn: TurnWords) -> str:
    """The summary with what is worth telling of one more turn, within ``SUMMARY_CHARS_MAX`` characters.

    >>> fold_turn("", Said("user", "Hi there! I need to book the dentist before Friday."))
    'User: I need to book the dentist before Friday.'
    """
    return fold_turns(summary, [turn])


def fold_turns(summary: str, turns: Iterable[TurnWords]) -> str:
    """``fold_turn`` of one turn after the other."""
    for turn in turns:
        lines = told_lines(summary)
        if lines and turn.role == "user" and _CORRECTS.match(turn.text) and _is_claim_of_assistant(lines[-1]):
            lines.pop()
        known = set(map(_words, lines))
        lines += [line for line in _lines(turn) if _words(line) not in known]
        while len(lines) > 1 and sum(map(len, lines)) + len(lines) - 1 > SUMMARY_CHARS_MAX:
            # Of two that say as much the older goes: it has been told for longer.
            lines.pop(min(range(len(lines)), key=lambda place: (_worth_of_line(lines[place]), place)))
        summary = "\n".join(lines)
    return summary


def is_by_rules(summary: str) -> bool:
    """Whether a summary is in the words of these rules: each line says whose it is."""
    return all(line.startswith(_SPEAKERS) for line in filter(None, summary.split("\n")))


def bridge_text(summary: str, turns: Iterable[TurnWords]) -> str:
    """What to know of a sitting that is over: its summary, and what was said after the summary ends."""
    summary = fold_turns(summary, turns)
    return f"Last session:\n{summary}" if summary else ""


def told_lines(summary: str) -> list[str]:
    """The lines of a summary. What a language model wrote has one for each sentence, so that it is not dropped as a whole."""
    lines: list[str] = []
    for line in summary.split("\n"):
        if line.startswith(_SPEAKERS):
            lines.append(line)
        else:
            lines += [sentence.text for sentence in split_sentences(line, count_max=60)]
    return lines


def _is_claim_of_assistant(line: str) -> bool:
    return line.startswith("Assistant: ") and not line.endswith("?")


def _lines(turn: TurnWords) -> Sequence[str]:
    return _known_lines(turn) if len(turn.text) <= _KEPT_CHARS_MAX else _lines_of(turn)


@lru_cache(maxsize=limits.TURNS_FOLDED_KEPT_MAX)
def _known_lines(turn: TurnWords) -> Sequence[str]:
    """Each call of a sitting folds the turns that its worker has not come to yet, and the next call most of them again."""
    return _lines_of(turn)


def _lines_of(turn: TurnWords) -> Sequence[str]:
    said = [_SPACE.sub(" ", s.text).strip() for s in split_sentences(turn.text, count_max=60)]
    sentences = [sentence for sentence in said if sentence]
    worth = [_worth(turn.role, sentence) for sentence in sentences]
    own = turn.role == "user"
    if own and _CORRECTS.match(turn.text):
        right = next((at for at, each in enumerate(sentences) if worth[at] and not _BARE.match(each)), None)
        if right is not None:
            worth[right] = max(worth[right], _SAYS_MUCH)
    short = own and sum(map(len, sentences)) <= _LINE_CHARS_MAX
    most = _SENTENCES_OF_A_SHORT_TURN if short else _SENTENCES_PER_TURN
    best = sorted(range(len(sentences)), key=lambda at: -worth[at])[:most]
    told = {at for at in best if worth[at] >= _WORTH_FROM}
    leaning = {at for at in told if own and _leans_on_what_stands_before(sentences, at)}
    lines: list[str] = []
    last = -1
    for at in sorted(told | {at - 1 for at in leaning}):
        if at in leaning and last == at - 1 and len(lines[-1]) + len(sentences[at]) < _LINE_CHARS_MAX:
            lines[-1] += f" {sentences[at]}"
        else:
            lines.append(_cut(sentences[at]))
        last = at
    return [f"{turn.role.capitalize()}: {line}" for line in lines]


def _leans_on_what_stands_before(sentences: list[str], at: int) -> bool:
    """Whether a sentence is only clear with the one before it: it opens with a pronoun, or tells no more than a time."""
    if at == 0 or _BARE.match(sentences[at - 1]):
        return False
    words = sentences[at]
    return _LEANS.match(words) is not None or (
        _ONLY_WHEN.match(words) is not None and _CLAUSE.search(words) is None
    )


def _cut(sentence: str) -> str:
    if len(sentence) <= _LINE_CHARS_MAX:
        return sentence
    return sentence[: _LINE_CHARS_MAX - 1].rsplit(" ", 1)[0] + "…"


@lru_cache(maxsize=limits.TURNS_FOLDED_KEPT_MAX)
def _words(line: str) -> str:
    return " ".join(analyse(line))


@lru_cache(maxsize=limits.TURNS_FOLDED_KEPT_MAX)
def _worth_of_line(line: str) -> float:
    """A line is weighed against each that comes."""
    if not line.startswith(_SPEAKERS):
        return _worth("user", line)
    role, _, sentence = line.partition(": ")
    return _worth(role.lower(), sentence)


def _worth(role: str, sentence: str) -> float:
    """How much a sentence says, from 0: its content words, weighed by what makes it worth knowing later."""
    terms = set(content_terms(analyse(sentence)))
    if not terms:
        return 0.0
    worth = min(len(terms), 8) / 4
    asks = sentence.endswith("?")
    if role == "user" and not asks and (_CHANGED.search(sentence) or _CORRECTS.match(sentence)):
        worth = max(worth, _SAYS_MUCH) + 1.5
    worth += 1.0 * bool(_INTENT.search(sentence)) + 0.5 * bool(_FIRST.search(sentence))
    worth += 0.5 * bool(_NAME.search(sentence)) + 0.5 * bool(_NUMBER.search(sentence))
    worth += 0.5 * (role == "user" and bool(_NEWS.search(sentence)) and not _GREETS.match(sentence))
    if asks:
        worth *= 0.5
    return worth if role == "user" else worth * 0.6

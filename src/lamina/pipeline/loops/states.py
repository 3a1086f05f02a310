"""What only sounds like a deed: feelings and states of body and mind ("I need to vent", "I have to be kinder to
myself"), and doing that names no thing ("I'm writing this from the train")."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["is_feeling", "is_state", "names_no_thing"]

_FEELING = re.compile(
    r"(?:vent|breathe|cry|laugh|smile|scream|weep|sob|sigh|yawn|sneeze|giggle|throw up|faint)\b(?!-)",
    re.IGNORECASE,
)
_MORE: Final = (
    r"(?: (?:more|less|well|better|harder?|late|longer|now|today|tonight|early|earlier|properly|enough|again|in|a "
    r"(?:lot|bit|little)|on it|"
    r"all (?:day|night|week)|(?:double |night |long )?shifts?|nights?|weekends?|first))*$"
)
_STATE = re.compile(
    rf"(?:(?:calm|cool|slow|settle) down$|(?:relax|unwind|chill|cope|survive|hurry|rush|sleep|nap|work|concentrate|"
    rf"suffer|struggle){_MORE}|chill out|hurry up|lie down|"
    r"focus(?: on (?:myself|me|it|this|that))?$|(?:grow|wake|man|toughen|cheer|lighten) up\b|move on$|let (?:it|him|"
    r"her|this|that|them|things|myself)?\b ?(?:go|be)\b|let go\b|"
    r"get (?:over|used to|a grip|(?:it|this|that) off my chest|it together|my act together|better$|stronger$)|"
    r"feel\b|stay (?:calm|strong|positive|focused|sane|awake|healthy|motivated|patient|humble)\b(?! (?:on|at))|"
    r"be (?!(?:at|in|on|out|up|off|back|there|home|here|ready|done|finished|with|by|under|over|through)\b)|"
    r"keep (?:calm|cool|going|moving|fighting|believing|breathing|trying|smiling|telling myself|reminding myself|my "
    r"(?:cool|head|chin)|it together)|"
    r"(?:love|accept|trust|forgive|believe(?: in)?|respect|value) (?:that|it|this|him|her|them|you|myself|people|"
    r"things|life|how|the process|my (?:gut|instincts?|body|feelings))\b|believe$|"
    r"stop (?:worrying|thinking|overthinking|crying|being|feeling|panicking|complaining|caring|comparing|beating|"
    r"blaming|hating|stressing|doubting|apologi[sz]ing)\b|"
    r"start (?:believing|loving|trusting|living|being|feeling|caring)\b|learn to (?:accept|live|love|let|trust|be|"
    r"relax|cope|forgive|enjoy)\b)",
    re.IGNORECASE,
)
_PRONOUN: Final = (
    r"(?:this|that|it|these|those|them|you)(?=$|[,.;:!?]| (?:from|in|on|at|while|when|because|as|with|to|for|and|so|"
    r"now|here|after|before|right|today|tonight|again|"
    r"myself|too|down|up|out|off)\b)"
)
_NO_THING = re.compile(
    rf"(?:(?:writing|learning|building|planning) (?:(?:all |some of )?{_PRONOUN}|(?:quite )?a lot\b(?! (?:of|about|"
    rf"more))|so much\b(?! about)|lots$|loads$|tons$|something$|"
    r"(?:from|while|because|as i|here|in|every day|again|back)\b)|"
    r"writing (?:to (?:say|tell|ask|let|thank|share|see|check|complain|apologi[sz]e|inform|you|express|confirm|"
    r"request)|on behalf|down)\b|"
    r"learning (?:more$|much$|new things|things|the hard way|about myself|about life|that|how (?:much|little|"
    r"important|hard|not)|to (?:accept|live|love|let|trust|be|cope|"
    r"say no|enjoy|listen|appreciate|forgive|breathe|relax|deal))\b)",
    re.IGNORECASE,
)
_VAGUE: Final = frozenset({"it", "this", "that", "those", "these"})
_VAGUE_WORDS: Final = 3


def is_feeling(words: str) -> bool:
    """Whether it is nothing one does at a time of one's choice, whatever day is named."""
    return _FEELING.match(words) is not None


def is_state(words: str) -> bool:
    """Whether it is how somebody wants to be rather than something to do; with a day, it may be a deed.

    >>> is_state("be kinder to myself"), is_state("be at the school"), is_state("work on my thesis")
    (True, False, False)
    """
    return is_feeling(words) or _STATE.match(words) is not None


def names_no_thing(words: str) -> bool:
    """Whether what is under way has no object that could be told later.

    >>> names_no_thing("writing this from Leonie's sofa"), names_no_thing("writing this essay")
    (True, False)
    """
    return _NO_THING.match(words) is not None or _is_vague(words.casefold().split())


def _is_vague(words: list[str]) -> bool:
    """ "Mention it", "give it a try": what is meant stands outside the sentence."""
    short = len(words) <= _VAGUE_WORDS and words[-1:] != [] and words[-1] in _VAGUE
    return short or words[1:2] == ["it"]

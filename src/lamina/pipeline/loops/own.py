"""Whether a clause is the speaker's own word: not what others say or think, not what is doubted, quoted or only
supposed."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["is_own", "is_taken_back"]

_CLAUSAL: Final = (
    r"(?:sa(?:y|ys|id|ying)|th(?:ink|inks|inking|ought)|t(?:ell|ells|elling|old)|wonder\w*|doubt\w*|reckon\w*|"
    r"believe[sd]?|"
    r"suggest\w*|advis\w+|insist\w*|claim\w*|recommend\w*|argue[sd]?|wish\w*|hop(?:e|es|ed|ing)|pretend\w*|"
    r"imagin\w+|dream\w*|"
    r"feels?|felt|guess\w*|suppos\w+|warn\w*|convinced|joke[sd]?|joking|according to|wrote|writes)"
)
_OTHERS: Final = rf"(?:{_CLAUSAL}|ask(?:s|ed|ing)?|want(?:s|ed)?|expects?|expected|would like|needs?)"
_OWN_VIEW = re.compile(
    r"\b(?:i|we)(?:'m| am|'ve been| was|'ve| have)? (?:(?:really|do|still|just|also|honestly) )*"
    r"(?:think|thinking|guess|suppose|reckon|believe|know|feel like|realised?|realized|remembered|swear|admit|mean|"
    r"said|told (?!me\b|us\b)\w+|"
    r"agreed|decided|sure)(?: that)?\b",
    re.IGNORECASE,
)
_GOVERNED = re.compile(
    rf"\b(?:{_CLAUSAL}|if|unless|whether|not|(?:don't|doesn't|didn't|never|can't|cannot) \w+ (?:why|how)|"
    r"nobody|no one|had i|no need|no way|stop(?:ped)?|(?:isn't|aren't|wasn't|not) (?:sure|clear|true|like))\b",
    re.IGNORECASE,
)
_ASKED = re.compile(rf"\b{_OTHERS}\s*(?:that\s*)?$", re.IGNORECASE)
_SUBORDINATED = re.compile(
    r"\b(?:when|whenever|until|till|before|after|once|while|as soon as|in case|why|how|where|what|whatever|who|whom|"
    r"which|"
    r"that|than|like|as if|as though|as long as)\s+$",
    re.IGNORECASE,
)
_MODIFIED = re.compile(
    r"\b(?:the|a|an|every|each|all|any|some|another|only|everything|anything|nothing|something|everyone|someone|"
    r"things?|stuff)"
    r"(?: (?!(?:is|are|was|were|has|have|had|isn't|'s|now|morning|day|night|evening|week|weekend|month|time|way|"
    r"same)\b)[\w'-]+){0,2} $",
    re.IGNORECASE,
)
_FRONTED = re.compile(
    r"^(?:on|at|in|for|after|before|during|by|from|with|to|since|instead of)\b", re.IGNORECASE
)
_PARTS = re.compile(r"([;!?]\s|,\s+|\s[-–—]+\s|\s(?:but|so|and|because|since|then)\s)", re.IGNORECASE)
_REPORTING_END = re.compile(rf"\b{_CLAUSAL}(?: (?:me|us|him|her|them|that|to me))?$", re.IGNORECASE)
_SUPPOSED = re.compile(r"\b(?:if|unless)\b", re.IGNORECASE)
_LABEL = re.compile(
    r"^(?!(?i:to-?do|notes?|reminder|update|plans?|next|first|second|third|also|edit|today|tomorrow|ps|"
    r"p\.s)\b)(?:[A-Z][\w'.-]*)(?: [A-Z][\w'.-]*)?: "
)
_TOLD_AFTER = re.compile(
    rf",\s+(?:(?:my|the|our|his|her) )?[\w'-]+(?: [\w'-]+)? (?:{_CLAUSAL}|keeps? saying)(?: me| us)?\W*$",
    re.IGNORECASE,
)
_TAKEN_BACK = re.compile(
    r"\b(?:probably not|nah|just kidding|only joking|jk|not really|or not|"
    r"no,? (?:wait,? |actually,? |sorry,? )*(?:do(?:n['’]?t| not)(?: bother| do (?:it|that))?|never ?mind|forget "
    r"(?:it|that)|scrap that))\W*$",
    re.IGNORECASE,
)

_NO: Final = r"(?:(?:no|nah|nope|wait|oh|ah|sorry|actually|hmm+|hm|well|hang on|hold on|on second thoughts?)[\s,.!:;–-]*)"
_TAKEN_BACK_BEHIND = re.compile(
    rf"^(?:{_NO}+(?:do(?:n['’]?t| not)(?: (?:bother|do (?:it|that)|remind me))?|no need(?: to)?)|"
    rf"{_NO}*(?:(?:cancel|scrap|forget|scratch) (?:it|that|this)|never ?mind))"
    r"(?: (?:about (?:it|that)|after all|any ?more|now|then|please))*[\s.!]*$",
    re.IGNORECASE,
)


def is_taken_back(said: str) -> bool:
    """Whether a sentence takes back what the one before said: "No, actually, don't."."""
    return _TAKEN_BACK_BEHIND.match(said) is not None


def is_own(before: str, after: str = "") -> bool:
    """Whether the clause between what stands ``before`` it in its sentence and what comes ``after`` is a main clause of
    the speaker's own.

    >>> is_own("yesterday Ana rang, so "), is_own("Ana thinks "), is_own("I don't think ")
    (True, False, False)
    """
    if before.count('"') % 2 or before.count("“") > before.count("”") or _LABEL.match(before):
        return False
    if _TOLD_AFTER.search(after) or _TAKEN_BACK.search(after):
        return False
    clause = _last_clause(before)
    rest = _OWN_VIEW.sub("", clause)
    if _GOVERNED.search(rest) or _ASKED.search(rest) or _SUBORDINATED.search(rest):
        return False
    return bool(_FRONTED.match(rest.strip())) or _MODIFIED.search(rest) is None


def _last_clause(before: str) -> str:
    """The part that the clause stands in, with the parts before it that govern it: what somebody says goes on until a
    new sentence begins, or until "but" and "so" begin one of the speaker's own."""
    pieces = _PARTS.split(before)
    clause = pieces[-1]
    for mark, piece in zip(pieces[-2::-2], pieces[-3::-2], strict=True):
        word = mark.strip().casefold()
        told = _REPORTING_END.search(piece.strip()) and word == ","
        goes_on = word in ("and", "because", "since", "then") and _GOVERNED.search(_OWN_VIEW.sub("", piece))
        supposed = word == "," and _SUPPOSED.search(piece) is not None
        if not (told or goes_on or supposed):
            break
        clause = f"{piece}{mark}{clause}"
    return clause

"""Contractions that were written without their apostrophe: "im", "dont", and "ill" where it is no illness.

Most are no other word. Those that are ("its", "id", "ill", "well", "were", "wed", "shed", "shell", "hell", "lets")
are taken for contractions only by what stands around them, and stay as they are in doubt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from lamina.language.spoken.writing import Edit
from lamina.language.wordsets import word_set

__all__ = ["FORMS", "with_apostrophes"]

_NOT: Final = word_set(
    "dont doesnt didnt couldnt wouldnt shouldnt isnt wasnt arent werent havent hasnt hadnt wont cant aint mustnt "
    "neednt mightnt"
)
_ENDINGS: Final = {
    "m": word_set("im"), "ve": word_set("ive weve theyve youve couldve wouldve shouldve mightve mustve"),
    "re": word_set("theyre youre"), "s": word_set("hes shes thats whats wheres whos hows whens theres heres"),
    "ll": word_set("youll theyll itll thatll"), "d": word_set("youd theyd hed itd"),
}  # fmt: skip
_LENGTHS: Final = {
    **dict.fromkeys(_NOT, 1),
    **{form: len(ending) for ending, forms in _ENDINGS.items() for form in forms},
}
_SHORT: Final = word_set("im ive id ill its well were wed shed shell hell lets")
_LEADS: Final = (
    r"(?:and|but|so|then|oh|yeah|yes|yep|ok|okay|well|no|nah|because|cause|cos|since|if|when|while|until|till|that|"
    r"also|anyway|hey|hi|hello|"
    r"thinks?|thought|hopes?|guess|reckons?|bet|says?|said|wish|know|knows|sure|maybe|today|tomorrow|tonight|later|"
    r"now|please|actually|honestly)"
)
_STARTS: Final = re.compile(rf"(?:^|[.!?,;:…\n]|\b{_LEADS}) {{0,9}}$", re.IGNORECASE)
_OPENS: Final = re.compile(
    r"(?:^|[.!?…\n]|\b(?:oh|yeah|yes|ok|okay|well|no|nah|so|also|hey|hi|hello)) {0,9}$", re.IGNORECASE
)
_WHILE: Final = re.compile(r"\b(?:while|because|cause|cos|since|when|until|till) {0,9}$", re.IGNORECASE)
_DEEDS: Final = (
    r"(?:(?:also|just|probably|definitely|never|try and|have to|need to|be able to|go and) )?(?:call|ring|phone|"
    r"text|e-?mail|message|ask|tell|go|come|be|have|do|get|take|make|"
    r"buy|bring|book|pay|send|write|need|see|meet|pick|drop|leave|stay|try|let|give|find|look|check|start|finish|"
    r"move|sell|order|cancel|cook|"
    r"clean|fix|sort|put|keep|think|sleep|wait|work|help|know|miss|remember|forget|show|speak|talk|visit|wear|walk|"
    r"run|drive|fly|cycle|eat|drink|post|"
    r"print|return|collect|water|feed|renew|arrange|cover|swap|handle|transfer|update|join|switch)\b"
)
_LIKING: Final = r"(?:like|love|rather|prefer|hate)\b"
_END: Final = (
    r"(?: {0,9}$| *[.,!?;]| (?:and|but|so|or|here|there|outside|today|tonight|tomorrow|to|that|for|at|when|if|tho|"
    r"though|then|now|again|anyway|tbh)\b)"
)
_NUMBERS: Final = (
    r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|twenty|thirty|"
    r"forty|fifty)"
)

_Places = tuple[int, re.Pattern[str] | None, str, str]
"""Letters behind the apostrophe, what leads up to it, what never does, and what follows it."""
_BY_PLACE: Final[dict[str, list[_Places]]] = {
    "its": [
        (
            1,
            None,
            r"(?!)",
            r"(?:a|an|the|not|my|his|her|our|your|been|going|gonna|so(?!-)|too|really|just|about|like|at|on|in|from|"
            r"for|because|actually|probably|always|"
            r"never|called|raining|snowing|getting|working|time to|half (?:past|an|a)|quarter (?:past|to)|too)\b(?!-)"
            rf"|(?:ok|okay|fine|great|good|bad|lovely|nice|cold|hot|warm|late|early|hard|easy|cheap|expensive|"
            rf"broken|gone|done|over|true|mine|yours|hers|ours){_END}"
            rf"|(?:valid|due|open|closed|worth|allergic|painful|busy) |{_NUMBERS}(?: {_NUMBERS})? ?(?:past|to|"
            rf"o['’]?clock|am|pm|a m|p m|degrees|minutes|hours|days|weeks|pounds|euros|dollars|quid)\b|{_NUMBERS} "
            rf"*(?:$|[.,!?])",
        )
    ],
    "id": [
        (
            1,
            None,
            r"\b(?:my|your|his|her|their|our|the|a|an|this|that|which|what|user|photo|face|apple|order|session|"
            r"account|customer|product|ticket|booking|event|device|item|student|client|voter|fake|valid|no|by|of|"
            r"with|and) {0,9}$",
            _LIKING,
        ),
        (
            1,
            None,
            r"\b(?:my|your|his|her|their|our|the|a|an|this|which|what|\w*[^\W\d_](?:er|on|ct|nt|et|ce)|account|by|"
            r"of|with|no|item|event|photo|apple) {0,9}$",
            r"(?:probably|definitely|better|never|been|be able|have to|say|want|need|take|go(?:ne)? (?!to the end)|"
            r"known|forgotten|do it)\b",
        ),
    ],
    "ill": [
        (
            2,
            None,
            r"\b(?:am|is|was|were|are|be|been|being|feel|feels|feeling|felt|gets?|got|getting|falls?|fell|fallen|so|"
            r"very|really|too|quite|seriously|critically|"
            r"mentally|terminally|chronically|severely|my|your|his|her|their|our|the|an|i['’]?m|he['’]?s|she['’]?s|"
            r"taken|looks?|became|become|speak|with|of) {0,9}$",
            _DEEDS,
        )
    ],
    "well": [
        (
            2,
            _STARTS,
            r"(?:\b(?:as|might as|may as|very|oh|that) {0,9}$)",
            r"(?:(?:probably|definitely|both|all) (?!i\b|we\b|you\b)|be (?!honest|fair)|need to|have to|meet|fly|"
            r"visit|move to|go (?:to|for|with|on (?:holiday|the))|drive)\b",
        )
    ],
    "were": [
        (
            2,
            _OPENS,
            r"(?!)",
            r"(?:(?:not|all|both|still|also|just|now) )?(?:gonna|(?!(?:during|evening|morning|nothing|something|"
            r"anything|everything|string|king|ring|spring)\b)[a-z]+ing)\b(?![^.!?]*\?)",
        ),
        (2, _WHILE, r"(?!)",
            r"(?:(?:not|all|both|still|just|now) )?(?:away|off|out|at|in|on|from|having|[a-z]{2,}ing)\b"),
    ],
    "wed": [(1, _STARTS, r"(?!)", _LIKING)],
    "shed": [(1, _STARTS, r"(?!)", r"(?:like|love|rather|prefer|been|never)\b")],
    "shell": [(2, _STARTS, r"(?!)",
        r"(?:be|have|call|need|come|get|go|take|never|probably|ring|love|hate|want|start|move)\b")],
    "hell": [(2, _STARTS, r"\b(?:oh|the|like) {0,9}$",
        r"(?:be (?!damned)|need|call|ring|probably|start|move|have to|pick|bring)\b")],
    "lets": [
        (
            1,
            _OPENS,
            r"(?!)",
            r"(?:go|get|do|see|meet|book|make|try|say|talk|order|plan|cook|play|start|stick|keep|move|have|be|not|"
            r"just|call|leave|take|find|look|buy|watch|eat)\b",
        )
    ],
}  # fmt: skip
_RULES: Final = {
    form: [(length, lead, re.compile(never, re.IGNORECASE), re.compile(rf" {{1,9}}(?:{follows})", re.IGNORECASE)) for length, lead, never, follows in places]
    for form, places in _BY_PLACE.items()
}  # fmt: skip
FORMS: Final = frozenset(_LENGTHS) | frozenset(_RULES)
"""Every form that may lack its apostrophe, in small letters."""

_WORD: Final = re.compile(r"[A-Za-z]{2,9}(?![\w'’@/&-]|\.\w)")
_PART_OF_WORD: Final = re.compile(r"[\w'’.@/#&-]")
_NO_PROMISE: Final = re.compile(r"\b(?:his|her|my|their|our|your|its|a) {0,9}$", re.IGNORECASE)
_BEFORE: Final = 40


def with_apostrophes(text: str) -> Iterator[Edit]:
    """Where the apostrophes are missing."""
    for match in _WORD.finditer(text):
        form = match[0].lower()
        if form not in FORMS or _PART_OF_WORD.match(text, match.start() - 1 if match.start() else len(text)):
            continue
        if form in _SHORT and match[0][1:] != form[1:]:
            continue  # "ID", "IM" and "WELL" are written so by who means them
        before = text[max(0, match.start() - _BEFORE) : match.start()]
        length = _LENGTHS.get(form) or _by_place(form, before, text, match.end())
        if length and not _is_another(match, before, text):
            yield match.end() - length, match.end() - length, "'"


def _by_place(form: str, before: str, text: str, end: int) -> int:
    for length, lead, never, follows in _RULES[form]:
        if (lead is None or lead.search(before)) and not never.search(before) and follows.match(text, end):
            return length
    return 0


def _is_another(match: re.Match[str], before: str, text: str) -> bool:
    """ "As is her wont", "Jony Ive", "Treffen im Park"."""
    form = match[0].lower()
    if form == "wont":
        return _NO_PROMISE.search(before) is not None
    if match[0][0].isupper() and form in ("ive", "im", "hes"):
        return _OPENS.search(before) is None
    return (
        form == "im"
        and text[match.end() : match.end() + 2].strip().isupper()
        and _STARTS.search(before) is None
    )

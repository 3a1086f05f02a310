"""What others say or think of the speaker, which is not the speaker's word, and how a claim is taken back right behind
it.

Patterns over the words around a clause; who governs it in the grammar is read where there is a parse.
"""

from __future__ import annotations

import re
from typing import Final

from lamina.language.wordsets import word_set

__all__ = ["EXPERTS", "SAYINGS", "SURE", "denial", "is_attributed"]

SAYINGS: Final = word_set(
    "say says said saying tell tells told telling claim claims claimed claiming announce announces announced "
    "announcing mention mentions mentioned mentioning hear hears heard hearing report reports reported write writes "
    "wrote written writing think thinks thought thinking believe believes believed believing reckon reckons "
    "reckoned assume assumes assumed assuming suppose supposes supposed suspect suspects suspected guess guesses "
    "guessed figure figures figured feel feels felt fear fears feared insist insists insisted insisting swear "
    "swears swore argue argues argued arguing joke jokes joked joking complain complains complained complaining "
    "imply implies implied implying allege alleges alleged maintain maintains maintained whisper whispers whispered "
    "gossip gossips gossiped repeat repeats repeated shout shouts shouted text texts texted tweet tweets tweeted "
    "post posts posted warn warns warned worry worries worried lie lies lied lying convinced decide decides decided "
    "conclude concludes concluded remark remarks remarked"
)
SURE: Final = word_set("sure convinced certain adamant positive persuaded")
EXPERTS: Final = word_set(
    "doctor doctors doc docs gp dr physician surgeon nurse nurses midwife specialist consultant cardiologist "
    "dermatologist oncologist neurologist gynaecologist gynecologist allergist paediatrician pediatrician "
    "psychiatrist psychologist therapist physio physiotherapist dentist orthodontist optician optometrist "
    "pharmacist dietitian nutritionist paramedic hospital clinic surgery lab practice test tests result results "
    "scan scans bloods x-ray mri biopsy report reports letter contract passport certificate payslip records lawyer "
    "solicitor accountant notary hr bank watch scales calendar"
)
"""Who and what the speaker believes when told of themselves: "the doctor told me I'm diabetic"."""

_WHO = r"(?P<who>[^,;.!?]{1,40})"
_ACCORDING = re.compile(rf"\baccording to (?!me\b|us\b){_WHO}", re.IGNORECASE)
_THEIR_VIEW = re.compile(
    r"\b(?:in|to) (?:his|her|their|(?:(?:my|the|our) )?[\w-]{1,20}(?:['’]s|s['’])) (?:\w{1,12} )?"
    r"(?:opinion|view|eyes|mind|head|version|world|story|imagination|book)\b",
    re.IGNORECASE,
)
_RUMOUR = re.compile(
    r"\b(?:rumou?rs?|gossip|word|the story|the legend|(?:his|her|their|\w['’]s|s['’]|the) (?:\w{1,12} )?(?:theory|"
    r"claim|idea|belief|opinion|"
    r"view|impression|guess|accusation|lie|joke|line))\b[^,;.!?]{0,30}$",
    re.IGNORECASE,
)
_THEY_ARE_SURE = re.compile(
    r"\b(?!(?:it|that|this|what|here|there)\b)\w{1,20}(?:['’]s| is| was| are| were| seems?| sounds?| remains?)(?: "
    r"\w{1,12}){0,2}? "
    r"(?:convinced|sure|certain|adamant|positive|under the impression|of the opinion)(?: that)?\s*$",
    re.IGNORECASE,
)
_SAYS = (
    r"(?:sa(?:ys?|id|ying)|thinks?|thought|thinking|tells?|told|telling|claim(?:s|ed|ing)?|believe[sd]?|reckon(?:s|"
    r"ed)?|assume[sd]?|insist(?:s|ed)?|swears?|swore)"
)
_WHOM = (
    r"(?: (?:to )?(?:me|us|him|her|them|you|people|every(?:one|body)|(?:the|my|our|his|her|their)(?: "
    r"[\w-]{1,20}){1,2}|(?-i:[A-Z])[\w-]{1,20}))?"
)
_AUX = (
    r"(?:has|have|had|is|was|are|were|been|be|keeps?|kept|also|just|still|always|even|once|never|both|all|already|"
    r"only|ever|now|then|again|since|soon|\w{1,12}ly)"
)
_SAID_BEFORE = re.compile(
    rf"(?<!['’])\b(?P<who>(?:[\w.-]{{1,20}} )?(?!(?:i|we|you|and|or|to|{_AUX})\b)\w[\w'’-]{{0,20}}) (?:{_AUX} "
    rf"){{0,3}}{_SAYS}{_WHOM}(?: that)?\s*$",
    re.IGNORECASE,
)
_NO_SAYER = (
    r"(?!(?:i|we|you|to|please|never|and|so|but|or|can|could|will|would|should|do|let|not|\w{0,6}n['’]t)\b)"
)
_SAID_AFTER = re.compile(
    rf",\s+(?:(?:my|the|our|his|her) )?(?P<who>{_NO_SAYER}[\w-]{{1,20}}(?: {_NO_SAYER}[\w-]{{1,20}})?) "
    rf"{_SAYS}{_WHOM}\W*$",
    re.IGNORECASE,
)
_ONES_OWN = re.compile(r"\b(?:i|we|my|our)\b", re.IGNORECASE)
_BREAK = re.compile(r"[;!?–—]|\b(?:but|so|however|yet)\b", re.IGNORECASE)
_WORD = re.compile(r"[\w-]+")

_SURELY = (
    r"(?:(?:but|and|although|though|yet|well|no|nope|of course|actually|honestly|obviously|clearly|"
    r"only)\b[\s,]{0,2}){0,3}"
)
_JUST = (
    r"(?:\s(?:just|simply|all|totally|completely|absolutely|obviously|clearly|of course|such|an?|the|complete|total|"
    r"pure|big|utter|even|really|quite)){0,3}"
)
_FALSE = (
    r"(?:lies?|untrue|false|nonsense|rubbish|bullshit|bollocks|wrong|made[- ]up|invented|fib|joke|ridiculous|"
    r"invention|exaggerat\w{1,4})"
)
_TRUE = r"(?:true|right|correct|so|the case)"
_NOT = r"(?:['’]s not| is not| was not| isn['’]t| wasn['’]t)"
_END = r"(?=\W*$|\s?[.,;!?]|\s(?:and|but|because|of course|obviously|though|i)\b)"
_DENIED: Final = (
    rf"(?:(?:which|that|this|it|all of (?:it|that|this))(?:(?:['’]s| is| was){_JUST}\s{_FALSE}|"
    rf"{_NOT}{_JUST}\s{_TRUE}){_END}"
    rf"|(?!(?:i|we|it)\b)\w{{2,20}}(?:['’]s|['’]re| is| are| was| were){_JUST}\s(?:wrong|lying|mistaken|joking){_END}"
    rf"|i (?:lied|was (?:lying|joking)|made (?:it|that) up){_END}|not(?: even| really| at all)? {_TRUE}{_END}"
    rf"|(?:an? |all |complete |total |pure ){{0,2}}{_FALSE}\W*$)"
)
_I_AM_NOT = (
    r"(?:i|we)(?:(?:['’]m|['’]re| am| are)(?: \w+ly)? not|(?:['’]m| am) no such thing|"
    r" (?:don['’]t|do not|didn['’]t|haven['’]t|have not|can['’]t|wasn['’]t|weren['’]t|never (?:have|did|was)))"
    r"(?: (?:really|at all|though|of course|actually|either|any more|anymore)){0,2}(?=\W*$|[.,;!?])"
)
_DENIAL = re.compile(
    rf"(?:^\W*|[,;.!–—(-]\s{{0,2}}|\s(?=(?:but|though|although)\s)){_SURELY}(?:(?P<all>{_DENIED})|"
    rf"(?P<own>{_I_AM_NOT}))",
    re.IGNORECASE,
)


def is_attributed(before: str, after: str) -> bool:
    """Whether the words around a clause put it down to somebody else than the speaker, or to talk.

    >>> is_attributed("According to Leonie ", ""), is_attributed("", " a fool, in Tom's opinion"), is_attributed("I
    told them ", "")
    (True, True, False)
    """
    clause = _BREAK.split(before)[-1]
    rest = _BREAK.split(after, maxsplit=1)[0]
    for part in (clause, rest):
        source = _ACCORDING.search(part)
        if source is not None and not _is_expert(source["who"]):
            return True
        if _THEIR_VIEW.search(part) is not None:
            return True
    said = _SAID_AFTER.search(after) or _SAID_BEFORE.search(clause)
    if said is not None and not _is_expert(said["who"]):
        return True
    if (talk := _RUMOUR.search(clause)) is not None and not _ONES_OWN.search(clause[talk.start() :]):
        return True
    sure = _THEY_ARE_SURE.search(clause)
    return sure is not None and not _ONES_OWN.match(sure[0])


def denial(after: str, following: str) -> str | None:
    """How what was just told is denied in the rest ``after`` it or at the beginning of the ``following`` sentence:
    "all" of it, or what it says of the speaker's "own"; None when it is not.

    >>> denial(", which is a lie.", ""), denial(".", "But I'm not."), denial(".", "I'm not sure what to do.")
    ('all', 'own', None)
    """
    found = _DENIAL.search(after) or _DENIAL.match(following)
    return None if found is None else "all" if found["all"] else "own"


def _is_expert(who: str) -> bool:
    return any(word.lower() in EXPERTS for word in _WORD.findall(who))

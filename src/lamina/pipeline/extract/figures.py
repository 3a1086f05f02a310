"""Figures of speech: what nobody is though it is said of them, what nobody is allergic to, and who is married to no person.

"I'm a mess" and "my boss is a dinosaur" tell a mood. What a person is comes from nouns of a class alone: what somebody does
("runner"), believes, eats, or is by family and origin; and not with "such a", "basically", "today" or "when ...".
"""

from __future__ import annotations

from typing import Final

from lamina.language.wordsets import word_set
from lamina.pipeline.extract import vocabulary as words
from lamina.pipeline.extract.clauses import Clause
from lamina.pipeline.extract.syntax import Parse, Token

__all__ = ["is_allergen", "is_figurative", "is_said_of_people", "is_spouse"]

_LOOSELY: Final = word_set(
    "basically practically literally virtually essentially like sometimes occasionally today tonight lately"
)
_SCORN: Final = word_set(
    "such total complete absolute utter terrible awful horrible bad lousy shitty crap crappy bloody fucking freaking damn walking proper rubbish "
    "hopeless useless miserable regular"
)
_MOMENTS: Final = word_set("today tonight week morning evening afternoon weekend month moment night")
_CLASSES: Final = word_set(
    "vegetarian vegan pescatarian omnivore carnivore flexitarian foodie teetotaller teetotaler alcoholic insomniac "
    "introvert extrovert extravert ambivert optimist pessimist perfectionist owl lark bookworm nerd geek gamer techie minimalist "
    "christian catholic protestant lutheran methodist baptist quaker mormon muslim jew hindu buddhist sikh atheist agnostic believer "
    "woman man lesbian virgin twin triplet widow widower orphan bachelor parent survivor veteran refugee immigrant expat citizen resident "
    "local native minor adult teen teenager pensioner retiree graduate alumnus undergraduate freshman sophomore junior student pupil "
    "member volunteer activist donor carer caregiver guardian godmother godfather homeowner landlady landlord tenant lodger "
    "beginner novice amateur pro professional expert enthusiast fan fanatic buff collector hobbyist athlete "
    "person newbie newcomer regular mum mom dad mother father stepmum stepdad stepmother stepfather grandmother grandfather grandma grandpa grandparent "
    "wife husband aunt uncle sister brother cousin friend colleague neighbour neighbor teammate partner roommate flatmate "
    "aries taurus gemini leo virgo libra scorpio sagittarius capricorn aquarius pisces hypochondriac psychic celiac coeliac diabetic asthmatic"
)
_DOES: Final = ("er", "or", "ist", "ian", "eer", "ant")
_DOERS: Final = (
    "keeper", "maker", "worker", "owner", "lover", "goer", "holder", "player", "driver", "builder", "fighter", "runner", "walker", "rider",
    "eater", "drinker", "writer", "reader", "watcher", "smoker",
)  # fmt: skip
_NOT_DONE: Final = word_set(
    "monster loser sucker liar cheater faker wanker tosser bugger killer stinker disaster traitor joker whiner whinger quitter slacker "
    "motherfucker fucker gangster hipster dinosaur slob goner bummer downer blabber stunner charmer heartbreaker troublemaker winner "
    "player keeper number wonder spider tiger beaver panther tower feather letter corner master dreamer hustler stranger blister "
    "mirror horror terror error rollercoaster boulder giant elephant ant cormorant tyrant peasant servant infant "
    "martian barbarian narcissist sadist masochist fascist racist sexist terrorist"
)
_NAMED: Final = word_set(
    "cat dog rabbit bunny hamster parrot horse pony goldfish gecko ferret puppy kitten tortoise"
)
_THINGS: Final = word_set(
    "library framework tool database language company startup firm brand band city town village app service platform product project module server "
    "customer client supplier vendor competitor charity agency bank shop restaurant cafe bar hotel"
)
_ABSTRACT: Final = ("ness", "ity", "ism", "ship", "ment", "tude", "cracy", "dom", "ology")
_NO_SUBSTANCE: Final = word_set(
    "drama bullshit nonsense stupidity people men women man woman boss work job jobs school homework sport sports gym love romance talk gossip "
    "politics advice chore chores housework change changes success failure deadline deadlines email emails phone phones noise idiot idiots fool fools "
    "liar liars paperwork bureaucracy maths math jargon feedback compliment compliments attention criticism authority rules bs crap lie lies fun effort "
    "patience exercise morning mornings evening evenings weekend weekends holidays christmas hypocrites hypocrisy money marriage "
    "relationship relationships question questions problem problems stress hype spam cliche cliches bills taxes debt traffic queues crowds life"
)
_SUBSTANCES: Final = word_set(
    "dressing pudding icing frosting stuffing herring flavouring flavoring colouring coloring thickening seasoning coating sting stings "
    "liniment ointment supplement supplements pigment pigments"
)
_DAYS: Final = word_set(
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays "
    "january february april june july august september october november december"
)
_SPOUSES: Final = word_set(
    "woman man guy girl person wife husband ex childhood sweetheart foreigner widow widower nobody somebody someone"
)


def is_figurative(parse: Parse, clause: Clause, target: Token) -> bool:
    """Whether it is told loosely what somebody is: "such an idiot", "basically a nurse", "a baby when he's ill"."""
    if any(
        t.lower in _LOOSELY or t.lower in _MOMENTS for t in parse.children(clause.verb, "advmod", "npadvmod")
    ):
        return True
    near = parse.children(target, "predet", "amod", "advmod", "npadvmod", "compound")
    if any(t.lower in _SCORN | _LOOSELY or (t.i > target.i and t.lower in _MOMENTS) for t in near):
        return True
    to_me = any(
        inner.tag == "PRP"
        for prep in parse.children(target, "prep")
        if prep.lower == "to"
        for inner in parse.children(prep, "pobj")
    )
    when = (t for c in parse.children(clause.verb, "advcl") for t in parse.children(c, "advmod", "mark"))
    return to_me or any(t.lower in ("when", "whenever", "until") for t in when)


def is_said_of_people(parse: Parse, target: Token, *, named: bool) -> bool:
    """Whether a noun tells what a person is; of what has a bare name, which may be a thing's, also what a thing or a pet is."""
    noun, lemma = target.lower, target.lemma
    if named and (lemma in _NAMED or lemma in _THINGS):
        return True
    if noun in _NOT_DONE or lemma in _NOT_DONE:
        return False
    if lemma == "child":
        return any(t.lower == "only" for t in parse.children(target, "amod", "advmod"))
    if noun in _CLASSES or lemma in _CLASSES or noun.endswith("aholic"):
        return True
    return noun.endswith(_DOES) and len(noun) > 4 and _is_doer(parse, noun)


def _is_doer(parse: Parse, noun: str) -> bool:
    if noun.endswith(("ist", "ian", "eer", *_DOERS)):
        return True
    stem = noun[:-2] if not noun.endswith("ant") else noun[:-3]
    doubled = stem[:-1] if len(stem) > 2 and stem[-1] == stem[-2] else stem
    return any(
        parse.is_word(each)
        for each in (stem, f"{stem}e", doubled, f"{stem[:-1]}y" if stem.endswith("i") else stem)
    )


def is_allergen(word: str, tag: str = "") -> bool:
    """Whether somebody may be allergic to it in earnest: no doing, event, day, feeling, or person of a kind."""
    lower = word.lower()
    if lower in _SUBSTANCES:
        return True
    one = lower.removesuffix("s")
    told = {lower, one, lower.removesuffix("es")}
    no_substance = told & (
        _NO_SUBSTANCE | _DAYS | words.EVENT_NOUNS | words.OCCUPATIONS | words.RELATIONS.keys()
    )
    doing = tag == "VBG" or (one.endswith("ing") and len(one) > 5)
    return not no_substance and not doing and not lower.endswith(_ABSTRACT)


def is_spouse(target: Token) -> bool:
    """Whether one may be married to it: a name, or a noun of people; not "my job" or "the sea"."""
    lemma = target.lemma
    return (
        (target.is_name and target.text[:1].isupper())
        or target.tag.startswith(("PRP", "WP"))
        or lemma in words.RELATIONS
        or lemma in words.OCCUPATIONS
        or lemma in _SPOUSES
        or lemma.endswith(("ician", "ologist"))
    )

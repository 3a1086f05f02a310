"""Made-up conversation of any length: seeded, varied, with sessions and speakers, and free of anybody's data.

Sentences are templates over the words of a topic; names, places, products and numbers follow a long-tailed
distribution, so that a scope has common words and words that occur once, as real talk has.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

__all__ = ["Corpus", "Said", "questions"]

_TOPICS: dict[str, tuple[str, str, str]] = {
    "garden": (
        "tomatoes,roses,compost,greenhouse,hedge,seedlings,lavender,weeds,soil,beans,herbs,lawn,pond,tulips",
        "planted,watered,pruned,dug up,harvested,moved,covered,fertilised",
        "dry,muddy,overgrown,blooming,frosty,sunny,wild",
    ),
    "cooking": (
        "risotto,sourdough,curry,pancakes,stew,dumplings,lasagne,soup,pickles,marinade,cheesecake,noodles,salad",
        "cooked,baked,tasted,burned,served,froze,ordered,seasoned",
        "spicy,bland,crispy,salty,homemade,vegetarian,leftover",
    ),
    "travel": (
        "ferry,hostel,passport,mountain hut,night train,museum,beach,suitcase,border,market,guidebook,old town",
        "booked,missed,visited,cancelled,packed,reached,photographed,recommended",
        "crowded,remote,cheap,foggy,delayed,historic,quiet",
    ),
    "work": (
        "deadline,release,invoice,meeting,prototype,contract,customer,budget,interview,presentation,report,audit",
        "finished,postponed,reviewed,rejected,prepared,signed,presented,delegated",
        "urgent,boring,confidential,overdue,quarterly,internal,final",
    ),
    "software": (
        "database,migration,test suite,endpoint,index,parser,container,dashboard,queue,cache,token,backup",
        "deployed,rewrote,debugged,benchmarked,reverted,documented,merged,profiled",
        "flaky,slow,legacy,asynchronous,broken,encrypted,green",
    ),
    "music": (
        "guitar,choir,concert,melody,piano lesson,drum kit,playlist,festival,cello,rehearsal,vinyl,chorus",
        "practised,recorded,heard,tuned,composed,sold,performed,downloaded",
        "loud,gentle,acoustic,sold out,improvised,melancholy,rhythmic",
    ),
    "health": (
        "knee,physiotherapist,allergy,sleep,vitamins,dentist,running shoes,yoga class,headache,blood test,diet",
        "treated,stretched,measured,postponed,improved,injured,checked,healed",
        "sore,healthy,tired,swollen,regular,painful,rested",
    ),
    "family": (
        "birthday,wedding,grandmother,cousin,baby,school play,homework,nephew,reunion,photo album,bedtime,twins",
        "celebrated,visited,called,hugged,surprised,raised,invited,missed",
        "proud,noisy,shy,grown up,adopted,sleepy,excited",
    ),
    "pets": (
        "puppy,aquarium,vet,parrot,leash,kitten,rabbit hutch,hamster,kennel,collar,stable,tortoise",
        "fed,trained,adopted,walked,brushed,rescued,lost,named",
        "playful,stubborn,furry,anxious,muddy,spoiled,gentle",
    ),
    "home": (
        "roof,kitchen tiles,boiler,bookshelf,curtains,balcony,mortgage,cellar,staircase,paint,neighbour,key",
        "repaired,painted,sold,insulated,rented,cleaned,assembled,measured",
        "leaking,bright,draughty,second hand,renovated,cosy,dusty",
    ),
    "sport": (
        "marathon,climbing wall,swimming pool,league,goalkeeper,bicycle,kayak,tennis racket,referee,relay,ski pass",
        "won,lost,trained for,watched,joined,crossed,scored,quit",
        "fast,steep,exhausting,amateur,frozen,narrow,unbeaten",
    ),
    "art": (
        "watercolour,gallery,sketchbook,pottery wheel,sculpture,canvas,exhibition,portrait,mural,frame,clay,easel",
        "painted,exhibited,sold,framed,admired,restored,donated,sketched",
        "abstract,colourful,fragile,unfinished,antique,bold,delicate",
    ),
}

_TEMPLATES = (
    "I {did} the {thing} {when}, and it was rather {how}.",
    "My {thing} is {how} again, so I asked {person} for help.",
    "{person} {did} a {how} {thing} in {place} {when}.",
    "Did you know that {person} {did} {number} {thing}s last year?",
    "We paid {number} euros for the {thing} from {brand}.",
    "I really like the {how} {thing} that {person} showed me.",
    "{when} I am going to {place} with {person} because of the {thing}.",
    "I used to think the {thing} was {how}, but the {other} changed my mind.",
    "The {thing} and the {other} were both {how}, can you believe it?",
    "{person} works at {brand} in {place} and {did} the {thing} there.",
    "My favourite {thing} is the {how} one from {place}.",
    "What happened to the {thing} that you {did} {when}?",
    "Honestly, the {other} took {number} hours and the {thing} is still {how}.",
    "I promised {person} to look after the {thing} until {when}.",
    "Yeah, that sounds great!",
    "Ha, I know exactly what you mean.",
    "Thanks for telling me about the {thing}.",
    "I moved from {place} to {place2} {when} and took the {thing} along.",
)
_QUESTIONS = (
    "Who {did} the {how} {thing} in {place}?",
    "What did {speaker} say about the {thing}?",
    "When did {person} go to {place}?",
    "How much did the {thing} from {brand} cost?",
    "What is {speaker}'s favourite {thing}?",
    "Where does {person} work?",
    "Which {thing} was {how} in {month}?",
    "Has {speaker} ever {did} a {other}?",
)
_WHEN = (
    "yesterday", "last week", "on Friday", "this morning", "in March", "two days ago", "next month", "in 2024",
    "at the weekend", "last summer", "before breakfast", "tomorrow evening",
)  # fmt: skip
_MONTHS = ("January", "March", "May", "July", "September", "November")
_ONSETS = (
    "b",
    "br",
    "c",
    "d",
    "f",
    "g",
    "h",
    "j",
    "k",
    "l",
    "m",
    "n",
    "p",
    "r",
    "s",
    "sh",
    "st",
    "t",
    "v",
    "w",
)
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ea", "io")
_ENDS = ("n", "r", "s", "l", "th", "nd", "x", "m", "", "")
_SESSION_TURNS = 20


@dataclass(frozen=True, slots=True)
class Said:
    """One turn of the made-up conversation."""

    speaker: str
    session: str
    observed_at: datetime
    text: str

    def item(self, key: str) -> dict[str, Any]:  # Any: JSON
        """The turn as an experience of the HTTP contract, without its scope."""
        return {
            "modality": "conversation",
            "content": {"kind": "message", "role": "user", "text": self.text},
            "context": {"observed_at": self.observed_at.isoformat().replace("+00:00", "Z")},
            "observed_actor": {
                "id": f"user:{self.speaker.lower()}",
                "name": self.speaker,
                "session": self.session,
            },
            "idempotency_key": key,
        }


class Corpus:
    """Turns and questions drawn from one vocabulary."""

    def __init__(self, seed: int, names: int = 2000) -> None:
        self._random = random.Random(seed)
        self._people = [self._name() for _ in range(names)]
        self._places = [self._name() for _ in range(names // 4)]
        self._brands = [f"{self._name()} {kind}" for kind in ("Labs", "Works", "Foods") for _ in range(60)]
        self._speakers = [self._name() for _ in range(8)]

    def turns(self, count: int) -> Iterator[Said]:
        """``count`` turns in the order of time, about 20 to a session, each session of two speakers."""
        at = datetime(2023, 1, 2, 8, 0, tzinfo=UTC)
        draw, session, pair = self._random, 0, ["", ""]
        topic = "garden"
        for number in range(count):
            if number % _SESSION_TURNS == 0:
                session += 1
                at += timedelta(minutes=draw.randint(40, 400))
                pair = draw.sample(self._speakers, 2)
                topic = draw.choice(list(_TOPICS))
            elif draw.random() < 0.15:
                topic = draw.choice(list(_TOPICS))
            at += timedelta(seconds=draw.randint(5, 50))
            yield Said(pair[number % 2], f"session-{session}", at, self._text(topic))

    def question(self) -> str:
        """A question about what may have been said."""
        return self._random.choice(_QUESTIONS).format_map(self._words(self._random.choice(list(_TOPICS))))

    def _text(self, topic: str) -> str:
        draw = self._random
        count = draw.choices((1, 2, 3, 4), (4, 4, 2, 1))[0]
        return " ".join(draw.choice(_TEMPLATES).format_map(self._words(topic)) for _ in range(count))

    def _words(self, topic: str) -> dict[str, str]:
        draw = self._random
        things, deeds, hows = (words.split(",") for words in _TOPICS[topic])
        thing, other = draw.sample(things, 2)
        return {
            "thing": thing,
            "other": other,
            "did": draw.choice(deeds),
            "how": draw.choice(hows),
            "person": self._rare(self._people),
            "place": self._rare(self._places),
            "place2": self._rare(self._places),
            "brand": self._rare(self._brands),
            "speaker": draw.choice(self._speakers),
            "number": str(int(draw.paretovariate(0.8)) + 1),
            "when": draw.choice(_WHEN),
            "month": draw.choice(_MONTHS),
        }

    def _rare(self, words: list[str]) -> str:
        return words[min(len(words) - 1, int(self._random.paretovariate(0.6)) - 1)]

    def _name(self) -> str:
        draw = self._random
        parts = [draw.choice(_ONSETS) + draw.choice(_VOWELS) for _ in range(draw.choice((1, 2, 2, 3)))]
        return ("".join(parts) + draw.choice(_ENDS)).capitalize()


def questions(seed: int, count: int) -> list[str]:
    """``count`` questions in the words of ``Corpus(seed)``."""
    corpus = Corpus(seed)
    return [corpus.question() for _ in range(count)]

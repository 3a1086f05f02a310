"""The predicates that extraction gives, and the words that lead to them.

A predicate in `PREDICATES` has a fixed kind and says whether a newer value supersedes an older one. Everything else
is the verb's lemma with particle and preposition ("sign_up_for"), kind event when past and attribute otherwise.
Open families: `favourite_<noun>` and `<noun>_count`, both single-valued.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from lamina.language.wordsets import word_set
from lamina.pipeline.extract.inflect import plural
from lamina.pipeline.extract.values import EntityType, Kind


@dataclass(frozen=True, slots=True)
class Predicate:
    """`object_type` corrects the type of a named object: what somebody lives in is a place.

    `phrase` is what stands between subject and object of a restatement, in the singular, or has `{}` for the object.
    Without one (`known` is false) the predicate is a verb that nobody wrote a phrase for.
    """

    kind: Kind
    single_valued: bool = False
    object_type: EntityType | None = None
    phrase: str = ""

    @property
    def known(self) -> bool:
        return self.phrase != ""


_P = Predicate
PREDICATES: Final[dict[str, Predicate]] = {
    # identity
    "name_is": _P("identity", True, phrase="'s name is"), "known_as": _P("identity", phrase="is known as"),
    "goes_by": _P("identity", True, phrase="goes by"), "timezone": _P("identity", True, phrase="'s timezone is"),
    "age": _P("identity", True, phrase="'s age is"), "born_on": _P("identity", True, phrase="was born on"),
    "birthday": _P("identity", True, phrase="'s birthday is"),
    "born_in": _P("identity", True, "place", "was born in"), "from": _P("identity", True, "place", "is from"),
    "is_a": _P("identity", phrase="is"), "speaks": _P("identity", False, "language", "speaks"),
    "pronouns": _P("identity", True, phrase="'s pronouns are"),
    "relationship_status": _P("identity", True, phrase="'s relationship status is"),
    "diet": _P("identity", phrase="'s diet is"), "allergic_to": _P("identity", phrase="is allergic to"),
    # role
    "works_as": _P("role", True, phrase="works as"), "works_at": _P("role", True, "organisation", "works at"),
    "works_in": _P("role", phrase="works in"), "works_on": _P("role", phrase="works on"),
    "works_with": _P("role", phrase="works with"), "studies": _P("role", phrase="studies"),
    "studies_at": _P("role", True, "organisation", "studies at"),
    "graduated_from": _P("role", False, "organisation", "graduated from"),
    "member_of": _P("role", False, "group", "is a member of"),
    "responsible_for": _P("role", phrase="is responsible for"),
    "volunteers_at": _P("role", False, "organisation", "volunteers at"),
    # place
    "lives_in": _P("place", True, "place", "lives in"), "grew_up_in": _P("place", False, "place", "grew up in"),
    "located_in": _P("place", True, "place", "is located in"),
    # possession
    "has": _P("possession", phrase="has"), "owns": _P("possession", phrase="owns"),
    "has_pet": _P("possession", False, "animal", "has a pet"), "drives": _P("possession", phrase="drives"),
    # relation
    "married_to": _P("relation", True, "person", "is married to"),
    "engaged_to": _P("relation", True, "person", "is engaged to"),
    "partner_of": _P("relation", True, "person", "is the partner of"),
    "sibling_of": _P("relation", False, "person", "is a sibling of"),
    "parent_of": _P("relation", False, "person", "is a parent of"),
    "child_of": _P("relation", False, "person", "is a child of"),
    "relative_of": _P("relation", False, "person", "is a relative of"),
    "friend_of": _P("relation", False, "person", "is a friend of"),
    "colleague_of": _P("relation", False, "person", "is a colleague of"),
    "knows": _P("relation", False, "person", "knows"), "manager": _P("relation", True, "person", "'s manager is"),
    # preference
    "likes": _P("preference", phrase="likes"), "dislikes": _P("preference", phrase="dislikes"),
    "prefers": _P("preference", phrase="prefers"), "interested_in": _P("preference", phrase="is interested in"),
    "avoids": _P("preference", phrase="avoids"), "afraid_of": _P("preference", phrase="is afraid of"),
    "drinks": _P("preference", phrase="drinks"), "eats": _P("preference", phrase="eats"),
    "plays": _P("preference", phrase="plays"), "uses": _P("preference", phrase="uses"),
    # plans and commitments
    "plans_to": _P("plan", phrase="plans to"), "plans": _P("plan", phrase="plans"),
    "wants_to": _P("plan", phrase="wants to"), "wants": _P("plan", phrase="wants"),
    "considers": _P("plan", phrase="is considering"), "looks_forward_to": _P("plan", phrase="looks forward to"),
    "committed_to": _P("commitment", phrase="committed to"), "needs_to": _P("commitment", phrase="needs to"),
    # state and quantity
    "status": _P("state_change", True, phrase="'s status is"),
    "stage": _P("state_change", True, phrase="'s stage is"), "price": _P("quantity", True, phrase="costs"),
    "weight": _P("quantity", True, phrase="weighs"), "height": _P("quantity", True, phrase="'s height is"),
    # events that have a word of their own
    "moved_to": _P("event", phrase="moved to"), "moved_from": _P("event", phrase="moved from"),
    "visited": _P("event", phrase="visited"), "attended": _P("event", phrase="attended"),
    "joined": _P("event", phrase="joined"), "started": _P("event", phrase="started"),
    "finished": _P("event", phrase="finished"), "bought": _P("event", phrase="bought"),
    "sold": _P("event", phrase="sold"), "ordered": _P("event", phrase="ordered"),
    "stopped": _P("event", phrase="stopped"), "good_at": _P("attribute", phrase="is good at"),
    "adopted": _P("event", phrase="adopted"), "left": _P("event", phrase="left"), "met": _P("event", phrase="met"),
    "won": _P("event", phrase="won"), "lost": _P("event", phrase="lost"),
    "signed_up_for": _P("event", phrase="signed up for"), "has_scheduled": _P("event", phrase="has scheduled"),
    "had": _P("event", phrase="had"), "got_job": _P("event", phrase="got"), "got_pet": _P("event", phrase="got"),
}  # fmt: skip

# (lemma, slot): the slot is "dobj" or particle and preposition. Present and past lead to the same predicate; the
# tense decides about validity (a past state has ended).
CANON: Final[dict[tuple[str, str], str]] = {
    ("live", "in"): "lives_in", ("live", "at"): "lives_in", ("reside", "in"): "lives_in", ("stay", "in"): "stay_in",
    ("work", "as"): "works_as", ("work", "for"): "works_at", ("work", "at"): "works_at", ("work", "in"): "works_in",
    ("work", "on"): "works_on", ("work", "with"): "works_with", ("serve", "as"): "works_as",
    ("volunteer", "at"): "volunteers_at", ("volunteer", "for"): "volunteers_at",
    ("study", "dobj"): "studies", ("study", "at"): "studies_at", ("major", "in"): "studies",
    ("graduate", "from"): "graduated_from",
    ("grow", "up in"): "grew_up_in", ("come", "from"): "from", ("bear", "in"): "born_in", ("raise", "in"): "grew_up_in",
    ("locate", "in"): "located_in", ("base", "in"): "lives_in",
    ("own", "dobj"): "owns", ("drive", "dobj"): "drives",
    ("buy", "dobj"): "bought", ("purchase", "dobj"): "bought", ("order", "dobj"): "ordered", ("sell", "dobj"): "sold",
    ("adopt", "dobj"): "adopted",
    ("marry", "dobj"): "married_to", ("marry", "to"): "married_to", ("engage", "to"): "engaged_to",
    ("speak", "dobj"): "speaks", ("meet", "dobj"): "met", ("know", "dobj"): "knows",
    ("visit", "dobj"): "visited", ("travel", "to"): "visited", ("fly", "to"): "visited",
    ("attend", "dobj"): "attended", ("participate", "in"): "attended", ("take", "part in"): "attended",
    ("join", "dobj"): "joined", ("sign", "up for"): "signed_up_for", ("enrol", "in"): "signed_up_for",
    ("enroll", "in"): "signed_up_for", ("register", "for"): "signed_up_for",
    ("start", "dobj"): "started", ("begin", "dobj"): "started", ("launch", "dobj"): "started",
    ("found", "dobj"): "started", ("finish", "dobj"): "finished", ("complete", "dobj"): "finished",
    ("quit", "dobj"): "left", ("leave", "dobj"): "left", ("win", "dobj"): "won", ("lose", "dobj"): "lost",
    ("like", "dobj"): "likes", ("love", "dobj"): "likes", ("enjoy", "dobj"): "likes", ("adore", "dobj"): "likes",
    ("hate", "dobj"): "dislikes", ("dislike", "dobj"): "dislikes", ("detest", "dobj"): "dislikes",
    ("loathe", "dobj"): "dislikes", ("prefer", "dobj"): "prefers", ("avoid", "dobj"): "avoids",
    ("want", "dobj"): "wants", ("plan", "dobj"): "plans", ("cost", "dobj"): "price", ("weigh", "dobj"): "weight", ("consider", "dobj"): "considers",
    ("belong", "to"): "member_of", ("report", "to"): "manager", ("drink", "dobj"): "drinks",
    ("eat", "dobj"): "eats", ("play", "dobj"): "plays", ("use", "dobj"): "uses", ("look", "forward to"): "looks_forward_to",
}  # fmt: skip

ADJECTIVE_CANON: Final = {
    ("allergic", "to"): "allergic_to", ("intolerant", "to"): "allergic_to", ("interested", "in"): "interested_in",
    ("passionate", "about"): "likes", ("fond", "of"): "likes", ("crazy", "about"): "likes",
    ("obsessed", "with"): "likes", ("into", ""): "likes", ("afraid", "of"): "afraid_of",
    ("scared", "of"): "afraid_of", ("terrified", "of"): "afraid_of", ("married", "to"): "married_to",
    ("engaged", "to"): "engaged_to", ("responsible", "for"): "responsible_for", ("based", "in"): "lives_in",
    ("located", "in"): "located_in", ("born", "in"): "born_in", ("good", "at"): "good_at",
    ("fluent", "in"): "speaks",
}  # fmt: skip
ADJECTIVE_ATTRIBUTES: Final = {
    **dict.fromkeys(
        ("single", "married", "divorced", "widowed", "engaged", "separated"), "relationship_status"
    ),
    **dict.fromkeys(("vegan", "vegetarian", "pescatarian", "kosher", "halal", "celiac", "coeliac"), "diet"),
    **dict.fromkeys(
        word_set(
            "active inactive open closed done finished complete completed delayed cancelled canceled approved rejected "
            "pending blocked signed live shipped launched paid overdue postponed won lost down offline online "
            "broken fixed "
            "resolved merged retired unemployed pregnant deployed released archived paused"
        ),
        "status",
    ),
}

RELATIONS: Final[dict[str, tuple[str, str]]] = {
    # noun: (predicate from the owner's side, gender f/m/n)
    **dict.fromkeys(("sister", "sis"), ("sibling_of", "f")),
    **dict.fromkeys(("brother", "bro"), ("sibling_of", "m")),
    **dict.fromkeys(("sibling", "twin"), ("sibling_of", "n")),
    **dict.fromkeys(("mother", "mom", "mum", "mama", "mummy", "mommy"), ("child_of", "f")),
    **dict.fromkeys(("father", "dad", "papa", "daddy"), ("child_of", "m")),
    "parent": ("child_of", "n"),
    **dict.fromkeys(("daughter",), ("parent_of", "f")),
    **dict.fromkeys(("son",), ("parent_of", "m")),
    **dict.fromkeys(("child", "kid", "baby", "toddler"), ("parent_of", "n")),
    **dict.fromkeys(("wife", "fiancee", "fiancée"), ("married_to", "f")),
    **dict.fromkeys(("husband", "hubby"), ("married_to", "m")),
    "spouse": ("married_to", "n"),
    **dict.fromkeys(("fiance", "fiancé"), ("engaged_to", "m")),
    "girlfriend": ("partner_of", "f"),
    "boyfriend": ("partner_of", "m"),
    "partner": ("partner_of", "n"),
    **dict.fromkeys(("grandmother", "grandma", "granny", "gran", "nan", "nana", "aunt", "auntie", "niece", "granddaughter"), ("relative_of", "f")),
    **dict.fromkeys(("grandfather", "grandpa", "grandad", "granddad", "uncle", "nephew", "grandson"), ("relative_of", "m")),
    **dict.fromkeys(("cousin", "grandchild", "grandparent", "relative"), ("relative_of", "n")),
    **dict.fromkeys(("friend", "buddy", "bestie", "roommate", "flatmate", "neighbour", "neighbor"), ("friend_of", "n")),
    **dict.fromkeys(("colleague", "coworker", "co-worker", "teammate"), ("colleague_of", "n")),
    **dict.fromkeys(("boss", "manager", "supervisor"), ("manager", "n")),
    **dict.fromkeys(("doctor", "therapist", "coach", "teacher", "mentor", "landlord", "dentist"), ("knows", "n")),
}  # fmt: skip
OWN_KIN: Final = word_set(
    "mum mummy mom mommy mama dad daddy papa grandma granny gran nan nana grandpa grandad granddad"
)
"""Kin that is the speaker's own when nobody's name stands before it: "dad died", "Mum lives in York"."""
BLENDED_KIN: Final = {
    **dict.fromkeys(("mother", "mum", "mom", "sister", "daughter"), "f"),
    **dict.fromkeys(("father", "dad", "brother", "son"), "m"),
    **dict.fromkeys(("parent", "sibling", "child", "kid"), "n"),
}
"""Kin by marriage or by half, once "-in-law", "step" or "half" goes with it: no mother, but a relative."""
RELATIONS.update(
    {
        word: ("relative_of", gender)
        for kin, gender in BLENDED_KIN.items()
        for word in (f"{kin}-in-law", f"half-{kin}", f"step-{kin}", f"step{kin}", f"foster-{kin}")
    }
)
PETS: Final = word_set(
    "dog cat puppy kitten pet hamster rabbit bunny parrot bird fish goldfish turtle tortoise horse pony "
    "snake lizard gecko guinea ferret pup kitty"
)
OCCUPATIONS: Final = word_set(
    "nurse doctor teacher engineer developer programmer lawyer attorney accountant chef cook baker barista waiter "
    "waitress plumber electrician carpenter mechanic pilot driver farmer writer author journalist editor designer "
    "architect artist musician singer dancer actor actress photographer dentist therapist psychologist counselor "
    "counsellor scientist researcher professor lecturer student pharmacist veterinarian vet surgeon physician "
    "consultant analyst manager director ceo cto cfo coo founder cofounder co-founder entrepreneur freelancer "
    "intern secretary receptionist librarian firefighter soldier officer detective paramedic midwife translator "
    "interpreter marketer salesperson recruiter banker trader broker realtor coach trainer instructor tutor "
    "principal designer biologist chemist physicist economist historian geologist statistician administrator "
    "technician contractor bartender hairdresser barber tailor janitor sailor judge politician mayor president "
    "minister tester physio physiotherapist pm tech dev devops sre qa copywriter barrister solicitor notary "
    "paralegal paediatrician pediatrician gp anaesthetist obstetrician radiographer optician optometrist "
    "chiropractor osteopath dietitian nutritionist carer caregiver nanny childminder headteacher headmaster "
    "headmistress gardener landscaper roofer builder bricklayer joiner welder machinist fitter decorator painter "
    "courier cleaner porter warden conductor steward stewardess cabinetmaker baker butcher fishmonger florist "
    "jeweller goldsmith potter sculptor illustrator animator filmmaker cameraman presenter reporter columnist "
    "blogger youtuber streamer podcaster comedian composer conductor drummer guitarist pianist violinist dj referee "
    "jockey footballer cyclist stuntman ranger zookeeper beekeeper fisherman lumberjack shepherd surveyor planner "
    "auditor bookkeeper actuary underwriter stockbroker cashier clerk receptionist apprentice trainee postdoc "
    "superintendent supervisor foreman dispatcher bouncer bodyguard detective policeman policewoman constable "
    "sergeant captain lieutenant colonel monk nun priest vicar rabbi imam pastor chaplain undertaker auctioneer "
    "curator archivist"
)
ATTRIBUTE_NOUNS: Final = word_set(
    "birthday email address phone number goal dream hobby hobbies job major passion nickname password role title "
    "team budget deadline salary rent timezone language religion height weight size colour color specialty "
    "instrument status stage pronouns diet school university employer company hometown home priority"
)
_ONE_AT_A_TIME = word_set("budget salary rent")
GERUND_OBJECT: Final = {"like": "likes", "love": "likes", "enjoy": "likes", "adore": "likes", "hate": "dislikes", "dislike": "dislikes",
                  "prefer": "prefers", "start": "started", "begin": "started", "finish": "finished", "quit": "left",
                  "avoid": "avoids", "stop": "stopped", "consider": "considers"}  # fmt: skip
LIGHT_NOUNS: Final = word_set(
    "time fun chance idea feeling look blast talk question problem issue point plan hand sense way effect "
    "impact good great conversation word influence trouble hard feel connection bond reason thought hope "
    "heart soul mind moment change support goal dream smile break view taste vibe touch energy vision "
    "passion inspiration attitude outlook perspective lesson significance progress experience journey truth self "
    "life world potential strength confidence ton bunch day part spot step way"
)
FORMER: Final = word_set("old former ex previous last then ex-")
EVENT_NOUNS: Final = word_set(
    "concert conference meetup meeting workshop class lecture talk seminar webinar wedding party festival "
    "parade funeral ceremony game match tournament exhibition exhibit fair convention group session show "
    "play event gala reunion retreat camp summit hackathon marathon race march rally service interview "
    "appointment course expo screening dinner lunch brunch picnic bbq barbecue"
)
HABITUAL: Final = frozenset(["eats", "plays", "uses"])
"""Said of the present they tell how somebody is; of the past, what they once did."""
CONSUMED: Final = frozenset(["eats", "drinks"])
TASTES: Final = frozenset(["likes", "dislikes", "prefers", "avoids"])
MUTUAL: Final = frozenset(name for name, known in PREDICATES.items() if known.kind == "relation")
"""Predicates that the addressee may be the object of; "I love you" and "I showed you" are no memory."""
STATIVE: Final = word_set(
    "lives_in works_as works_at works_in works_on works_with studies studies_at owns has has_pet drives "
    "speaks status located_in member_of volunteers_at married_to partner_of engaged_to price wants prefers "
    "manager drinks good_at"
)
"""States: in the past tense they have ended by `observed_at`."""


def canonical_count(noun: str) -> str:
    """The predicate for a count of `noun` (already singular): "seat" gives "seat_count"."""
    return f"{slug(noun)}_count"


_NON_WORD = re.compile(r"[^\w]+")


def slug(words: str) -> str:
    """`words` as a snake_case predicate of at most 60 characters."""
    return _NON_WORD.sub("_", words.casefold()).strip("_")[:60]


def describe(predicate: str, *, past: bool) -> Predicate:
    """What is known about `predicate`; unknown ones are events when past and attributes otherwise."""
    known = PREDICATES.get(predicate)
    if known is not None:
        return known
    words = predicate.replace("_", " ")
    if words.split(" ")[-1] in ATTRIBUTE_NOUNS and not predicate.startswith("did_"):
        return Predicate("attribute", words.split(" ")[-1] in _ONE_AT_A_TIME, phrase=f"'s {words} is")
    if predicate.startswith("favourite_"):
        return Predicate("preference", True, phrase=f"'s {words} is")
    if predicate.endswith("_count"):
        return Predicate("quantity", True, phrase=f"has {{}} {plural(words.removesuffix(' count'))}")
    return Predicate("event" if past else "attribute")

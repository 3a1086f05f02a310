"""From a parse to clauses: who does what, how surely, and what is no claim at all.

A clause is dropped when it is a question, a condition, a wish, an order or a quotation. What is left carries a
doubt by the verb it depends on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lamina.language.tables import table
from lamina.pipeline.extract.asking import asks, is_inverted, is_question
from lamina.pipeline.extract.limits import CONJUNCTS_MAX
from lamina.pipeline.extract.references import is_denied
from lamina.pipeline.extract.syntax import Parse, Token
from lamina.pipeline.extract.unreal import unreal_verbs

_TABLE = table(__name__)
CLAUSAL = _TABLE.words("clausal")
_THINK = _TABLE.words("think")
_SAY = _TABLE.words("say")
_UNREAL = _TABLE.words("unreal")
_UNREAL_NOUNS = _TABLE.words("unreal_nouns")
_CONDITION = _TABLE.words("condition")
_GIVING = _TABLE.words("giving")
_KEEPING = _TABLE.words("keeping")
_DENYING = _TABLE.words("denying")
_BESIDE = _TABLE.words("beside")
_JUDGING = _TABLE.words("judging")
_UNCERTAIN = _TABLE.words("uncertain")
_NOBODY = _TABLE.words("nobody")
_PARTLY = _TABLE.words("partly")
_HABITS = _TABLE.words("habits")
_ASIDES = _TABLE.words("asides")
_WHOLLY = _TABLE.words("wholly")
_LASTING = _TABLE.words("lasting")
_HEDGES = _TABLE.words("hedges")
_BECOMING = _TABLE.words("becoming")
_NEVER = _TABLE.words("never")
_NONE = _TABLE.words("none")
_ONLY = _TABLE.words("only")
_UNREAL_MODALS = _TABLE.words("unreal_modals")
_SELVES = _TABLE.words("selves")
_TO_ONESELF = _TABLE.pairs("to_oneself")


@dataclass(slots=True)
class Clause:
    """`negated` covers not, never and "no" before an object; `modal` is the modal's lemma; `ended` is "no longer" and "anymore"; `begins`
    is "became", "got" and "married": what is told in the past is so since."""

    parse: Parse
    verb: Token
    subject: Token | None
    doubt: float = 1.0
    hedged: bool = False
    negated: bool = False
    ended: bool = False
    begins: bool = False
    modal: str = ""
    past: bool = False
    progressive: bool = False
    perfect: bool = False
    passive: bool = False
    relative_object: Token | None = None
    telegraphic: bool = False

    @property
    def lemma(self) -> str:
        lemma = self.verb.lemma
        given = self.parse.children(self.verb, "dobj", "dative") if lemma in _TO_ONESELF else []
        return _TO_ONESELF[lemma] if any(t.lower in _SELVES for t in given) else lemma

    def objects(self, *deps: str) -> list[Token]:
        """Children of the verb with one of `deps`, and what is joined to them by "and"; contrasted ones left out, and so of "a dog and no
        cat" and "a dog, no cat" the cat."""
        found: list[Token] = []
        children = self._without_recipient(self.parse.children(self.verb, *deps))
        for child in children:
            joined = conjuncts(self.parse, child)
            found.extend(t for t in joined if _is_none(self.parse, t) is _is_none(self.parse, children[0]))
        if not found and self.relative_object is not None and "dobj" in deps and self._stranded is None:
            found.append(self.relative_object)
        return found

    def _without_recipient(self, children: list[Token]) -> list[Token]:
        """Of two objects side by side the first is who gets the other: "I sold Marcus my bike"."""
        objects = [t for t in children if t.dep == "dobj" and t.i > self.verb.i]
        if len(objects) < 2 or self.lemma not in _GIVING or objects[-1].entity in ("DATE", "TIME"):
            return children
        return [t for t in children if t is not objects[0]]

    @property
    def _stranded(self) -> Token | None:
        """The preposition left behind in "a shelter I volunteer at"."""
        preps = self.parse.children(self.verb, "prep") if self.relative_object is not None else []
        return next(
            (
                p
                for p in preps
                if not any(
                    t.is_noun and t.entity not in ("DATE", "TIME") for t in _prep_objects(self.parse, p)
                )
            ),
            None,
        )

    @property
    def particle(self) -> str:
        child = self.parse.child(self.verb, "prt")
        return child.lower if child else ""

    def prepositions(self) -> Iterator[tuple[str, list[Token]]]:
        """(slot, objects) pairs: "up for" for "sign up for a class"."""
        prefix = f"{self.particle} " if self.particle else ""
        for prep in self.parse.children(self.verb, "prep", "agent", "dative"):
            if not prep.tag.startswith(("IN", "TO", "RP")) or _is_left_out(self.parse, prep):
                continue
            if prep is self._stranded and self.relative_object is not None:
                yield f"{prefix}{prep.lower}", [self.relative_object]
                continue
            yield f"{prefix}{prep.lower}", _prep_objects(self.parse, prep)
            for nested in self.parse.children(prep, "prep"):  # "back from", "out of"
                yield f"{prefix}{prep.lower} {nested.lower}", _prep_objects(self.parse, nested)
        for adverb in self.parse.children(self.verb, "advmod"):
            for prep in self.parse.children(adverb, "prep"):
                yield f"{prefix}{adverb.lower} {prep.lower}", _prep_objects(self.parse, prep)


def _prep_objects(parse: Parse, prep: Token) -> list[Token]:
    objects = [t for child in parse.children(prep, "pobj", "pcomp") for t in conjuncts(parse, child)]
    return [t for t in objects if not _is_none(parse, t)]


def _is_none(parse: Parse, noun: Token) -> bool:
    """ "No dog", "neither dogs nor cats": there is none."""
    return any(t.lower in _NONE for t in parse.children(noun, "det", "preconj", "cc") if t.i < noun.i)


def _is_anything_but(parse: Parse, token: Token) -> bool:
    return token.lower == "anything" and any(t.lower == "but" for t in parse.children(token, "prep", "cc"))


def _is_left_out(parse: Parse, token: Token) -> bool:
    """ "Tom, not me, works there", "I live not in Leeds but near it"; not "not only in Leeds"."""
    return any(parse.tokens[t.i + 1].lower not in _ONLY for t in _nots_before(parse, token))


def _nots_before(parse: Parse, token: Token) -> list[Token]:
    """In "Lisbon, not Porto" the parser hangs "not" on either of them; it denies what follows it."""
    below = parse.children(token, "neg", "preconj", "advmod")
    return [t for t in below if t.lower == "not" and t.i < token.i]


def conjuncts(parse: Parse, token: Token) -> list[Token]:
    """`token` and what "and", "or", "," join to it, without contrasted ones ("Lisbon, not Porto")."""
    found: list[Token] = []
    pending = [token]
    while pending and len(found) < CONJUNCTS_MAX:
        current = pending.pop(0)
        if _nots_before(parse, current):
            continue
        found.append(current)
        but = [t.i for t in parse.children(current, "cc") if t.lower == "but"]  # "all music but country"
        joined = [t for t in parse.children(current, "conj") if not but or t.i < but[0]]
        pending.extend(t for t in joined if t.is_verb == token.is_verb)
    return found


def is_choice(parse: Parse, token: Token) -> bool:
    """Whether `token` is one of those that "or" joins: "either Tom or Anna", "in Graz or Linz"."""
    while token.dep == "conj":
        token = parse.head(token)
    joined: Token | None = token
    while joined is not None:
        if any(t.lower in ("or", "nor") for t in parse.children(joined, "cc")):
            return True
        joined = parse.child(joined, "conj")
    return False


def find_clauses(parse: Parse, *, elliptic: bool) -> list[Clause]:
    """The clauses of the sentence that claim something, in text order; ``elliptic`` when "I" may have been left out."""
    if is_question(parse):
        return []
    found = []
    unreal = unreal_verbs(parse)
    for token in parse.tokens:
        if token.is_verb and token.dep in CLAUSAL and token.tag != "MD" and token.i not in unreal:
            clause = _clause(parse, token, elliptic=elliptic)
            if clause is not None:
                found.append(clause)
    return found


def _clause(parse: Parse, verb: Token, *, elliptic: bool) -> Clause | None:
    clause = Clause(parse, verb, None)
    _find_subject(clause, elliptic=elliptic)
    purpose = verb.tag == "VB" and any(t.lower == "to" for t in parse.children(verb, "aux"))
    if clause.subject is None or purpose or _is_unreal(clause) or _is_partly_denied(clause):
        return None
    _read_auxiliaries(clause)
    if not clause.telegraphic and is_inverted(parse, verb, clause.subject):
        return None
    _read_adverbs(clause)
    return clause


def _is_partly_denied(clause: Clause) -> bool:
    """ "I haven't always lived there", "I don't eat meat on Fridays": nothing follows for other times and places."""
    parse, verb = clause.parse, clause.verb
    for word in parse.children(verb, "neg"):
        if any(t.lower in _PARTLY for t in parse.tokens[word.i + 1 : word.i + 2]):
            return True
    if verb.lemma not in _HABITS or not parse.children(verb, "neg"):
        return False
    restricting = [verb, *parse.children(verb, "dobj")]
    where = (t for each in restricting for t in parse.children(each, "prep", "advmod"))
    return any(t.lower in _ASIDES and t.i > verb.i and not _is_wholly(parse, t) for t in where)


def _is_wholly(parse: Parse, word: Token) -> bool:
    """ "At all", "for ethical reasons": no part is left out."""
    return any(t.lower in _WHOLLY for t in parse.subtree(word))


def _find_subject(clause: Clause, *, elliptic: bool) -> None:
    parse, verb = clause.parse, clause.verb
    if parse.child(verb, "expl"):
        return
    subjects = [t for t in parse.children(verb, "nsubj", "nsubjpass") if not _is_left_out(parse, t)]
    # "My colleagues and I went" is sometimes parsed as two subjects; the speaker is the one we know best.
    subject = next((t for t in subjects if t.lower == "i"), subjects[0] if subjects else None)
    if subject is None and verb.dep == "conj":
        subject = _shared_subject(parse, verb)
    if verb.dep == "relcl":
        noun = parse.head(verb)
        if is_denied(parse, noun):
            return  # "it's my cousin, not my sister, who works there"
        if subject is None or subject.tag in ("WP", "WDT"):
            subject = noun if subject is not None else None
        elif not parse.children(verb, "dobj", "ccomp", "xcomp") and _relative_is_object(parse, verb):
            clause.relative_object = noun
    if subject is None and elliptic and verb.dep == "ROOT" and _is_telegraphic(parse, verb):
        clause.telegraphic = True
        subject = verb
    clause.subject = subject


def _relative_is_object(parse: Parse, verb: Token) -> bool:
    # "the day we met", "the way I feel": the noun is no object of the verb.
    noun = parse.head(verb)
    return noun.lemma not in _RELATIVE_ADVERBIALS and not any(
        t.lower in ("when", "where", "why", "how") for t in parse.children(verb, "advmod")
    )


_RELATIVE_ADVERBIALS = _TABLE.words("relative_adverbials")


def _shared_subject(parse: Parse, verb: Token) -> Token | None:
    for ancestor in parse.ancestors(verb):
        if ancestor.is_verb:
            subject = parse.child(ancestor, "nsubj", "nsubjpass")
            if subject is not None and subject.tag not in ("WP", "WDT"):
                same_form = (verb.tag == "VB") == (ancestor.tag == "VB") or verb.tag == ancestor.tag
                return subject if same_form or verb.tag in ("VBD", "VBZ", "VBP") else None
            if ancestor.dep != "conj":
                return None
    return None


def _is_telegraphic(parse: Parse, verb: Token) -> bool:
    # "Went to Paris yesterday", "Just finished my book": the speaker left out the "I".
    if verb.tag not in ("VBD", "VBN") or verb.lemma == "be":
        return False
    before = [t for t in parse.tokens[: verb.i] if t.tag not in (",", "UH", ".", ":")]
    return all(
        t.lower in ("just", "finally", "also", "recently", "already", "actually", "and") for t in before
    )


def _is_unreal(clause: Clause) -> bool:
    parse, verb = clause.parse, clause.verb
    quoted = parse.text[: verb.start].count('"') % 2 == 1 or parse.text[: verb.start].count("“") > parse.text[
        : verb.start
    ].count("”")
    titled = verb.i > 0 and verb.text[:1].isupper() and not verb.text.isupper()
    if quoted or titled or _is_condition(parse, verb):
        return True
    token = verb
    for ancestor in parse.ancestors(verb):
        if token.dep in ("ccomp", "advcl", "xcomp", "acl") and ancestor.is_verb:
            if token.dep == "ccomp" and (_governed_unreal(clause, ancestor) or asks(parse, ancestor)):
                return True
            if _is_condition(parse, ancestor):
                return True
        if token.dep == "ccomp" and ancestor.dep == "acomp" and _is_uncertain(parse, ancestor):
            return True
        if (
            token.dep in ("relcl", "acl")
            and ancestor.lemma in _UNREAL_NOUNS
            and _has_own_subject(parse, token)
        ):
            return True  # "there's no way Tom has a dog"
        token = ancestor
    return False


def _has_own_subject(parse: Parse, verb: Token) -> bool:
    subject = parse.child(verb, "nsubj", "nsubjpass")
    return subject is not None and subject.tag not in ("WP", "WDT")


def _is_condition(parse: Parse, verb: Token) -> bool:
    if verb.dep == "advcl" or verb.dep == "ccomp":
        marks = [t for t in parse.children(verb, "mark", "advmod") if t.i < verb.i]
        return any(t.lower in _CONDITION and not _is_reason(parse, t, verb) for t in marks)
    return False


def _is_reason(parse: Parse, mark: Token, verb: Token) -> bool:
    """ "As I'm allergic to nuts, I ...": said of what is; not "as long as I live", "as I lived in Leeds"."""
    before = parse.tokens[mark.i - 1] if mark.i else None
    opens = before is None or before.tag in (",", ":", "UH", "CC")
    return mark.lower == "as" and opens and verb.lemma in _LASTING and verb.tag in ("VBP", "VBZ")


def _is_uncertain(parse: Parse, adjective: Token) -> bool:
    """ "I'm not sure Anna lives there", "I'm unsure whether ...", "make sure I ..."."""
    verb = parse.head(adjective)
    return adjective.lower in _UNCERTAIN or verb.lemma in _UNREAL or parse.child(verb, "neg") is not None


def _governed_unreal(clause: Clause, governor: Token) -> bool:
    parse = clause.parse
    lemma = governor.lemma
    subject = parse.child(governor, "nsubj")
    inner = parse.child(clause.verb, "nsubj", "nsubjpass")
    after = governor.i < clause.verb.i
    if lemma in _UNREAL and after:
        return True
    if lemma == "be" and after and subject is not None and subject.lemma in _UNREAL_NOUNS:
        return True  # "my nightmare is that I live in Slough"
    if lemma == "be" and after and any(t.lower in _UNCERTAIN for t in parse.children(governor, "acomp")):
        return True
    if (
        lemma in _THINK | _SAY
        and subject is not None
        and (subject.lower in _NOBODY or _is_none(parse, subject))
    ):
        return True
    if inner is not None and inner.tag in ("WP", "WDT", "WRB"):
        return True
    denied, yours = bool(parse.children(governor, "neg")), subject is not None and subject.lower == "you"
    if not after and _stands_beside(clause, governor):
        return False
    if lemma == "forget" and after:
        return not denied and governor.lower == "forget" and (yours or subject is None)
    if denied:
        return True
    if lemma in _KEEPING and after and yours:
        return False
    if lemma in _THINK:
        if after and clause.verb.tag == "VBD" and _is_over(parse, governor):
            return True  # "I thought I was allergic"
        clause.hedged = True
    elif lemma in _SAY and yours:
        return True
    return lemma == "doubt" or (yours and after)


def _is_over(parse: Parse, verb: Token) -> bool:
    """ "Thought" and "used to think" is not any more."""
    return verb.tag == "VBD" or (verb.dep == "xcomp" and parse.head(verb).lower == "used")


def _stands_beside(clause: Clause, governor: Token) -> bool:
    """ "I live in Leeds, so don't book London": what the parser puts under a verb behind it is said by itself."""
    parse = clause.parse
    between = parse.tokens[clause.verb.i + 1 : governor.i]
    below = {t.lower for t in parse.children(governor, "acomp", "attr", "advmod") if t.i > governor.i}
    if any(t.lower == "so" for t in between):
        return True
    about_it = governor.lemma in _THINK | _SAY | _JUDGING and parse.child(governor, "nsubj") is not None
    return any(t.text in _BESIDE for t in between) and not about_it and not below & _DENYING


def _read_auxiliaries(clause: Clause) -> None:
    verb = clause.verb
    auxiliaries = clause.parse.children(verb, "aux", "auxpass")
    bare = verb.dep == "ccomp" and verb.tag in ("VB", "VBN") and not auxiliaries
    helped = bare and clause.parse.head(verb).tag == "VBD"  # "Tom helped me move", "I got my bike serviced"
    clause.past = verb.tag == "VBD" or helped
    clause.begins = verb.lemma in _BECOMING
    if verb.dep == "conj" and verb.tag in ("VB", "VBG", "VBN") and not auxiliaries:
        auxiliaries = clause.parse.children(clause.parse.head(verb), "aux", "auxpass")  # "I'll go and buy it"
    for aux in auxiliaries:
        lemma = aux.lemma
        if aux.tag == "MD" or lemma in ("will", "would"):
            clause.modal = "will" if lemma in ("will", "'ll") else lemma
        elif aux.dep == "auxpass":
            clause.passive = True
            clause.begins = lemma in _BECOMING
            clause.progressive = clause.progressive or (aux.tag == "VBG" and lemma == "get")
            clause.past = clause.past or aux.tag in ("VBD", "VBN")
        elif lemma == "have":
            clause.perfect = aux.tag != "VBD"  # "I had lived in Leeds" is over
            clause.past = clause.past or not clause.perfect
        elif lemma == "be" and verb.tag == "VBG":
            clause.progressive = True
            clause.past = clause.past or aux.tag == "VBD"
        elif lemma in ("do", "be") and aux.tag == "VBD":
            clause.past = True
    if clause.telegraphic:
        clause.past = True
    if clause.perfect and not clause.progressive:
        clause.past = True
    if clause.modal in ("may", "might"):
        clause.hedged = True


def _read_adverbs(clause: Clause) -> None:
    parse, verb = clause.parse, clause.verb
    for child in parse.children(verb, "neg", "advmod", "aux", "preconj", "npadvmod"):
        word = child.lower
        if parse.tokens[child.i + 1 : child.i + 2] and parse.tokens[child.i + 1].lower in _ONLY:
            continue  # "not only a teacher"
        # "Hardly ever" is an adverb of another.
        if (
            child.dep == "neg"
            or word in _NEVER
            or any(t.lower in _NEVER for t in parse.children(child, "advmod"))
        ):
            clause.negated = True
        if word in _HEDGES:
            clause.hedged = True
        if word in ("anymore", "longer") and not _is_of_another(parse, verb, child):
            clause.negated = clause.ended = True
    complement = parse.child(
        verb, "dobj", "attr", "acomp"
    )  # the first: "I use vim, no emacs tips" denies no vim
    if complement is not None:
        _read_complement(clause, complement)


def _read_complement(clause: Clause, complement: Token) -> None:
    """The parser hangs the adverbs of "I'm no longer vegan" and "I was never vegan" on the adjective, too."""
    parse = clause.parse
    if _is_none(parse, complement) or _is_anything_but(parse, complement):
        clause.negated = True
    before = [t for t in parse.children(complement, "advmod", "neg") if t.i < complement.i]
    if any(t.lower == "longer" for t in before):
        clause.negated = clause.ended = True
    if complement.dep != "dobj" and any(
        t.lower in _NEVER and (complement.dep == "acomp" or t.dep == "neg") for t in before
    ):
        clause.negated = True


def _is_of_another(parse: Parse, verb: Token, adverb: Token) -> bool:
    """ "We switched to Redis, nobody wanted to run Kafka anymore": what the parser hangs on the first verb ends
    another."""
    between = parse.tokens[verb.i + 1 : adverb.i]
    return parse.child(verb, "neg") is None and any(t.dep == "neg" and t.head != adverb.i for t in between)


def is_hypothetical(clause: Clause) -> bool:
    """Would, could, should, can: not a claim about what is."""
    return clause.modal in _UNREAL_MODALS

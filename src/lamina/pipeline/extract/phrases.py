"""Noun and verb phrases as values: an entity when something is named, otherwise trimmed words."""

from __future__ import annotations

from dataclasses import dataclass

from lamina.language.wordsets import word_set
from lamina.pipeline.extract.limits import PHRASE_TOKENS_MAX
from lamina.pipeline.extract.references import FIRST, References, entity
from lamina.pipeline.extract.syntax import Parse, Token
from lamina.pipeline.extract.times import Times
from lamina.pipeline.extract.values import EntityRef, LiteralValue

Value = EntityRef | LiteralValue

_NOUN_SKIP = word_set("relcl appos punct acl advcl preconj parataxis ccomp intj advmod")
_JOINED = frozenset(("conj", "cc"))
_VERB_SKIP = word_set("advcl parataxis relcl intj mark ccomp")
_OWN_SKIP = word_set("aux auxpass neg cc conj nsubj punct")
# Nouns that say nothing without their context.
VAGUE = word_set(
    "thing things stuff lot lots bit way ways kind sort something anything everything nothing one ones "
    "time times fun part sense point reason moment moments it that this these those all both some any "
    "none much more most other others others same what which who day days while blast chance look idea "
    "thought feeling feelings word words difference person people guy guys anyone someone everyone place "
    "side journey memories memory experience experiences ton tons couple number hand case rest place end "
    "start step steps kinds progress impact love joy news story stories surge energy mix sucker note must "
    "dream mission highlight ride road roller meantime meanwhile rest team_effort reminder"
)
_PARTITIVE = word_set(
    "lot lots bit kind sort couple number ton tons bunch pair piece cup glass type few some one all"
)
_DETERMINERS = frozenset(("DT", "PRP$", "PDT", "WDT", "WP$"))


def noun_value(parse: Parse, token: Token, refs: References, times: Times) -> Value | None:
    """What the noun phrase headed by `token` stands for; None when nothing that can be kept."""
    if times.covers(token):
        return None
    if token.tag in ("PRP", "PRP$") or token.lower in FIRST:
        return refs.pronoun(token)
    if (token.is_verb and token.tag not in ("VBG", "VB")) or (
        token.entity in ("DATE", "TIME") and not token.is_name
    ):
        return None
    if token.is_verb:
        return verb_value(parse, token, times)
    if token.lower in _PARTITIVE:
        whole = parse.child(token, "prep")
        inner = parse.child(whole, "pobj") if whole is not None and whole.lower == "of" else None
        return noun_value(parse, inner, refs, times) if inner is not None else None
    if not token.is_noun and token.tag not in ("CD", "JJ", "FW", "ADD", "SYM", "XX", "HYPH"):
        return None
    called = refs.given_name(parse, token) if not token.is_name else None
    if called is not None and token.lemma not in refs.kin_nouns:
        return refs.remember(entity(called, "thing"))
    if token.is_name or token.entity:
        ref = refs.named(parse, token)
        if ref is not None and (token.is_name or token.entity in _NAMED_LABELS):
            return ref
    kin = refs.kin(parse, token)
    if kin is not None:
        return kin
    return _literal_noun(parse, token, times)


_NAMED_LABELS = word_set("PERSON ORG GPE FAC LOC PRODUCT WORK_OF_ART EVENT")


def _literal_noun(parse: Parse, token: Token, times: Times) -> Value | None:
    words = phrase_tokens(parse, token, times)
    if not words or len(words) > PHRASE_TOKENS_MAX:
        return None
    if token.lower in VAGUE or token.tag in ("PRP", "DT"):
        content = [t for t in words if t is not token and (t.is_noun or t.tag == "VBG")]
        if not content or token.lower in ("lot", "bit", "it", "that", "this"):
            return None
    text = parse.words(words).strip(" \"'“”*-")
    if len(text) < 2 and not text.isdigit():
        return None
    return LiteralValue("string", text) if any(c.isalnum() for c in text) else None


def phrase_tokens(parse: Parse, token: Token, times: Times) -> list[Token]:
    """The tokens of the noun phrase without determiners, clauses, conjuncts, appositions and times."""
    # Only what is joined to the head is a value of its own; "brands like Nike and Puma" stays whole.
    below = [
        t
        for c in parse.children(token)
        if c.dep not in _NOUN_SKIP | _JOINED
        for t in parse.subtree(c, _NOUN_SKIP)
    ]
    kept = sorted((t for t in (token, *below) if not times.covers(t)), key=lambda t: t.i)
    found = _joined(parse, kept)
    while found and (
        found[0].tag in _DETERMINERS or found[0].tag in ("IN", "TO", ",", "``", ":", "RB", "CC")
    ):
        found = found[1:]
    while found and found[-1].tag in ("IN", "TO", ",", "''", ":", ".", "DT", "CC", "PRP$", "WDT"):
        found = found[:-1]
    return found


def _joined(parse: Parse, tokens: list[Token]) -> list[Token]:
    """With the hyphens and slashes between them, which hang elsewhere in the tree."""
    kept = {t.i for t in tokens}
    between = [t for t in parse.tokens if t.text in ("-", "/", "&") and {t.i - 1, t.i + 1} <= kept]
    return sorted([*tokens, *(t for t in between if t.i not in kept)], key=lambda t: t.i)


def verb_value(parse: Parse, verb: Token, times: Times) -> LiteralValue | None:
    """The verb phrase as words: "open a dance studio"; None when it only points elsewhere ("do it")."""
    below = [
        t
        for c in parse.children(verb)
        if c.dep not in _VERB_SKIP | _OWN_SKIP
        for t in parse.subtree(c, _VERB_SKIP)
    ]
    tokens = sorted((t for t in (verb, *below) if t.i >= verb.i and not times.covers(t)), key=lambda t: t.i)
    return words_value(parse, _joined(parse, tokens))


def words_value(parse: Parse, tokens: list[Token]) -> LiteralValue | None:
    tokens = _until_pause(tokens)[:PHRASE_TOKENS_MAX]
    while tokens and (
        tokens[-1].lower in _TAIL
        or tokens[-1].tag in ("IN", "TO", ",", ".", ":", "CC", "DT", "PRP$", "''", "``", "-LRB-")
    ):
        tokens = tokens[:-1]
    content = [t for t in tokens[1:] if t.is_noun or t.tag in ("CD", "VBG", "VB")]
    if not content or all(t.lower in VAGUE for t in content):
        return None
    if tokens[1:2] and tokens[1].lower in ("it", "that", "this", "you", "them"):
        return None
    return LiteralValue("string", parse.words(tokens).strip(" \"'“”*-"))


_TAIL = word_set(
    "now right soon lately too again though together personally anyway already currently instead"
)


def _until_pause(tokens: list[Token]) -> list[Token]:
    for position, token in enumerate(tokens):
        dash = token.text == "-" and position > 0 and token.start > tokens[position - 1].end
        if dash or token.tag in (".", ":", "-LRB-") or token.text in ("–", "—", ";"):
            return tokens[:position]
    return tokens


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with what it counts; `noun` is singular, `literal` ready to store."""

    literal: LiteralValue
    noun: str


_MEASURES = word_set(
    "kg kilo kilogram gram pound lb lbs mile km kilometre kilometer meter metre cm inch foot feet litre "
    "liter gallon dollar euro percent % degree celsius calorie gb mb tb usd eur gbp hour minute second "
    "day week month year"
)
_DURATIONS = word_set("hour minute second day week month year")
_NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "hundred": 100, "dozen": 12,
}  # fmt: skip
_SCALES = {
    "hundred": 100,
    "thousand": 1_000,
    "k": 1_000,
    "million": 1_000_000,
    "m": 1_000_000,
    "billion": 1_000_000_000,
}


def number_of(tokens: list[Token]) -> int | float | None:
    """The value of "200", "1,500", "2.5 million", "three"; None when it is no plain number."""
    value: int | float | None = None
    for token in tokens:
        word = token.lower.replace(",", "").lstrip("$€£#")
        if value is not None and word in _SCALES:
            value = value * _SCALES[word]
            continue
        if value is not None:
            return None
        if word in _NUMBERS:
            value = _NUMBERS[word]
        elif len(word) <= 15 and word.isascii() and word.replace(".", "", 1).isdigit():
            value = float(word) if "." in word else int(word)
        elif (
            len(word) <= 15
            and word[-1:] in ("k", "m")
            and word[:-1].isascii()
            and word[:-1].replace(".", "", 1).isdigit()
        ):
            value = float(word[:-1]) * _SCALES[word[-1]]
        else:
            return None
    return int(value) if isinstance(value, float) and value.is_integer() else value


def amount_of(parse: Parse, token: Token) -> Amount | None:
    """The amount when `token` heads one: "200 seats", "5 kg", "$300"."""
    if token.tag == "CD":
        digits = [
            *[t for t in parse.children(token, "compound", "quantmod", "nummod") if t.tag == "CD"],
            token,
        ]
        currency = parse.child(token, "nmod", "quantmod")
        value = number_of(sorted(digits, key=lambda t: t.i))
        if value is None:
            return None
        if currency is not None and currency.text in ("$", "€", "£"):
            return Amount(LiteralValue("quantity", value, currency.text), "")
        return Amount(LiteralValue("integer" if isinstance(value, int) else "number", value), "")
    if not (token.is_noun or token.text == "%"):
        return None
    counts = [t for t in parse.children(token, "nummod") if t.tag == "CD"]
    if len(counts) != 1:
        return None
    scale = [t for t in parse.children(counts[0], "compound", "quantmod") if t.tag == "CD"]
    value = number_of(sorted([*scale, counts[0]], key=lambda t: t.i))
    if value is None:
        return None
    noun = token.lemma if token.tag == "NNS" else token.lower
    if noun in _DURATIONS:
        return Amount(LiteralValue("duration", value, noun), noun)
    if noun in _MEASURES:
        return Amount(LiteralValue("quantity", value, noun), noun)
    kind = [t.lower for t in parse.children(token, "compound")]
    return Amount(
        LiteralValue("integer" if isinstance(value, int) else "number", value), "_".join([*kind, noun])
    )

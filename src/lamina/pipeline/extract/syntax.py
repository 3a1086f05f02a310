"""A dependency parse as plain values, and the spaCy pipeline that gives it.

`en_core_web_sm` 3.8 is used with tagger, parser and named entities. Attribute ruler and lemmatizer are left out (103
against 179 conversation turns/s); lemmas of the few words that need one come from the same lookup tables. Sentences
are parsed one by one, never as a running text, so a parse depends on its sentence alone. Outputs were compared bit
for bit between batches of 1, 64 and 256 in different orders and are equal: a batch is a matter of speed only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from lamina.language.tables import table
from lamina.pipeline.extract.kin import NounPhrase, folded
from lamina.pipeline.extract.limits import PARSE_BATCH
from lamina.pipeline.extract.parser_files import model_folder


@dataclass(slots=True)
class Token:
    """`start` and `end` are offsets in the parsed text, `entity` is a NER label or ""."""

    i: int
    text: str
    lower: str
    tag: str
    dep: str
    head: int
    start: int
    end: int
    entity: str
    lemma: str
    children: list[int] = field(default_factory=list)

    @property
    def is_verb(self) -> bool:
        return self.tag.startswith("VB") or self.tag == "MD"

    @property
    def is_noun(self) -> bool:
        return self.tag.startswith("NN")

    @property
    def is_name(self) -> bool:
        return self.tag.startswith("NNP")


@dataclass(slots=True)
class Parse:
    """One parsed sentence. `entities` are (first token, end token, label); `is_word` tells whether English has a
    word."""

    text: str
    tokens: list[Token]
    entities: list[tuple[int, int, str]]
    is_word: Callable[[str], bool] = field(compare=False, repr=False)

    def head(self, token: Token) -> Token:
        return self.tokens[token.head]

    def children(self, token: Token, *deps: str) -> list[Token]:
        return [self.tokens[i] for i in token.children if not deps or self.tokens[i].dep in deps]

    def child(self, token: Token, *deps: str) -> Token | None:
        return next(iter(self.children(token, *deps)), None)

    def subtree(self, token: Token, skip: frozenset[str] = frozenset()) -> list[Token]:
        """`token` and what hangs below it in text order, without branches whose dependency is in `skip`."""
        found, pending = [token.i], [token.i]
        while pending:
            for i in self.tokens[pending.pop()].children:
                if self.tokens[i].dep not in skip:
                    found.append(i)
                    pending.append(i)
        return [self.tokens[i] for i in sorted(found)]

    def ancestors(self, token: Token) -> Iterator[Token]:
        while token.head != token.i:
            token = self.tokens[token.head]
            yield token

    def words(self, tokens: Iterable[Token]) -> str:
        """The text of `tokens` as written, with one space where something was left out."""
        parts: list[str] = []
        last: Token | None = None
        for token in tokens:
            glue = last is not None and token.start == last.end
            parts.append(token.text if glue or last is None else f" {token.text}")
            last = token
        return "".join(parts)


class Parser:
    """Loads the English pipeline; about 0.6 s and 150 MB. Not for use by several threads at once.

    Raises ``Fault`` (MODEL_FILE_DAMAGED) where the installed model is not the one that Lamina was measured with.
    """

    def __init__(self) -> None:
        import spacy  # imports numpy, thinc and more: only paid by a process that extracts

        from lamina.pipeline.extract.products import Products

        nlp = spacy.load(model_folder(), exclude=["attribute_ruler"], disable=["lemmatizer"])
        products = Products()
        trained: list[Any] = [component for _, component in nlp.pipeline]  # typed as bare callables
        for component in trained:
            for layer in component.model.walk():
                layer.ops = products
        lemmatizer: Any = nlp.get_pipe("lemmatizer")  # typed as a bare callable
        lookups = lemmatizer.lookups
        self._exceptions: dict[str, Any] = lookups.get_table("lemma_exc")
        self._rules: dict[str, Any] = lookups.get_table("lemma_rules")
        self._index: dict[str, Any] = lookups.get_table("lemma_index")
        self._verbs = frozenset(self._index["verb"])
        self._words = self._verbs.union(*(self._index[kind] for kind in ("adj", "adv", "noun")))
        self._nlp = nlp
        self._mend = mend
        self._lemmas: dict[tuple[str, str], str] = {}

    def parse(self, texts: Iterable[str]) -> list[Parse]:
        """One parse for each text, in order."""
        # The zone frees the strings of each call; without it a server's vocabulary grows for ever.
        originals = list(texts)
        shortened = [folded(text) for text in originals]
        with self._nlp.memory_zone():
            docs = self._nlp.pipe((text for text, _ in shortened), batch_size=PARSE_BATCH)
            return [
                _unfolded(self._convert(doc), text, folds)
                for doc, text, (_, folds) in zip(docs, originals, shortened, strict=True)
            ]

    def _convert(self, doc: Any) -> Parse:  # Any: spaCy's Doc is untyped Cython
        tokens: list[Token] = []
        for word in doc:
            text, tag = word.text, word.tag_
            tokens.append(
                Token(
                    i=word.i,
                    text=text,
                    lower=text.lower().replace("’", "'"),
                    tag=tag,
                    dep=word.dep_,
                    head=word.head.i,
                    start=word.idx,
                    end=word.idx + len(text),
                    entity=word.ent_type_,
                    lemma=self._lemma(text, tag),
                )
            )
        self._mend(tokens)
        for token in tokens:
            if token.head != token.i:
                tokens[token.head].children.append(token.i)
        return Parse(doc.text, tokens, [(ent.start, ent.end, ent.label_) for ent in doc.ents], self._is_word)

    def _is_verb(self, word: str) -> bool:
        """Whether English has it as a form of a verb."""
        known = word in self._verbs
        return known or word in self._exceptions.get("verb", {}) or self._look_up(word, "verb") in self._verbs

    def _is_word(self, word: str) -> bool:
        return word in self._words or self._is_verb(word) or self._look_up(word, "noun") in self._words

    def _lemma(self, text: str, tag: str) -> str:
        lower = text.lower().replace("’", "'")
        group = "verb" if tag.startswith("VB") or tag == "MD" else "noun" if tag == "NNS" else ""
        if not group:
            return lower
        key = (lower, group)
        known = self._lemmas.get(key)
        if known is None:
            known = _CLITICS.get(lower) or self._look_up(lower, group)
            if len(self._lemmas) < 50_000:
                self._lemmas[key] = known
        return known

    def _look_up(self, word: str, group: str) -> str:
        # The order of spaCy's rule lemmatizer: exceptions, then suffix rules that lead to a known word.
        exceptions = self._exceptions.get(group, {}).get(word)
        if exceptions:
            return str(exceptions[0])
        index = self._index.get(group, {})
        if word in index and not (group == "noun" and word.endswith("s")):
            return word
        guesses = [word[: -len(old)] + new for old, new in self._rules.get(group, []) if word.endswith(old)]
        known = next((guess for guess in guesses if guess and guess in index), None)
        if known is not None or not guesses:
            return known or word
        stem = guesses[-1]
        doubled = len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "aeiosl"
        return stem[:-1] if doubled else stem or word


def _unfolded(parse: Parse, text: str, folds: list[NounPhrase]) -> Parse:
    """The parse of a shortened text as one of `text`: offsets as they are there, and the whole words of kin."""
    if not folds:
        return parse
    shift, pending = 0, list(folds)
    for token in parse.tokens:
        token.start += shift
        if pending and token.start - shift == pending[0].at:
            fold = pending.pop(0)
            shift += fold.shorter_by
            token.lower = fold.word
            singular = token.lemma if token.lemma != token.text else fold.noun.lower()
            token.lemma = fold.word.replace(fold.noun.lower(), singular, 1)
        token.end += shift
        token.text = text[token.start : token.end]
    return replace(parse, text=text)


_TABLE = table(__name__)
_CLITICS = _TABLE.pairs("clitics")
_GAINED = _TABLE.words("gained")
_HAVING = _TABLE.words("having")
_AROUND_GAINED: Final = frozenset(("advmod", "prt", "xcomp", "ccomp"))
"""What beside "have got" says that something happened."""
_PEOPLES = _TABLE.words("peoples")
"""What peoples, religions, signs of the zodiac and others are called for what they are, without what is as often somebody's name."""


def mend(tokens: Sequence[Token]) -> None:
    """Put right what the parser takes "I've got" for, and "I'm Welsh"."""
    for token in tokens:
        if token.lower == "got":
            _mend_got(tokens, token)
        elif token.lower in _PEOPLES and not any(
            t.is_name and t.lower not in _PEOPLES for t in tokens if abs(t.i - token.i) == 1
        ):
            token.entity = "NORP"


def _mend_got(tokens: Sequence[Token], got: Token) -> None:
    """ "I've got an appointment on Friday" is a present; "I've just got a job" tells what happened."""
    below = [t for t in tokens if t.head == got.i and t is not got]
    # Of "Tom's got" the parser makes a case.
    having = next((t for t in below if t.dep == "aux" and t.lower in _HAVING), None) or next(
        (t for t in tokens if t.i == got.i - 1 and t.lower == "'s"), None
    )
    things = any(t.dep == "dobj" and t.is_noun and t.lower not in _GAINED for t in below)
    if having is None or not things or any(t.dep in _AROUND_GAINED for t in below):
        return
    if any(t.dep.startswith("nsubj") and having.i < t.i for t in below):
        return  # "have I got a dog"
    got.lemma, got.tag = "have", "VBZ" if having.lower in ("has", "'s") else "VBP"
    having.dep = "dep"
    for each in below:
        each.dep = "nsubj" if each.dep == "nsubjpass" else each.dep

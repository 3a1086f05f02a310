"""Names of people, places and organisations: one normal form, and the other keys a name may be met under.

The normal form is what entity ids are made from, so it must never depend on anything but the name itself.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from lamina.kernel.ids import Prefix, derived_id
from lamina.language.tables import table

_SPACE = re.compile(r"\s+")
_TABLE: Final = table(__name__)
_LEADING: Final = _TABLE.words("leading")
_COMPANY = _TABLE.words("company")
_POSSESSIVE = re.compile(r"(?:['’]s|(?<=s)['’])(?=\s|$)")
_CAPITALS = "".join(letter for letter in map(chr, range(0x41, 0x530)) if letter.isupper())
CONTRACTED: Final = _TABLE.part("contracted")
"""What is written for two words, and never a name: "I'd", "she's", "don't"."""
_CAPITALISED = rf"(?!{CONTRACTED})[{_CAPITALS}](?:\.|[\w'’-]{{1,30}})"
_PARTICLE: Final = _TABLE.part("particle")
NAME_RUN: Final = rf"(?-i:{_CAPITALISED}(?: (?:{_PARTICLE} ){{0,2}}{_CAPITALISED}){{0,4}})"
"""The words of a name with capitals."""
_CONTRACTED = re.compile(CONTRACTED)
_EDGE = " \t\"'“”‘’`.,;:!?()[]{}<>*_#~"


def is_contracted(word: str) -> bool:
    """Whether `word` stands for two.

    >>> is_contracted("I'd"), is_contracted("Don’t"), is_contracted("D'Angelo"), is_contracted("Anna's")
    (True, True, False, False)
    """
    return _CONTRACTED.match(word) is not None


def normalise_name(name: str) -> str:
    """The name as a key: NFKC, case-folded, without titles, determiners, trailing possessive and edge punctuation.

    Inner possessives stay ("Alice's sister"), since they tell two entities apart. A name that consists only of such
    words keeps its last one, so the key of a non-blank word is never empty.

    >>> normalise_name("  The Acme   Corp's ")
    'acme corp'
    >>> normalise_name("Dr. Jane Doe")
    'jane doe'
    """
    folded = unicodedata.normalize("NFKC", name).casefold().replace("’", "'")
    words = [word for word in (part.strip(_EDGE) for part in _SPACE.split(folded)) if word]
    while len(words) > 1 and words[0] in _LEADING:
        del words[0]
    if words:
        words[-1] = _POSSESSIVE.sub("", words[-1]) or words[-1]
    return unicodedata.normalize("NFC", " ".join(words))


def entity_id(tenant_id: str, normalised_name: str) -> str:
    """The id of an entity: a function of tenant and name, so that scopes need not agree on an order."""
    return derived_id(Prefix.ENTITY, 0, tenant_id, normalised_name)


def alias_keys(name: str, entity_type: str = "thing") -> tuple[str, ...]:
    """Further normal forms under which the same entity may be met, in order of trust, without the name itself.

    A person also answers to the first name, an organisation to its name without the legal form and, from three
    words on, to its initials. These are candidates for resolution, not claims: two people share a first name.

    >>> alias_keys("Jane Doe", "person")
    ('jane',)
    >>> alias_keys("Acme Corp", "organisation")
    ('acme',)
    """
    key = normalise_name(name)
    words = key.split(" ")
    aliases: list[str] = []
    if entity_type == "person" and len(words) > 1 and "'s" not in key:
        aliases.append(words[0])
    if entity_type == "organisation":
        while len(words) > 1 and words[-1] in _COMPANY:
            del words[-1]
        aliases.append(" ".join(words))
        if len(words) >= 3:
            aliases.append("".join(word[0] for word in words if word not in ("of", "and", "the", "for")))
    return tuple(alias for alias in dict.fromkeys(aliases) if alias and alias != key)


def possessive(name: str) -> str:
    """The name as an owner: "Alice's", "the Smiths'".

    >>> possessive("James"), possessive("Alice")
    ("James's", "Alice's")
    """
    return f"{name}'s"

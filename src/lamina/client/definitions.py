"""What a tenant defines, of a ``Client``: ``client.vocabularies`` and ``client.phrases``. Both are beta, and an administrator's to change."""

from __future__ import annotations

from typing import Unpack

from lamina.client import definition_asks as asks
from lamina.client.layers import Sender
from lamina.client.options import Time, VocabularyOptions
from lamina.types.phrases import PhraseList, PhraseView
from lamina.types.vocabularies import VocabularyList, VocabularyReplaced, VocabularyView

__all__ = ["Phrases", "Vocabularies"]


class Vocabularies:
    """Controlled vocabularies: what predicates and relations there are, and what they may be. A policy makes them active."""

    def __init__(self, send: Sender) -> None:
        self._send = send

    def list(self, *, as_of: Time | None = None) -> VocabularyList:
        """Every vocabulary of the tenant, without its terms."""
        return self._send(asks.vocabularies(as_of))

    def get(self, name: str, *, as_of: Time | None = None) -> VocabularyView:
        """One vocabulary with its terms, as it stood at ``as_of`` where that is given."""
        return self._send(asks.vocabulary(name, as_of))

    def register(self, name: str, **options: Unpack[VocabularyOptions]) -> VocabularyView:
        """Register a vocabulary. Raises ``Conflict`` (VOCABULARY_EXISTS, TOO_MANY_VOCABULARIES).

        client.vocabularies.register("sales_v1", predicates=[{"id": "deal_stage", "values": ["poc", "close"]}])
        """
        return self._send(asks.register_vocabulary(name, options))

    def replace(self, name: str, **options: Unpack[VocabularyOptions]) -> VocabularyReplaced:
        """Put a vocabulary in the place of the one of its name; ``deprecates`` of the result are terms that it lost, whose facts leave the
        default reads. Raises ``NotFound``."""
        return self._send(asks.replace_vocabulary(name, options))


class Phrases:
    """A tenant's own words for stretches of time."""

    def __init__(self, send: Sender) -> None:
        self._send = send

    def list(self) -> PhraseList:
        """Every phrase of the tenant."""
        return self._send(asks.phrases())

    def register(self, name: str, pattern: str, valid_from: Time, valid_to: Time) -> PhraseView:
        """Register words for the time from ``valid_from`` to ``valid_to``, exclusive. Raises ``Conflict`` (PHRASE_EXISTS, TOO_MANY_PHRASES).

        client.phrases.register("fiscal_q3", "fiscal Q3", "2026-07-01", "2026-10-01")
        """
        return self._send(asks.register_phrase(name, pattern, valid_from, valid_to))

    def remove(self, name: str) -> None:
        """Take words back; readers of an earlier time still have them. Raises ``NotFound``."""
        self._send(asks.remove_phrase(name))

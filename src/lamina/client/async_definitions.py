"""What a tenant defines, of an ``AsyncClient``; every method mirrors the one in ``definitions.py``."""

from __future__ import annotations

from typing import Unpack

from lamina.client import definition_asks as asks
from lamina.client.async_layers import AsyncSender
from lamina.client.options import Time, VocabularyOptions
from lamina.types.phrases import PhraseList, PhraseView
from lamina.types.vocabularies import VocabularyList, VocabularyReplaced, VocabularyView

__all__ = ["AsyncPhrases", "AsyncVocabularies"]


class AsyncVocabularies:
    """Mirrors ``Vocabularies``."""

    def __init__(self, send: AsyncSender) -> None:
        self._send = send

    async def list(self, *, as_of: Time | None = None) -> VocabularyList:
        """Mirrors ``Vocabularies.list``."""
        return await self._send(asks.vocabularies(as_of))

    async def get(self, name: str, *, as_of: Time | None = None) -> VocabularyView:
        """Mirrors ``Vocabularies.get``."""
        return await self._send(asks.vocabulary(name, as_of))

    async def register(self, name: str, **options: Unpack[VocabularyOptions]) -> VocabularyView:
        """Mirrors ``Vocabularies.register``."""
        return await self._send(asks.register_vocabulary(name, options))

    async def replace(self, name: str, **options: Unpack[VocabularyOptions]) -> VocabularyReplaced:
        """Mirrors ``Vocabularies.replace``."""
        return await self._send(asks.replace_vocabulary(name, options))


class AsyncPhrases:
    """Mirrors ``Phrases``."""

    def __init__(self, send: AsyncSender) -> None:
        self._send = send

    async def list(self) -> PhraseList:
        """Mirrors ``Phrases.list``."""
        return await self._send(asks.phrases())

    async def register(self, name: str, pattern: str, valid_from: Time, valid_to: Time) -> PhraseView:
        """Mirrors ``Phrases.register``."""
        return await self._send(asks.register_phrase(name, pattern, valid_from, valid_to))

    async def remove(self, name: str) -> None:
        """Mirrors ``Phrases.remove``."""
        await self._send(asks.remove_phrase(name))

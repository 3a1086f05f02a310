"""What a text asks and of whom: shares of questions and of first person, and questions about an earlier answer."""

from __future__ import annotations

from lamina.recall.signals import asks_assistant, sentence_shares

__all__ = ["asks_assistant", "sentence_shares"]

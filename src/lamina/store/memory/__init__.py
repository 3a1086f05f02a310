"""The reference engine: every port in plain dictionaries. It says what the others must answer."""

from lamina.store.memory.engine import MemoryStore

__all__ = ["MemoryStore"]

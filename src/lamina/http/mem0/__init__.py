"""The calls of Mem0's clients: the platform's, as ``MemoryClient(host=...)`` makes them, and those of its open-source REST server."""

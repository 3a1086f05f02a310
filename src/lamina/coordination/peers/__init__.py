"""The registry of peers: who they are, how far they are trusted, and what they say of themselves (Relay contract 1.12)."""

"""What claims are found by, in few bytes: hashes of what they say."""

from __future__ import annotations

import hashlib

__all__ = ["claim_digest", "matter_digest"]


def claim_digest(claim_key: str) -> bytes:
    """What a claim is found by, 12 bytes: those of ``matter_digest``, and a hash of all that it says. Earlier releases kept the text."""
    return matter_digest(claim_key) + _hashed(claim_key)


def matter_digest(claim_key: str) -> bytes:
    """What the claims of a subject by one predicate have in common, 6 bytes: a hash of the text before the second bar. ``claim_key`` may end
    there. Two matters may meet in it, and who looks for one compares subject and predicate, too."""
    return _hashed("|".join(claim_key.split("|", 2)[:2]))


def _hashed(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=6).digest()

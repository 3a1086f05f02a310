"""What agents hand over, share and dispute: coordination artifacts (seed 000, Coordination Payloads; seed 001).

An artifact is evidence and advice, and never local truth by itself: it is a document of its own under ``memory/coordination``, its
writer's word as of then. Nothing here writes into a capsule, and nothing of an artifact becomes a fact.
"""

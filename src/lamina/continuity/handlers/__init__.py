"""The operations over capsules: each asks what the caller may, reads the shelf, and answers or writes once.

Begin with ``operations``, the list of them all; ``writing`` shows how a change is decided and landed.
"""

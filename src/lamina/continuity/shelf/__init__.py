"""What is stored of capsules: the capsules, the snapshots beside them, archives, cold copies, and when one was used.

Begin with ``documents``: ``Shelf`` reads all of them, parsed once for each version, and lands writes. ``loading``,
``envelopes`` and ``cold`` are their formats, as functions of bytes.
"""

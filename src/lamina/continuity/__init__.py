"""Continuity: what an agent keeps of its own direction across resets, in capsules of at most 20 KB.

Begin with ``relay``: it puts every operation together, those over capsules (``handlers``), over memory files
(``files``) and over what an agent is given for a task (``context``). A capsule is a plain value (``capsule``); what is
said of it (``judgements``) and what a write makes of it (``changes``) are functions of values. ``shelf`` reads what is
stored of capsules, ``graph`` what they are linked to. Every part asks ``permission`` before it touches a document, and
every write goes through ``landing``.
"""

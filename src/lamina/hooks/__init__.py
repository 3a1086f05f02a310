"""What a coding agent's host runs at the edges of its work: memory goes in at a start, turns come out at a stop.

Claude Code, Codex and Cursor start a process for each event, give it JSON and read JSON. Everything here imports the standard
library alone, and of Lamina what does so too: the plugin in ``integrations/agents`` carries a copy of these modules
(``scripts/plugin``), and ``lamina hook`` runs them as they are. A hook answers within five seconds or says nothing.
"""

"""The MCP door: memory as tools of an agent, over stdio and over streamable HTTP.

``tools.py`` says which tools there are and imports next to nothing, ``running.py`` does what they do over the operations
table, ``service.py`` speaks the protocol with the official SDK, ``door.py`` is ``/mcp`` of the server and ``stdio.py`` the process
that an agent starts.
"""

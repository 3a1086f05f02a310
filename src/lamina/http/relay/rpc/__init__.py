"""``/v1/mcp`` of the Relay contract (seed 004): JSON-RPC as its clients know it, beside the modern endpoint ``/mcp``.

``messages.py`` reads an envelope, ``params.py`` says what each method takes, ``readiness.py`` remembers who initialised,
``argument_check.py`` holds arguments against a tool's schema, ``tool_calls.py`` runs a tool through the gateway, ``help_methods.py``
answers from the pages of the help, ``methods.py`` is the order of all of it, and ``door.py`` the ASGI application.
"""

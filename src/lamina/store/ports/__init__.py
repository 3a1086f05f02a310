"""What the rest of Lamina asks of a store: a module for each port, with the values that go in and come out.

``store.Store`` names them all, and one contract suite says when an engine keeps them. Every method that reads takes the
tenant, and where rows belong to scopes it takes the scopes: an empty collection of scopes means nothing, never
everything. All methods are synchronous and safe to call from any thread.
"""

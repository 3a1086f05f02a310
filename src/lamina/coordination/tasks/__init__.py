"""Tasks that agents give each other: files that anybody can read, moved from ``tasks/open`` to ``tasks/done`` (contracts 1.9)."""

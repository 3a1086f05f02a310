"""Sessions: the two calls of a chat's turn, over the one log."""

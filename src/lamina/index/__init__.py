"""How memory is found: followers of the store's index rows, held in memory scope by scope."""

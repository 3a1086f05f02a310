"""The Relay door: verb and path to operation, as in seeds 000, 001 and 004, and what it says of itself."""

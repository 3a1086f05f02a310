"""Words, times and names of natural language, without a model."""

"""What Lamina understands of natural language without a model."""

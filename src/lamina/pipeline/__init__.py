"""From an experience to what it means: capture, then the stages that derive."""

"""Loops: what people leave open in what they say, and how it is closed again."""

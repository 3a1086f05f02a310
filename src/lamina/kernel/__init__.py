"""Values and time: the innermost ring. Imports nothing else of ours."""

"""A part of Lamina, copied by scripts/plugin: what its hooks need, and nothing else."""

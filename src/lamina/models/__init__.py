"""Models behind narrow ports: what they promise is in ``ports``, what runs is beside it."""

"""The gate gives one verdict for one tree; ``HYPOTHESIS_PROFILE=explore`` and ``SIMULATION_SEED`` look further."""

import os

from hypothesis import settings

settings.register_profile("gate", derandomize=True)
settings.register_profile("explore")
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "gate"))

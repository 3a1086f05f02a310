"""The settings: read once from the environment, frozen, passed down. Nothing else reads the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from lamina.errors import Invalid

__all__ = ["Settings", "load_settings"]

_PRESETS = ("dev_local", "on_prem_enterprise", "cloud_private", "cloud_shared_saas")


def _setting(default: Any, help_: str, *, unit: str = "", names: tuple[str, ...] = ()) -> Any:
    return field(default=default, metadata={"help": help_, "unit": unit, "names": names})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What an operator may choose. Each is ``LAMINA_<NAME>`` in the environment."""

    data: Path = _setting(Path("lamina-data"), "the folder that holds the database and everything beside it")
    host: str = _setting("127.0.0.1", "the address to listen on; dev_local accepts loopback only")
    port: int = _setting(8700, "the port to listen on; 0 picks a free one")
    preset: str = _setting(
        "dev_local",
        "the deployment preset: " + ", ".join(_PRESETS),
        names=("CORTEX_DEPLOYMENT_PRESET",),
    )
    tenant: str = _setting("local", "the tenant of unsigned callers in dev_local")
    actor: str = _setting("user:local", "the actor of calls without X-Cortex-Actor in dev_local")
    issuers: Path | None = _setting(
        None, "the YAML or JSON file of token issuers; every preset but dev_local needs it"
    )
    embed: str = _setting("eager", "eager embeds every event; lazy only when recall first needs it")
    workers: int = _setting(
        1, "derivation processes under lamina serve, 0 or 1; 0 leaves it to lamina worker"
    )
    log_level: str = _setting("warning", "debug, info, warning or error")

    def __post_init__(self) -> None:
        """Refuse values that would only fail later, naming the key and what is accepted."""
        _require(self.preset in _PRESETS, "preset", self.preset, "one of " + ", ".join(_PRESETS))
        _require(0 <= self.port <= 65_535, "port", self.port, "0 to 65535")
        _require(self.embed in ("eager", "lazy"), "embed", self.embed, "eager or lazy")
        _require(
            self.workers in (0, 1), "workers", self.workers, "0 or 1: one process derives into one folder"
        )
        loopback = self.host in ("127.0.0.1", "localhost", "::1")
        _require(
            loopback or self.preset != "dev_local",
            "host",
            self.host,
            "127.0.0.1, localhost or ::1, since dev_local believes every caller",
        )
        levels = ("debug", "info", "warning", "error")
        _require(self.log_level in levels, "log_level", self.log_level, ", ".join(levels))


def _require(holds: bool, name: str, value: object, accepted: str) -> None:
    if not holds:
        raise Invalid(
            "INVALID_SETTING",
            f"LAMINA_{name.upper()} is {value!r}; accepted: {accepted}",
            details={"setting": f"LAMINA_{name.upper()}"},
        )


def load_settings(environment: Mapping[str, str], **given: Any) -> Settings:
    """The settings from ``LAMINA_*`` names, overridden by those ``given`` (None means not given).

    Raises ``Invalid`` (UNKNOWN_SETTING, INVALID_SETTING) naming the key and the accepted values.
    """
    known = {item.name: item for item in fields(Settings)}
    accepted = {f"LAMINA_{name.upper()}" for name in known}
    named = [name for name in environment if name.startswith("LAMINA_")]
    for name in [*named, *(f"LAMINA_{key.upper()}" for key in given)]:
        if name not in accepted:
            raise Invalid(
                "UNKNOWN_SETTING",
                f"{name} is not a setting of Lamina",
                hint="known: " + ", ".join(f"LAMINA_{key.upper()}" for key in known),
            )
    chosen: dict[str, Any] = {}
    for name, item in known.items():
        value = given.get(name)
        for key in (f"LAMINA_{name.upper()}", *item.metadata["names"]):
            if value is None and key in environment:
                value = environment[key]
        if value is not None:
            chosen[name] = _parsed(name, value, item.type)
    return Settings(**chosen)


def _parsed(name: str, value: Any, kind: object) -> Any:
    if kind == "int" and not isinstance(value, int):
        try:
            return int(value)
        except ValueError as error:
            raise Invalid(
                "INVALID_SETTING", f"LAMINA_{name.upper()} is {value!r}; accepted: a whole number"
            ) from error
    return Path(value) if kind in ("Path", "Path | None") else value

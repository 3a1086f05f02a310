"""What a backup says of itself, before its contents: what it is of, how far that was, and what its files must be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lamina.store.backups.sealing import damaged

__all__ = [
    "DATABASE",
    "ISSUERS",
    "MEMBERS",
    "PRESET",
    "BackupManifest",
    "BackupMember",
    "ListState",
    "TenantState",
]

DATABASE: Final = "lamina.db"
PRESET, ISSUERS = "preset.yaml", "issuers.yaml"
MEMBERS: Final = (DATABASE, PRESET, ISSUERS)
"""The names that a file of a backup may have. None is a path, so that none leads anywhere."""

_Count = Annotated[int, Field(ge=0, lt=2**63)]


class _Stored(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class BackupMember(_Stored):
    """A file: its name, its size in bytes and the SHA-256 of its content, in hexadecimal digits."""

    name: str
    bytes: _Count
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class TenantState(_Stored):
    """How far a tenant was: the position of its newest event, its newest audit row, its newest commit of documents."""

    position: _Count = 0
    audit_number: _Count = 0
    audit_hash: str = ""
    commit: str = ""


class ListState(_Stored):
    """A list of what was erased as it stood: the ``id`` that it has since it was begun, and how many lines it had by then.

    ``since`` is when it was begun, in microseconds; None where an earlier release did, which did not say.
    """

    id: str
    since: _Count | None
    lines: _Count


class BackupManifest(_Stored):
    """``schema_number`` is the newest migration of the database, ``made_at`` the moment of the snapshot, in microseconds.

    ``settings`` are those that were not the default, without secrets, whose names alone are in ``secrets``. ``folder`` is the name of the data
    folder, and ``erasures`` the list that it put down what it erased in; an earlier release noted neither.
    """

    lamina: str
    schema_number: _Count
    made_at: Annotated[int, Field(ge=0, lt=2**63)]
    members: tuple[BackupMember, ...]
    tenants: Mapping[str, TenantState]
    settings: Mapping[str, str]
    secrets: tuple[str, ...]
    folder: str = ""
    erasures: ListState | None = None

    @property
    def events(self) -> int:
        """How many events its tenants' logs hold, at most."""
        return sum(tenant.position for tenant in self.tenants.values())

    def encoded(self) -> bytes:
        """As it stands in a backup."""
        return self.model_dump_json().encode()

    @classmethod
    def parsed(cls, data: bytes) -> BackupManifest:
        """What ``encoded`` gave; raises ``Invalid`` (INVALID_BACKUP)."""
        try:
            manifest = cls.model_validate_json(data)
        except (ValidationError, RecursionError) as error:
            raise damaged("its manifest cannot be read") from error
        names = [member.name for member in manifest.members]
        if names[:1] != [DATABASE] or len(set(names)) != len(names) or not set(names) <= set(MEMBERS):
            raise damaged("its manifest names files that a backup does not have")
        return manifest

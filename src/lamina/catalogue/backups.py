"""The codes of backups: making, checking and restoring them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lamina.catalogue.entries import CLIENTS, SERVER, STATE, ErrorCode

__all__ = ["CODES"]

CODES: Final[Mapping[str, ErrorCode]] = {
    "BACKUP_NOT_FOUND": ErrorCode(
        "NotFound",
        CLIENTS,
        "There is no file at the path of the backup, or it cannot be read.",
        hint="name a file that lamina backup made",
    ),
    "BACKUP_RUNNING": ErrorCode(
        "Conflict",
        STATE,
        "Another process makes a backup of the folder at this moment. One at a time does.",
    ),
    "CANNOT_WRITE_BACKUP": ErrorCode(
        "Unavailable",
        SERVER,
        "The folder of backups cannot be made or written, or its disk is full. The message has the path and the reason. "
        "What was begun is removed, and no older backup was deleted.",
        hint="make room, or name another folder with --to or LAMINA_BACKUP_FOLDER",
    ),
    "DATABASE_DAMAGED": ErrorCode(
        "Fault",
        SERVER,
        "The copy of the database that was to be backed up cannot be read to its end, or its rows refer to what is not there. "
        "No backup was made, so that none of a whole database goes for it.",
    ),
    "FOLDER_IN_USE": ErrorCode(
        "Conflict",
        STATE,
        "A server, a worker or another restore uses the folder that a backup was to be restored into, or that a newer release was to bring "
        "to its shape. Nothing was changed.",
    ),
    "FOLDER_NOT_EMPTY": ErrorCode(
        "Conflict",
        STATE,
        "A backup is restored into a folder that is empty or not there yet. Nothing was touched.",
    ),
    "INVALID_BACKUP": ErrorCode(
        "Invalid",
        CLIENTS,
        "The file is no backup, is damaged or cut off, is of a newer Lamina, or holds what no backup of ours does. The message "
        "says which. Nothing was restored.",
        hint="take another backup; lamina restore --verify says whether one is whole",
    ),
    "INVALID_BACKUP_KEY": ErrorCode(
        "Invalid",
        CLIENTS,
        "The key file cannot be read, or has too few or too many bytes for a key.",
    ),
    "WRONG_BACKUP_KEY": ErrorCode(
        "Invalid",
        CLIENTS,
        "The backup is encrypted, and no key, one of another kind or another key was given; or a key was given and it is not "
        "encrypted. Without its key nobody can read an encrypted backup.",
        hint="give the key of that backup with --key-file, LAMINA_BACKUP_KEY_FILE or LAMINA_BACKUP_PASSPHRASE",
    ),
}

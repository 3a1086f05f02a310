"""The locks of a data folder, where they can be had and where they cannot."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

import pytest

from backups import backed_up, memory
from lamina.cli.keeper import keeping
from lamina.cli.local_socket import lock_of
from lamina.errors import Conflict, Unavailable
from lamina.settings import Settings
from lamina.store.sqlite import alone
from lamina.store.sqlite.restore import restore


@pytest.fixture
def without_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on some shared file systems."""

    def refuse(*_: object) -> None:
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    monkeypatch.setattr(fcntl, "flock", refuse)


@pytest.mark.usefixtures("without_locks")
def test_a_disk_without_locks_is_no_other_server(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="cannot be locked: Operation not supported"):
        lock_of(tmp_path)
    with pytest.raises(Unavailable, match="cannot be locked"), keeping(Settings(data=tmp_path)):
        pass
    with pytest.raises(Unavailable, match="cannot be used: Operation not supported"), alone(tmp_path):
        pass


def test_a_restore_that_has_no_lock_leaves_nothing(tmp_path: Path) -> None:
    backup = backed_up(memory(tmp_path / "memory")).path

    def refused(_: Path) -> None:
        raise Unavailable("CANNOT_OPEN_STORE", "it cannot be locked")

    with pytest.raises(Unavailable, match="cannot be locked"):
        restore(tmp_path / "new", backup, lambda _: None, lock_of=refused)
    assert list((tmp_path / "new").iterdir()) == []


def test_a_lock_that_somebody_has_is_one(tmp_path: Path) -> None:
    held = lock_of(tmp_path)
    assert held is not None
    with held:
        assert lock_of(tmp_path) is None
    with alone(tmp_path), pytest.raises(Conflict), alone(tmp_path):
        pass

"""Who wrote what a startup view shows, while others write: the author is of the very version that is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from capsules import body, later
from lamina.kernel.operations import Principal
from shelves import TENANT, Continuity

ABOUT = {"subject_kind": "thread", "subject_id": "launch"}


@pytest.fixture(name="continuity")
def _continuity() -> Continuity:
    continuity = Continuity()
    continuity("upsert", **ABOUT, capsule=body())
    return continuity


def by_lee(continuity: Continuity, monkeypatch: pytest.MonkeyPatch, happen: Callable[[], object]) -> None:
    """Has another agent act between what a read shows and where it looks for its author."""
    history = continuity.documents.history

    def later_on(*args: Any, **more: Any) -> Any:
        monkeypatch.setattr(continuity.documents, "history", history)
        with monkeypatch.context() as other:
            other.setattr("shelves.AGENT", Principal(tenant_id=TENANT, actor="agent:lee", channel="http"))
            happen()
        return history(*args, **more)

    monkeypatch.setattr(continuity.documents, "history", later_on, raising=False)


def test_who_writes_meanwhile_is_not_who_wrote_what_is_shown(
    continuity: Continuity, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = body(updated_at=later(), continuity={"top_priorities": ["push to main"]})
    by_lee(continuity, monkeypatch, lambda: continuity("upsert", **ABOUT, capsule=changed))
    shown = continuity("read", **ABOUT, view="startup")
    assert shown["startup_summary"]["orientation"]["top_priorities"] == ["ship"]
    assert (shown["provenance"]["written_by"], shown["provenance"]["version"]) == ("agent:kim", 1)
    shown = continuity("read", **ABOUT, view="startup")
    assert (shown["provenance"]["written_by"], shown["provenance"]["version"]) == ("agent:lee", 2)


def test_a_snapshot_has_its_own_author_too(continuity: Continuity, monkeypatch: pytest.MonkeyPatch) -> None:
    continuity("archive", **ABOUT, reason="it is over")
    by_lee(continuity, monkeypatch, lambda: continuity("upsert", **ABOUT, capsule=body(updated_at=later())))
    shown = continuity("read", **ABOUT, allow_fallback=True, view="startup")
    assert (shown["source_state"], shown["provenance"]["written_by"]) == ("fallback", "agent:kim")

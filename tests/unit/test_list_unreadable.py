"""What stands where a capsule should and cannot be read is named by a list, and not left out unseen."""

from __future__ import annotations

import json

from capsules import stored
from shelves import Continuity


def test_a_list_names_what_it_cannot_read() -> None:
    continuity = Continuity()
    long = stored()
    long["continuity"]["open_loops"] = ["o" * 500]
    continuity.documents.put("memory/continuity/thread-launch.json", json.dumps(long).encode())
    assert "recovery_warnings" not in continuity("list")
    continuity.documents.put("memory/continuity/user-x.json", b"{")
    for sort in ("default", "salience"):
        answer = continuity("list", sort=sort)
        assert [each["subject_id"] for each in answer["capsules"]] == ["launch"]
        assert answer["recovery_warnings"] == ["continuity_active_invalid:memory/continuity/user-x.json"]
    assert "recovery_warnings" not in continuity("list", subject_kind="thread")

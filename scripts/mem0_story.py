"""A story told by Mem0's own client to the server at LAMINA_URL: add, get_all, search, get, update, history, delete, batches, users, and what
is refused. Each step prints what it saw; the first that is not as it should be ends it with an error.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import time
import urllib.request
from collections.abc import Callable
from typing import Any

from mem0 import MemoryClient
from mem0.exceptions import AuthenticationError, MemoryNotFoundError, ValidationError

ANA = {"user_id": "ana"}
ADDRESS = os.environ["LAMINA_URL"]


def say(step: str, seen: object) -> None:
    print(f"{step:<14} {seen}", flush=True)


def succeeded(client: MemoryClient, event_id: str) -> list[str]:
    """What came of a call of add, once facts are drawn: the client has no call for this, so it is asked by hand."""
    asked = urllib.request.Request(  # noqa: S310 - the server under test
        f"{ADDRESS}/v1/event/{event_id}/", headers={"Authorization": f"Token {client.api_key}"}
    )
    until = time.monotonic() + 120
    while True:
        with urllib.request.urlopen(asked, timeout=30) as response:  # noqa: S310 - as above
            state = json.load(response)
        if state["status"] != "PENDING":
            assert state["status"] == "SUCCEEDED", state
            return [each["data"]["memory"] for each in state["results"]]
        assert time.monotonic() < until, state
        time.sleep(0.2)


def refused(kind: type[Exception], call: Callable[[], Any]) -> str:
    try:
        answer = call()
    except kind as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError(f"not refused: {answer}")


def nothing_left(client: MemoryClient, user: str) -> bool:
    """Whether nothing is shown of a user, once the erasure behind the answer is over; until then reads are refused and say so."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        try:
            return not client.get_all(filters={"user_id": user})["results"]
        except AuthenticationError as error:
            if "being erased" not in str(error):
                raise
            time.sleep(0.2)
    return False


def main() -> None:
    """Tell it."""
    client = MemoryClient(api_key="user:ana", host=ADDRESS)
    say("mem0ai", importlib.metadata.version("mem0ai"))

    added = client.add(
        [
            {"role": "user", "content": "I moved to Lisbon last week, and I'm allergic to peanuts."},
            {"role": "assistant", "content": "Noted."},
        ],
        user_id="ana",
        run_id="monday",
        metadata={"source": "chat"},
    )
    say("add", {name: added[name] for name in ("status", "stage")})
    say("event", succeeded(client, added["event_id"]))
    succeeded(client, client.add("I live in Berlin.", user_id="bob")["event_id"])

    memories = {each["memory"]: each for each in client.get_all(filters=ANA)["results"]}
    say("get_all", sorted(memories))
    home, peanuts = memories["Ana lives in Lisbon"], memories["Ana is allergic to peanuts"]
    assert (home["metadata"], home["run_id"]) == ({"source": "chat"}, "monday"), home
    assert "Bob lives in Berlin" not in memories
    in_run = client.get_all(
        filters={"AND": [ANA, {"run_id": "monday"}, {"metadata": {"source": "chat"}}]}, page=1, page_size=50
    )
    assert in_run["count"] == len(memories), in_run

    found = client.search("What must I not cook?", filters={"AND": [ANA]}, top_k=3)["results"]
    say("search", [(each["memory"], each["score"]) for each in found])
    assert found[0]["id"] == peanuts["id"], found
    assert client.get(home["id"])["memory"] == "Ana lives in Lisbon"

    say("update", client.update(home["id"], text="Ana lives in Braga")["status"])
    assert client.get(home["id"])["memory"] == "Ana lives in Braga"
    live = [each["memory"] for each in client.search("Where do I live?", filters=ANA, top_k=1)["results"]]
    assert live == ["Ana lives in Braga"], live
    say("update", client.update(home["id"], text="Ana sleeps on a boat in Viana")["status"])
    now = {each["id"]: each["memory"] for each in client.get_all(filters=ANA)["results"]}
    assert now[home["id"]] == "Ana sleeps on a boat in Viana", now
    for row in client.history(home["id"]):
        say("history", (row["event"], row["old_memory"], row["new_memory"]))

    gone = client.delete(peanuts["id"])
    say("delete", (gone["status"], gone["erased"]))
    say("get", refused(MemoryNotFoundError, lambda: client.get(peanuts["id"])))
    held = [each["id"] for each in client.get_all(filters=ANA)["results"]]
    assert peanuts["id"] not in held, held
    former = client.search("Where do I live?", filters=ANA, latest_only=False)["results"]
    say("latest_only", [each["memory"] for each in former if each.get("superseded_by")])
    assert [each["event"] for each in client.history(peanuts["id"])] == ["ADD", "DELETE"]

    notes = client.add(
        [{"role": "user", "content": "Gate B7."}, {"role": "user", "content": "Seat 4A."}],
        user_id="ana",
        infer=False,
    )
    ids = [each["id"] for each in notes["results"]]
    client.batch_update([{"memory_id": ids[0], "text": "Gate C2."}])
    assert client.get(ids[0])["memory"] == "Gate C2."
    say("batch", client.batch_delete([{"memory_id": each} for each in ids])["status"])
    say("users", sorted(each["name"] for each in client.users()["results"]))

    say("no filters", refused(ValidationError, client.get_all))
    say("delete_all", client.delete_all(user_id="ana")["status"])
    assert nothing_left(client, "ana")
    client.add([{"role": "user", "content": "Seat 9C."}], user_id="ben", infer=False)
    say("delete_users", client.delete_users(user_id="ben")["message"])
    assert nothing_left(client, "ben")
    print("All of it went as it should.")


if __name__ == "__main__":
    main()

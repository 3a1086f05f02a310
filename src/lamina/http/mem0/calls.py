"""The table of Mem0's calls: verb and path to what is done, and those that are not answered here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from lamina.errors import LaminaError, Malformed, Unsupported
from lamina.http.errors import from_validation
from lamina.http.mem0 import erasing, reading, standing, writing
from lamina.http.mem0.asking import Asker
from lamina.http.mem0.requests import IGNORED, AddAsked, BatchAsked, ListAsked, SearchAsked, UpdateAsked

__all__ = ["CALLS", "Given", "MemoryCall"]

Json = dict[str, Any]  # Any: JSON, in the shapes that Mem0's clients know
AskedT = TypeVar("AskedT", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Given:
    """What came in: the parameters of the path, those behind it, the body, and the URL without them."""

    path: Mapping[str, str]
    query: Mapping[str, str]
    body: object
    address: str

    def read(self, kind: type[AskedT]) -> tuple[AskedT, list[str]]:
        """The request, and the names in it that say nothing to Lamina; raises ``LaminaError``."""
        if not isinstance(self.body, dict | None):
            raise Malformed("INVALID_BODY", "the body must be a JSON object")
        whole = {**self.query, **(self.body or {})}
        ignored = sorted(name for name in whole if name in IGNORED and whole[name] is not None)
        # A client sends null for what it leaves out.
        kept = {name: value for name, value in whole.items() if name not in IGNORED and value is not None}
        try:
            return kind.model_validate(kept), ignored
        except ValidationError as error:
            raise from_validation(error, "INVALID_REQUEST") from error


Run = Callable[[Asker, Given], Any]


@dataclass(frozen=True, slots=True)
class MemoryCall:
    """A row: what a verb at a path does, and whether it reads a body."""

    run: Run
    takes_body: bool = False


def _named(answer: Json, ignored: list[str]) -> Json:
    return {**answer, "ignored": ignored} if ignored else answer


def _ping(asker: Asker, given: Given) -> Json:  # noqa: ARG001 - the shape of a call
    return reading.whoami(asker)


def _add(asker: Asker, given: Given) -> Json:
    asked, ignored = given.read(AddAsked)
    return _named(writing.add(asker, asked), ignored)


def _list(asker: Asker, given: Given) -> Json:
    asked, ignored = given.read(ListAsked)
    return _named(reading.list_page(asker, asked, given.address), ignored)


def _search(asker: Asker, given: Given) -> Json:
    asked, ignored = given.read(SearchAsked)
    return _named(reading.search_page(asker, asked), ignored)


def _get(asker: Asker, given: Given) -> Json:
    return standing.one(asker, given.path["memory_id"])


def _history(asker: Asker, given: Given) -> list[Json]:
    return standing.history(asker, given.path["memory_id"])


def _update(asker: Asker, given: Given) -> Json:
    asked, ignored = given.read(UpdateAsked)
    return _named(writing.update(asker, given.path["memory_id"], asked), ignored)


def _delete(asker: Asker, given: Given) -> Json:
    return writing.delete(asker, given.path["memory_id"])


def _update_many(asker: Asker, given: Given) -> Json:
    return writing.update_many(asker, given.read(BatchAsked)[0])


def _delete_many(asker: Asker, given: Given) -> Json:
    return writing.delete_many(asker, given.read(BatchAsked)[0])


def _entities(asker: Asker, given: Given) -> Json:  # noqa: ARG001 - the shape of a call
    return reading.entities(asker)


def _delete_all(asker: Asker, given: Given) -> Json:
    return erasing.delete_all(asker, given.query)


def _delete_entity(asker: Asker, given: Given) -> Json:
    return erasing.delete_entity(asker, given.path["entity_type"], given.path["entity_name"])


def _event(asker: Asker, given: Given) -> Json:
    return reading.event_state(asker, given.path["event_id"])


def _refused(make: Callable[[], LaminaError]) -> MemoryCall:
    def run(asker: Asker, given: Given) -> Any:  # noqa: ARG001 - the shape of a call
        asker.ask("auth_whoami", {})  # who may not call at all hears of that first
        raise make()

    return MemoryCall(run)


def _not_offered() -> LaminaError:
    return Unsupported(
        "CALL_NOT_OFFERED",
        "this call of Mem0's is not answered here",
        hint="docs/how-to/move-from-mem0.md lists the calls that are, and what stands in the place of the others",
    )


_READ, _ADD, _SEARCH = MemoryCall(_list, takes_body=True), MemoryCall(_add, True), MemoryCall(_search, True)
_LISTED: Final = MemoryCall(_list)
_ONE: Final = {
    "GET": MemoryCall(_get),
    "PUT": MemoryCall(_update, takes_body=True),
    "DELETE": MemoryCall(_delete),
}
_NONE: Final = {"GET": _refused(_not_offered), "POST": _refused(_not_offered)}

CALLS: Final[Mapping[str, Mapping[str, MemoryCall]]] = {
    # The platform, as MemoryClient calls it.
    "/v1/ping/": {"GET": MemoryCall(_ping)},
    "/v3/memories/add/": {"POST": _ADD},
    "/v3/memories/": {"POST": _READ},
    "/v3/memories/search/": {"POST": _SEARCH},
    "/v1/memories/": {"GET": _LISTED, "POST": _ADD, "DELETE": MemoryCall(_delete_all)},
    "/v1/memories/{memory_id}/": _ONE,
    "/v1/memories/{memory_id}/history/": {"GET": MemoryCall(_history)},
    "/v1/batch/": {"PUT": MemoryCall(_update_many, True), "DELETE": MemoryCall(_delete_many, True)},
    "/v1/entities/": {"GET": MemoryCall(_entities)},
    "/v1/event/{event_id}/": {"GET": MemoryCall(_event)},
    "/v2/entities/{entity_type}/{entity_name}/": {"DELETE": MemoryCall(_delete_entity)},
    # The platform, as earlier clients called it.
    "/v1/memories/search/": {"POST": _SEARCH},
    "/v2/memories/": {"POST": _READ},
    "/v2/memories/search/": {"POST": _SEARCH},
    # The open-source REST server.
    "/memories": {"GET": _LISTED, "POST": _ADD, "DELETE": MemoryCall(_delete_all)},
    "/memories/{memory_id}": _ONE,
    "/memories/{memory_id}/history": {"GET": MemoryCall(_history)},
    "/search": {"POST": _SEARCH},
    "/reset": _NONE,
    # What MemoryClient calls besides.
    "/configure": _NONE,
    "/v1/exports/": _NONE,
    "/v1/exports/get/": _NONE,
    "/v1/summary/": _NONE,
    "/v1/feedback/": _NONE,
    "/v2/entities/user/{entity_name}/profile/": _NONE,
    "/v2/profiles/settings/": _NONE,
    "/v2/profiles/jobs/": _NONE,
}
"""By path, then by verb."""

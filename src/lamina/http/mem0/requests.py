"""What Mem0's clients send, by the names that the platform and the open-source server know."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Final, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from lamina import limits
from lamina.errors import Invalid
from lamina.http.mem0.entities import FIELDS, OwnerIds, require_id
from lamina.http.mem0.times import bound

__all__ = [
    "IGNORED",
    "AddAsked",
    "BatchAsked",
    "BatchItem",
    "ListAsked",
    "MessageIn",
    "SearchAsked",
    "UpdateAsked",
]

IGNORED: Final = frozenset(
    {
        "agent_custom_instructions",
        "api_version",
        "async_mode",
        "custom_categories",
        "custom_instructions",
        "enable_graph",
        "excludes",
        "filter_memories",
        "immutable",
        "includes",
        "keyword_search",
        "memory_type",
        "org_id",
        "org_name",
        "output_format",
        "project_id",
        "project_name",
        "prompt",
        "rerank",
        "source",
        "structured_data_schema",
        "version",
    }
)
"""What steers a model, an index or an account of Mem0's, of which there is none here. It is taken, does nothing, and the answer names it."""


def _without_ids(value: Any) -> Any:  # Any: whatever came in
    return None if value == "" else value


_Id = Annotated[str | None, BeforeValidator(_without_ids)]
_Instant = Annotated[
    int | None, BeforeValidator(lambda value: None if value is None else bound(value, "timestamp"))
]
_Bound = Annotated[int | None, BeforeValidator(lambda value: None if value is None else bound(value, "date"))]


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, coerce_numbers_to_str=False)


class _Named(_Asked):
    user_id: _Id = None
    agent_id: _Id = None
    app_id: _Id = None
    run_id: _Id = None
    filters: dict[str, Any] | None = None  # Any: a tree that filters.py reads

    @model_validator(mode="before")
    @classmethod
    def _ids_in_text(cls, given: Any) -> Any:  # Any: whatever came in
        if not isinstance(given, dict):
            return given
        named = {name: require_id(name, given[name]) for name in FIELDS if given.get(name) not in (None, "")}
        return {**given, **named}

    @property
    def entities(self) -> OwnerIds:
        """The ids that stand beside the rest."""
        return OwnerIds(self.user_id, self.agent_id, self.app_id, self.run_id)


class MessageIn(_Asked):
    """One message. ``content`` is its text, or parts of which those of type ``text`` are read."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    role: Literal["user", "assistant", "system", "tool"] = "user"
    content: str | list[dict[str, Any]]  # Any: parts as chat APIs have them
    name: str | None = None

    @property
    def text(self) -> str:
        """What it says in words."""
        if isinstance(self.content, str):
            return self.content
        parts = [part.get("text") for part in self.content if part.get("type") == "text"]
        return "\n".join(part for part in parts if isinstance(part, str))


class AddAsked(_Named):
    """Messages to remember. ``infer: false`` keeps them as they stand, and draws no facts from them."""

    messages: Annotated[list[MessageIn], Field(min_length=1, max_length=limits.BULK_ITEMS_MAX)]
    metadata: dict[str, Any] | None = None  # Any: JSON of the client's own
    infer: bool = True
    timestamp: _Instant = None
    expiration_date: date | None = None

    @model_validator(mode="before")
    @classmethod
    def _messages(cls, given: Any) -> Any:  # Any: whatever came in
        if not isinstance(given, dict):
            return given
        said, filters = given.get("messages"), given.get("filters")
        listed = [said] if isinstance(said, str | dict) else said
        if isinstance(listed, list):
            listed = [{"role": "user", "content": each} if isinstance(each, str) else each for each in listed]
        ids = dict(filters) if isinstance(filters, dict) else {}
        if not ids.keys() <= set(FIELDS):
            raise Invalid(
                "INVALID_FILTER",
                "filters: what is added takes ids alone",
                hint='write {"user_id": "ana"}',
                details={"field": "filters"},
            )
        ids = {name: require_id(name, value) for name, value in ids.items() if value not in (None, "")}
        return {**ids, **given, "messages": listed} if "messages" in given else {**ids, **given}


class ListAsked(_Named):
    """Which memories. ``reference_date`` reads them as of what had been said by then; ``latest_only: false`` shows former values, too."""

    page: Annotated[int, Field(ge=1)] = 1
    page_size: Annotated[int, Field(ge=1, le=limits.PAGE_LIMIT_MAX)] = 100
    fields: list[str] | None = None
    categories: list[str] | None = None
    metadata: dict[str, Any] | None = None  # Any: JSON scalars to be equal to
    start_date: _Bound = None
    end_date: _Bound = None
    show_expired: bool = False
    latest_only: bool = True
    reference_date: _Bound = None
    top_k: Annotated[
        int | None, Field(ge=1, le=limits.LAYER_LIMIT_MAX, validation_alias=AliasChoices("top_k", "limit"))
    ] = None


class SearchAsked(ListAsked):
    """A question. ``threshold`` is the least score, 0 to 1, that is shown."""

    query: Annotated[str, Field(min_length=1, max_length=limits.QUERY_LENGTH_MAX, pattern=r"\S")]
    threshold: Annotated[float, Field(ge=0, le=1)] | None = None


class UpdateAsked(_Asked):
    """What a memory is to say from now on; with ``timestamp``, from then on."""

    text: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=limits.CORRECTION_WORDS_LENGTH_MAX,
            pattern=r"\S",
            validation_alias=AliasChoices("text", "data", "memory"),
        ),
    ] = None
    metadata: dict[str, Any] | None = None  # Any: JSON of the client's own
    timestamp: _Instant = None
    expiration_date: date | None = None


class BatchItem(UpdateAsked):
    """One memory of a batch."""

    memory_id: str


class BatchAsked(_Asked):
    """Memories to update or to delete."""

    memories: Annotated[list[BatchItem], Field(min_length=1, max_length=limits.MEM0_BATCH_MAX)]

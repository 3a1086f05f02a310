"""Request and result types of recall (seed 002, 8.3 and 9)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from lamina import limits
from lamina.errors import Invalid
from lamina.kernel.views import BeliefView, ConceptView, EpisodeView, EventView, FactView
from lamina.kernel.views.parts import Stamp
from lamina.kernel.wire import BoundText, LocalBoundText, Request, Result, ScopePath, Text
from lamina.types.layers import DeniedScope, TraversedScope
from lamina.types.times import Natural, by_the_reference, refuse_two_validities

__all__ = [
    "AnswerCitation",
    "Budgets",
    "CitationMode",
    "CitedLayer",
    "Diagnostics",
    "LayerName",
    "Pack",
    "PackLayers",
    "Provenance",
    "Recall",
    "Search",
    "SupersededView",
    "Temporal",
    "View",
]

LayerName = Literal["events", "episodes", "facts", "beliefs", "understanding"]
View = Literal["local", "raw", "granular", "holistic", "descend", "structured", "narrative"]
CitationMode = Literal["none", "inline_with_markers", "block_at_end", "structured_only"]
Diagnostics = Literal["none", "summary", "full"]
CitedLayer = Literal["event", "episode", "fact", "belief", "concept"]


class Temporal(Request):
    """When: on which axis and in which words. ``natural`` is read against ``reference_date`` or now."""

    as_of: Annotated[
        BoundText | None, Field(description="Answer as memory stood then, on both time axes.")
    ] = None
    valid_during: Annotated[
        tuple[BoundText, BoundText] | None,
        Field(description="What held in this range, and events observed in it; its end is exclusive."),
    ] = None
    recorded_during: Annotated[
        tuple[BoundText, BoundText] | None,
        Field(description="What was recorded in this range, as seen from its end."),
    ] = None
    natural: Annotated[
        Natural | None,
        Field(description='`valid_during` in words: "last week", "since May 2026".'),
    ] = None
    reference_date: Annotated[
        LocalBoundText | None,
        Field(
            description="What words of time, in `natural` and in the query, are read against; now without it. With an offset, days are "
            "days there: in those words, and in the bounds beside it that are bare dates."
        ),
    ] = None
    include_superseded: Annotated[
        bool,
        Field(
            description="Also facts and beliefs that were known otherwise then, in the newest version that fits."
        ),
    ] = False

    @model_validator(mode="before")
    @classmethod
    def _days_of_the_reference(cls, given: Any) -> Any:  # Any: whatever came in
        return by_the_reference(given, ("as_of", "valid_during", "recorded_during"))

    @model_validator(mode="after")
    def _ordered(self) -> Temporal:
        for name in ("valid_during", "recorded_during"):
            bounds = getattr(self, name)
            if bounds is not None and bounds[0] >= bounds[1]:
                raise Invalid(
                    "INVALID_TIME_RANGE", f"temporal.{name} ends before it begins", details={"field": name}
                )
        refuse_two_validities(self.natural, self.valid_during, "temporal.")
        return self


_LayerLimit = Annotated[int, Field(ge=0, le=limits.LAYER_LIMIT_MAX)]


class Budgets(Request):
    """How much may come back: tokens over all layers, and items per layer."""

    max_tokens: Annotated[
        int,
        Field(ge=1, le=limits.RECALL_TOKENS_MAX, description="Of the lines of all layers together."),
    ] = limits.RECALL_TOKENS_DEFAULT
    per_layer_limits: dict[LayerName, _LayerLimit] = Field(
        default_factory=dict,
        description="How many items of a layer at most; 0 for none. Without it 20 events, 5 episodes, 20 facts, 10 beliefs, 3 concepts.",
    )


class Search(Request):
    """Where, when and how to look, for any question. ``filters`` is a tree of AND, OR and NOT over conditions on fields."""

    scope: Annotated[ScopePath, Field(description="Where to look, by `view` also above or below it.")]
    view: Annotated[
        View,
        Field(
            description="`holistic`: the scope and those above it. `local`: the scope alone. `descend`: and those below it. "
            "These three have a `context_block`. `granular`: the layers of the scope without it. `raw`: its events alone. "
            "`structured`: a JSON-LD graph in place of the layers. `narrative`: what the block of `holistic` comes to, told in its place; takes "
            "`llm.invoke`, and is told by rules where there is no language model."
        ),
    ] = "holistic"
    include: Annotated[list[LayerName], Field(description="The layers to fill; all without it.")] = Field(
        default_factory=list
    )
    exclude_content: Annotated[
        bool, Field(description="Leave out what events and summaries say; ids and times stay.")
    ] = False
    include_quarantined: Annotated[
        bool,
        Field(
            description="Also what is kept out: texts with secrets in them, and texts that give orders and are not a person's own word."
        ),
    ] = False
    temporal: Annotated[Temporal, Field(description="When.")] = Temporal()
    filters: Annotated[
        dict[str, Any],  # Any: a tree that recall/filters.py reads
        Field(
            description="AND, OR and NOT over conditions on fields; a layer without the field is left alone.",
            examples=[{"AND": [{"session": "monday"}, {"confidence": {"gte": 0.6}}]}],
        ),
    ] = Field(default_factory=dict)
    budgets: Annotated[Budgets, Field(description="How much may come back.")] = Budgets()
    citation_mode: Annotated[
        CitationMode,
        Field(
            description="Where the context block names its sources: `inline_with_markers` behind each line, `block_at_end` below all, "
            "`structured_only` in `provenance.markers` alone, `none` nowhere."
        ),
    ] = "inline_with_markers"
    diagnostics: Annotated[
        Diagnostics,
        Field(
            description="`summary`: plan, times, what the budget left out. `full`: also what each signal added to each score. Takes `diagnostics.read`."
        ),
    ] = "none"
    stream: Annotated[bool, Field(description="Answer as server-sent events.")] = False
    idempotency_key: Annotated[
        Annotated[str, Field(min_length=1, max_length=limits.IDEMPOTENCY_KEY_LENGTH_MAX)] | None,
        Field(description="Within 60 seconds the same request with the same key has the same pack."),
    ] = None
    last_event_id: Annotated[
        Annotated[str, Field(max_length=limits.STREAM_ID_LENGTH_MAX)] | None,
        Field(
            description="The id of the last event of the stream that was seen, `<pack_id>:<n>`; under the same `idempotency_key` and "
            "within 60 seconds the stream goes on behind it. The header `Last-Event-ID` says the same."
        ),
    ] = None

    @model_validator(mode="before")
    @classmethod
    def _older_names(cls, value: Any) -> Any:
        """``layers`` is the older name of ``include``; ``limits`` is ``budgets`` in section 9.2."""
        if not isinstance(value, dict):
            return value
        given = dict(value)
        if "layers" in given and "include" not in given:
            given["include"] = given.pop("layers")
        if "limits" in given and "budgets" not in given:
            older = given.pop("limits")
            if isinstance(older, dict):
                given["budgets"] = {
                    new: older[old]
                    for old, new in (("per_layer", "per_layer_limits"), ("total_tokens", "max_tokens"))
                    if old in older
                }
        for name in ("include", "temporal", "filters", "budgets"):
            if name in given and given[name] is None:
                del given[name]
        return given


class Recall(Search):
    """A question to memory."""

    query: Annotated[
        Text,
        Field(min_length=1, max_length=limits.QUERY_LENGTH_MAX, description="The question, in words."),
    ]


class Signals(Result):
    """Why an item stands where it does: what each signal added to its score (diagnostics full)."""

    contributions: dict[str, float] | None = None


class SupersededView(Result):
    """Since when an event's claims about the question hold no more, what stands in their place, and who said so."""

    at: Stamp
    by_fact: str | None
    by_event: str


class RankedEvent(EventView, Signals):
    """An event with its place in the answer. ``superseded`` where what it says of the question no longer holds."""

    ranked_position: int
    score: float
    superseded: SupersededView | None = None


class RankedEpisode(EpisodeView, Signals):
    """An episode with its place in the answer."""

    ranked_position: int
    score: float


class RankedFact(FactView, Signals):
    """A fact with its place in the answer."""

    ranked_position: int
    score: float


class RankedBelief(BeliefView, Signals):
    """A belief with its place in the answer."""

    ranked_position: int
    score: float


class RankedConcept(ConceptView, Signals):
    """A concept with its place in the answer."""

    ranked_position: int
    score: float


class PackLayers(Result):
    """The items, best first in each layer."""

    beliefs: list[RankedBelief]
    facts: list[RankedFact]
    episodes: list[RankedEpisode]
    events: list[RankedEvent]
    understanding: list[RankedConcept]

    @classmethod
    def empty(cls) -> PackLayers:
        """Layers without items."""
        return cls(beliefs=[], facts=[], episodes=[], events=[], understanding=[])


class Provenance(Result):
    """How the pack came to be: every phase with its time, and each item's sources down to events."""

    trail: list[dict[str, Any]]  # Any: a phase's own figures
    citations: dict[str, list[str]]
    markers: dict[str, str]
    """Which item each marker of the context block stands for."""


class AnswerCitation(Result):
    """What a marker of an answer stands for. ``support_strength`` is 0..1: how much of what the sentences with this marker say
    stands in the line that it names."""

    marker: str
    layer: CitedLayer
    id: str
    support_strength: Annotated[float, Field(ge=0.0, le=1.0)]


class Answerable(Result):
    """Whether memory seems to hold an answer: the best evidence beside the threshold, both 0..1.

    ``answerable`` is null where the query asks nothing, as a statement or a command by its punctuation: nothing is claimed of it then.
    """

    answerable: bool | None
    best_score: float
    threshold: float

    @property
    def is_near(self) -> bool:
        """Whether the best evidence is good enough, whatever the form of the query."""
        return self.best_score >= self.threshold


class Pack(Result):
    """The stratified pack. ``pack_id`` is good for 60 seconds."""

    request_id: str
    pack_id: str
    scope: str
    view: View
    query: str
    context_block: str
    context_tokens: int
    layers: PackLayers
    abstain: Answerable
    provenance: Provenance
    knowledge_subgraph: dict[str, Any] | None = None  # Any: JSON-LD, view structured only
    scopes_traversed: list[TraversedScope | DeniedScope] | None = None
    """The scopes that the view walked; null where it is one scope alone."""
    diagnostics: dict[str, Any] | None = None  # Any: by level, null when not asked for
    as_of: Stamp
    partial: bool = Field(default=False, validation_alias="_partial", serialization_alias="_partial")
    """Whether facts, vectors and what follows from them are still to come of turns that the pack's time sees. Turns are found by
    their words as soon as they are written."""
    partial_reason: Literal["derivation_in_progress"] | None = Field(
        default=None, validation_alias="_partial_reason", serialization_alias="_partial_reason"
    )

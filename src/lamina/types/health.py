"""What the server says of itself (seed 002, 8.15). Clients have these types too, so nothing of a store is imported."""

from __future__ import annotations

from lamina.kernel.wire import Result

__all__ = [
    "BackupHealth",
    "Compacted",
    "DerivationHealth",
    "Flushed",
    "HealthReport",
    "IntegrityHealth",
    "ModelSpending",
    "StoreHealth",
    "Version",
    "WorkerHealth",
]


class WorkerHealth(Result):
    """Derivation: whether a worker runs (null where the store cannot tell), and what waits for it, of all tenants.

    ``kept`` says that the server keeps one running itself: one that is not alive is on its way. ``outbox_failed`` turns could not
    be folded or delivered, and ``inquiries_failed`` questions to a language model were not answered, for good. ``summaries_waiting`` turns
    wait for a language model's words, the first of them since ``summaries_waiting_since``: rules' words stand meanwhile.
    """

    alive: bool | None
    kept: bool = False
    pending: int
    running: int
    failed: int
    oldest_pending_age_s: float | None
    outbox_failed: int = 0
    inquiries_failed: int = 0
    summaries_waiting: int = 0
    summaries_waiting_since: str | None = None


class StoreHealth(Result):
    """The store: whether the log can be written, and the room that is left."""

    engine: str
    writable: bool
    disk_free_bytes: int | None


class DerivationHealth(Result):
    """What an older release derived and is derived anew behind the calls: what is left of it, and why. Of ``events_left`` so
    many as ``events_ready`` are derived and wait for the rest of their scope; until then readers see the older rows."""

    current: bool
    scopes_left: int = 0
    events_left: int = 0
    events_ready: int = 0
    because: str | None = None


class IntegrityHealth(Result):
    """What the last check of everything on disk saw, and how long ago that was; damaged repositories are built anew."""

    age_s: float
    database: list[str]
    repositories: list[str]


class BackupHealth(Result):
    """Whether the worker makes a backup every day, and how old the newest is, whoever made it; null before the first."""

    daily: bool
    age_s: float | None


class ModelSpending(Result):
    """What questions of a task to a language model cost today, by the UTC day and over all tenants: how many were asked, and the tokens of
    questions and answers."""

    task: str
    model: str
    asked: int
    tokens_in: int
    tokens_out: int


class HealthReport(Result):
    """``integrity`` is null until the first check, some minutes after the first start. ``recorded_ahead_s`` is how far the
    newest event lies ahead of the clock, which was wrong when it was recorded, or is now.

    ``status`` is ``ok``, ``degraded`` when something but the log is wrong, ``unavailable`` when the log is."""

    status: str
    problems: list[str]
    store: StoreHealth
    worker: WorkerHealth
    models: dict[str, bool]
    derivation: DerivationHealth | None = None
    integrity: IntegrityHealth | None = None
    backup: BackupHealth | None = None
    recorded_ahead_s: float = 0.0
    spent_today: tuple[ModelSpending, ...] = ()
    versions: dict[str, str]


class Flushed(Result):
    """How many events were to be derived, and how many of them still are. Complete when none is."""

    pending_before: int
    pending_after: int
    complete: bool
    elapsed_ms: int


class Compacted(Result):
    """Pages moved from the write-ahead file, whether all were, and merges of a text index, which earlier releases had: 0."""

    pages_moved: int
    complete: bool
    index_merges: int


class Version(Result):
    """Which build answers: the package's version, the major version of the API, and the Python under it."""

    name: str
    version: str
    api_version: str
    python: str

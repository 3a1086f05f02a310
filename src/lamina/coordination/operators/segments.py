"""Which append logs leave for the history when (Relay contract 7.6), and what their segments are called; functions of values.

A segment is ``<history>/<id>.<ending>``, its stub ``<history>/index/<id>.json`` and its compressed copy
``<history>/cold/<id>.<ending>.gz``; the id is ``<family>__<stream>__<time>__<number>``, and the stream is the path of the log without what all
logs of the family begin with, ``__`` in place of slashes. So the id of a segment says where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from lamina.kernel.history_settings import HistorySettings
from lamina.kernel.time import DAY_US, Instant, from_datetime, to_datetime

__all__ = [
    "SEGMENT_FAMILIES",
    "AppendLogs",
    "LogAges",
    "Segment",
    "SegmentFamily",
    "day_of",
    "is_due",
    "log_ages",
    "segment_of",
]

SegmentFamily = Literal["journal", "api_audit", "ops_runs", "message_stream", "message_thread", "episodic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendLogs:
    """A family of logs. ``folders`` are those in which they stand, and ``stream`` is the form of what an id says of one; a family that is
    ``parted`` has its history in folders by the stream's first part. ``pages`` are of one day each and leave when it is over; of a log kept ``by_day`` what is of earlier days leaves."""

    folders: Sequence[str]
    prefix: str
    stream: str
    history: str
    parted: bool = True
    ending: str = ".jsonl"
    pages: bool = False
    by_day: bool = False

    def stream_at(self, path: str) -> str | None:
        """The stream of the log at a path; None where there can be none."""
        if not path.startswith(self.prefix) or not path.endswith(self.ending):
            return None
        parts = path.removeprefix(self.prefix).removesuffix(self.ending).split("/")
        stream = "__".join(parts)
        return stream if len(parts) == 1 + self.parted and re.fullmatch(self.stream, stream) else None

    def history_of(self, stream: str) -> str:
        """The folder that the segments of a stream stand in."""
        return f"{self.history}/{stream.partition('__')[0]}" if self.parted else self.history


_MESSAGES: Final = ("messages/inbox/", "messages/outbox/", "messages/acks/", "messages/relay/")

SEGMENT_FAMILIES: Final[Mapping[SegmentFamily, AppendLogs]] = {
    "journal": AppendLogs(
        folders=("journal/",), prefix="journal/", stream=r"[0-9]{4}__[0-9]{4}-[0-9]{2}-[0-9]{2}", history="journal/history",
        ending=".md", pages=True,
    ),
    "api_audit": AppendLogs(
        folders=("logs/",), prefix="logs/", stream="api_audit", history="logs/history/api_audit", parted=False,
        by_day=True,
    ),
    "ops_runs": AppendLogs(
        folders=("logs/",), prefix="logs/", stream="ops_runs", history="logs/history/ops_runs", parted=False,
        by_day=True,
    ),
    "message_stream": AppendLogs(
        folders=_MESSAGES, prefix="messages/", stream=r"(?:inbox|outbox|acks|relay)__.+", history="messages/history",
    ),
    "message_thread": AppendLogs(
        folders=("messages/threads/",), prefix="messages/", stream=r"threads__.+", history="messages/history",
    ),
    "episodic": AppendLogs(
        folders=("memory/episodic/",), prefix="memory/episodic/", stream=r".+", history="memory/episodic/history", parted=False,
        by_day=True,
    ),
}  # fmt: skip
"""Every family of the contract."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogAges:
    """When logs of a family leave, and their segments go to cold storage. ``bytes_max`` and ``idle_days`` end a log as a whole; None never does."""

    bytes_max: int | None = None
    idle_days: int | None = None
    cold_after_days: int


def log_ages(chosen: HistorySettings) -> Mapping[SegmentFamily, LogAges]:
    """The ages of every family, as an operator chose them."""
    return {
        "journal": LogAges(cold_after_days=chosen.relay_journal_cold_after_days),
        "api_audit": LogAges(
            bytes_max=chosen.relay_audit_log_rollover_bytes,
            cold_after_days=chosen.relay_audit_log_cold_after_days,
        ),
        "ops_runs": LogAges(
            bytes_max=chosen.relay_ops_run_rollover_bytes,
            cold_after_days=chosen.relay_ops_run_cold_after_days,
        ),
        "message_stream": LogAges(
            bytes_max=chosen.relay_message_stream_rollover_bytes,
            idle_days=chosen.relay_message_stream_max_hot_days,
            cold_after_days=chosen.relay_message_stream_cold_after_days,
        ),
        "message_thread": LogAges(
            bytes_max=chosen.relay_message_thread_rollover_bytes,
            idle_days=chosen.relay_message_thread_inactivity_days,
            cold_after_days=chosen.relay_message_thread_cold_after_days,
        ),
        "episodic": LogAges(
            bytes_max=chosen.relay_episodic_rollover_bytes,
            cold_after_days=chosen.relay_episodic_cold_after_days,
        ),
    }


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment by its parts; ``rolled_at`` is a whole second."""

    family: SegmentFamily
    stream: str
    rolled_at: Instant
    number: int

    @property
    def logs(self) -> AppendLogs:
        """The family's rules."""
        return SEGMENT_FAMILIES[self.family]

    @property
    def stem(self) -> str:
        """The id without its number."""
        return f"{self.family}__{self.stream}__{to_datetime(self.rolled_at):%Y%m%dT%H%M%SZ}"

    @property
    def id(self) -> str:
        """The id."""
        return f"{self.stem}__{self.number:04}"

    @property
    def folder(self) -> str:
        """Where the family keeps the history of this stream."""
        return self.logs.history_of(self.stream)

    @property
    def payload(self) -> str:
        """Where the segment stands."""
        return f"{self.folder}/{self.id}{self.logs.ending}"

    @property
    def stub(self) -> str:
        """Where its stub stands."""
        return f"{self.folder}/index/{self.id}.json"

    @property
    def cold(self) -> str:
        """Where its compressed copy stands."""
        return f"{self.folder}/cold/{self.id}{self.logs.ending}.gz"

    def is_old(self, ages: LogAges, now: Instant) -> bool:
        """Whether it is to go to cold storage by its age."""
        return now - self.rolled_at >= ages.cold_after_days * DAY_US


_ID: Final = re.compile(r"(?P<stream>.+)__(?P<time>[0-9]{8}T[0-9]{6}Z)__(?P<number>[0-9]{4})")


def segment_of(family: SegmentFamily, segment_id: str) -> Segment | None:
    """The segment of an id; None for what is no id of the family."""
    match = _ID.fullmatch(segment_id.removeprefix(f"{family}__"))
    if match is None or "/" in segment_id or not segment_id.startswith(f"{family}__"):
        return None
    if not re.fullmatch(SEGMENT_FAMILIES[family].stream, match["stream"]):
        return None
    try:
        time = datetime.strptime(match["time"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None
    return Segment(family, match["stream"], from_datetime(time), int(match["number"]))


def day_of(now: Instant) -> Instant:
    """The first instant of today, by UTC."""
    return now - now % DAY_US


def is_due(logs: AppendLogs, ages: LogAges, stream: str, size: int, newest_at: Instant, now: Instant) -> bool:
    """Whether a log of ``size`` bytes, the newest of ``newest_at``, leaves as a whole."""
    if size == 0:
        return False
    if logs.pages:
        return _is_past_page(stream, now)
    too_large = ages.bytes_max is not None and size >= ages.bytes_max
    at_rest = ages.idle_days is not None and now - newest_at >= ages.idle_days * DAY_US
    return too_large or at_rest or (logs.by_day and newest_at < day_of(now))


def _is_past_page(stream: str, now: Instant) -> bool:
    """Whether a page of the journal is of an earlier day."""
    try:
        day = datetime.strptime(stream.rpartition("__")[2], "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        return False
    return day + timedelta(days=1) <= to_datetime(now)

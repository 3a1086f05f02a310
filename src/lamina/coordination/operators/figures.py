"""``GET /v1/metrics``: the figures of a tenant, and alarms for those beyond their bounds (Relay contract 1.15)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic_core import from_json

from lamina.coordination.operators import bounds
from lamina.coordination.operators.requests import Alarm, DeliveryFigures, ReadRelayMetrics, RelayMetrics
from lamina.errors import Invalid
from lamina.kernel.audit import AuditRow
from lamina.kernel.operations import Answer, Call
from lamina.kernel.time import SECOND_US, Instant, instant, rfc3339
from lamina.store.ports.audit import AuditQuery
from lamina.store.ports.messages import PendingPage, PendingQuery
from lamina.store.ports.store import Store

__all__ = ["AlarmBounds", "TenantFigures"]

_CHECKS: Final = "runs/checks/"
_REPLICATION: Final = "peers/replication_state.json"
_PAGE: Final = 1000
_VERIFIED: Final = frozenset({"/v1/messages/verify", "/v1/messages/send", "/v1/relay/forward"})
"""Where signed envelopes are proved; a refusal of one is a 401."""
_REFUSED: Final = 401
_SHOWN_AS: Final = {"pending_ack": "pending", "acked": "acked", "dead_letter": "dead_letter"}


@dataclass(frozen=True, slots=True)
class AlarmBounds:
    """From where on a figure is an alarm: messages that wait, signatures refused within ``window_s``, and seconds without a pull from a source."""

    backlog: int
    refusals: int
    window_s: int
    drift_s: int


class TenantFigures:
    """What there is to count of a tenant."""

    def __init__(self, store: Store, names: Callable[[str], str], bounds_of: AlarmBounds) -> None:
        """``names`` is what an endpoint of the audit log is called."""
        self._documents = store.documents
        self._audit = store.audit
        self._messages = store.messages
        self._names = names
        self._alarms = bounds_of

    def read(self, request: ReadRelayMetrics, call: Call) -> Answer:  # noqa: ARG002 - the port's shape
        """Everything as of now."""
        tenant_id, now = call.principal.tenant_id, call.now
        page = self._messages.pending(
            PendingQuery(tenant_id=tenant_id, now=now, limit=bounds.METRIC_DELIVERIES_MAX)
        )
        delivery = _delivery(page, now)
        checks, unreadable = self._checks(tenant_id)
        events: Counter[str] = Counter()
        peers: Counter[str] = Counter()
        failures = 0
        for row in self._rows(tenant_id):
            events[self._names(row.draft.endpoint)] += 1
            peers[row.draft.actor.removeprefix("agent:")] += 1
            failures += _is_failed_proof(row, now - self._alarms.window_s * SECOND_US)
        replication = self._object(tenant_id, _REPLICATION)
        pulls = replication.get("last_pull_by_source")
        pulls = pulls if isinstance(pulls, dict) else {}
        alarms = [
            *_alarms(self._alarms, delivery.backlog_depth, failures),
            *_drifts(self._alarms, pulls, now),
        ]
        return Answer(
            RelayMetrics(
                generated_at=rfc3339(now),
                delivery=delivery,
                checks=checks,
                audit={"event_counts": _sorted(events), "peer_counts": _sorted(peers)},
                security={
                    "verification_failures_recent": failures,
                    "verification_failure_window_seconds": self._alarms.window_s,
                },
                replication={"last_push": replication.get("last_push"), "last_pull_by_source": pulls},
                alarms=alarms,
                degraded=bool(unreadable),
                warnings=[f"check_unreadable:{path}" for path in unreadable],
            )
        )

    def _rows(self, tenant_id: str) -> Iterator[AuditRow]:
        """The newest audit rows, as many as are counted."""
        before, left = None, bounds.METRIC_AUDIT_ROWS_MAX
        while left > 0:
            page = self._audit.query(AuditQuery(tenant_id=tenant_id, before=before, limit=min(_PAGE, left)))
            yield from page
            if len(page) < min(_PAGE, left):
                return
            before, left = page[-1].number, left - len(page)

    def _checks(self, tenant_id: str) -> tuple[dict[str, Any], list[str]]:  # Any: JSON
        """Runs of checks by profile and status, and the paths of those that cannot be read."""
        documents = self._documents.below(
            tenant_id, _CHECKS, limit=bounds.METRIC_CHECKS_MAX, with_content=True
        )
        summary: Counter[str] = Counter()
        unreadable = []
        for document in documents:
            run = _object(document.content)
            if run is None:
                unreadable.append(document.path)
                continue
            summary[f"{_word(run.get('profile'))}:{_word(run.get('status'))}"] += 1
        return {"summary": _sorted(summary), "artifact_count": len(documents)}, unreadable

    def _object(self, tenant_id: str, path: str) -> dict[str, Any]:  # Any: JSON
        document = self._documents.read(tenant_id, path)
        return (None if document is None else _object(document.content)) or {}


def _delivery(page: PendingPage, now: Instant) -> DeliveryFigures:
    """Every delivery by state, and the newest of them by recipient."""
    summary = page.summary
    by_recipient: dict[str, Counter[str]] = {}
    for each in page.found:
        counts = by_recipient.setdefault(
            each.message.recipient, Counter(total=0, pending=0, acked=0, dead_letter=0)
        )
        counts["total"] += 1
        status = each.delivery.status_at(now)
        if status in _SHOWN_AS:
            counts[_SHOWN_AS[status]] += 1
    acked, dead = summary.get("acked", 0), summary.get("dead_letter", 0)
    return DeliveryFigures(
        summary=_sorted(summary),
        backlog_depth=summary.get("pending_ack", 0),
        ack_success_ratio=acked / (acked + dead) if acked + dead else 1.0,
        by_recipient={name: dict(counts) for name, counts in sorted(by_recipient.items())},
    )


def _is_failed_proof(row: AuditRow, after: Instant) -> bool:
    draft = row.draft
    return draft.at > after and draft.path in _VERIFIED and draft.response_status == _REFUSED


def _alarms(alarms: AlarmBounds, backlog: int, failures: int) -> Iterator[Alarm]:
    if backlog >= alarms.backlog:
        yield Alarm(
            type="delivery_backlog_growth",
            message=f"{backlog} messages wait for an acknowledgement",
            metric="delivery.backlog_depth",
        )
    if failures >= alarms.refusals:
        yield Alarm(
            type="verification_failures",
            message=f"{failures} signatures were refused of late",
            metric="security.verification_failures_recent",
        )


def _drifts(alarms: AlarmBounds, pulls: Mapping[str, Any], now: Instant) -> Iterator[Alarm]:  # Any: JSON
    for source, state in sorted(pulls.items()):
        at = _pulled_at(state)
        if at is not None and now - at > alarms.drift_s * SECOND_US:
            yield Alarm(
                type="replication_drift",
                message=f"nothing was pulled for {(now - at) // SECOND_US} seconds",
                metric="replication.last_pull_by_source",
                source_peer=str(source)[:128],
            )


def _pulled_at(state: Any) -> Instant | None:  # Any: JSON
    text = state.get("pulled_at") if isinstance(state, dict) else state
    try:
        return instant(text) if isinstance(text, str) else None
    except Invalid:
        return None


def _object(content: bytes) -> dict[str, Any] | None:  # Any: JSON
    try:
        value = from_json(content, allow_inf_nan=False)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _word(value: Any) -> str:  # Any: JSON
    return value[:64] if isinstance(value, str) and value else "unknown"


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items()))

"""Inquiries in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from lamina.kernel.events import Event, EventDraft, Stage
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.store.memory.log import MemoryLog
from lamina.store.memory.model_outputs import put_output, words_stand
from lamina.store.memory.records import put_writes
from lamina.store.memory.tables import Memory, Tables
from lamina.store.ports.inquiries import Ready
from lamina.store.ports.model_outputs import ModelOutput
from lamina.store.ports.writes import Inquiry, Writes
from lamina.store.rules.attempts import kept_error

__all__ = ["MemoryInquiries"]

_STATES = ("pending", "answered", "applied", "failed", "dropped")
_OPEN = ("pending", "answered")


class MemoryInquiries:
    """``Inquiries`` over a dictionary."""

    def __init__(self, memory: Memory, log: MemoryLog) -> None:
        self._memory = memory
        self._log = log

    def claim(
        self, *, limit: int, lease_until: Instant, now: Instant, owner: str, behind: str = ""
    ) -> list[Inquiry]:
        """Mirrors ``Inquiries.claim``."""
        with self._memory.change() as tables:
            heads: dict[tuple[str, Scope], Inquiry] = {}
            for inquiry in sorted(tables.inquiries.values(), key=lambda each: (each.position, each.id)):
                if inquiry.state in _OPEN:
                    heads.setdefault((inquiry.tenant_id, inquiry.scope), inquiry)
            due = [each for each in heads.values() if each.state == "pending" and each.is_due(now)]
            claimed = _in_turn(due, behind)[:limit]
            fence = tables.next_fence() if claimed else 0
            leased = [
                replace(inquiry, lease_until=lease_until, lease_owner=owner, fence=fence)
                for inquiry in claimed
            ]
            tables.inquiries |= {inquiry.id: inquiry for inquiry in leased}
            return leased

    def claim_behind(self, head: Inquiry, *, limit: int, now: Instant) -> list[Inquiry]:
        """Mirrors ``Inquiries.claim_behind``."""
        with self._memory.change() as tables:
            held = tables.inquiries.get(head.id)
            if held is None or held.state != "pending" or held.fence != head.fence:
                return []
            place = (head.tenant_id, head.scope)
            behind = [
                each
                for each in tables.inquiries.values()
                if (each.tenant_id, each.scope) == place
                and each.state in _OPEN
                and (each.position, each.id) > (head.position, head.id)
            ]
            ordered = sorted(behind, key=lambda each: (each.position, each.id))
            fit = [
                each.state == "pending" and each.task == head.task and each.is_due(now) for each in ordered
            ]
            near = ordered[: fit.index(False) if False in fit else len(fit)][:limit]
            leased = [
                replace(each, lease_until=held.lease_until, lease_owner=held.lease_owner, fence=held.fence)
                for each in near
            ]
            tables.inquiries |= {each.id: each for each in leased}
            return leased

    def answer(
        self, inquiry: Inquiry, output: ModelOutput, sources: Collection[str], worded: Collection[str] = ()
    ) -> bool:
        """Mirrors ``Inquiries.answer``."""
        with self._memory.change() as tables:
            if not words_stand(tables, inquiry.tenant_id, worded):
                return False
            held = tables.inquiries.get(inquiry.id)
            if held is None or held.state != "pending" or held.fence != inquiry.fence:
                return False
            put_output(tables, output, sources)
            tables.inquiries[inquiry.id] = replace(
                _free(held),
                state="answered",
                input_hash=output.input_hash,
                attempts=held.attempts + 1,
                next_attempt_at=None,
                last_error=None,
            )
            return True

    def put_off(self, inquiry: Inquiry, error: str, *, retry_at: Instant | None) -> None:
        """Mirrors ``Inquiries.put_off``."""
        with self._memory.change() as tables:
            held = tables.inquiries.get(inquiry.id)
            if held is not None and held.state in _OPEN and held.fence == inquiry.fence:
                tables.inquiries[inquiry.id] = replace(
                    _free(held),
                    state="failed" if retry_at is None else held.state,
                    attempts=held.attempts + 1,
                    last_error=kept_error(error),
                    next_attempt_at=retry_at,
                )

    def defer(self, inquiry: Inquiry, error: str, *, retry_at: Instant) -> None:
        """Mirrors ``Inquiries.defer``."""
        with self._memory.change() as tables:
            held = tables.inquiries.get(inquiry.id)
            if held is not None and held.state == "pending" and held.fence == inquiry.fence:
                tables.inquiries[held.id] = replace(
                    _free(held), last_error=kept_error(error), next_attempt_at=retry_at
                )

    def drop(self, inquiry: Inquiry) -> None:
        """Mirrors ``Inquiries.drop``."""
        with self._memory.change() as tables:
            held = tables.inquiries.get(inquiry.id)
            if held is not None and held.state in _OPEN and held.fence == inquiry.fence:
                tables.inquiries[inquiry.id] = replace(_free(held), state="dropped", next_attempt_at=None)

    def ready(self, limit: int) -> list[Ready]:
        """Mirrors ``Inquiries.ready``."""
        tables = self._memory.tables
        answered = [each for _, each in sorted(tables.inquiries.items()) if each.state == "answered"]
        found = [(each, _newest(tables, each)) for each in answered[:limit]]
        return [Ready(inquiry, after) for inquiry, after in found if after is not None]

    def apply(self, ready: Ready, at: Instant, writes: Writes) -> bool:
        """Mirrors ``Inquiries.apply``."""
        with self._memory.change() as tables:
            held = tables.inquiries.get(ready.inquiry.id)
            newest = _newest(tables, ready.inquiry)
            if held is None or held.state != "answered" or newest is None or newest.id != ready.after.id:
                return False
            _note_applied(tables, held, newest.position, at)
            put_writes(tables, writes)
            return True

    def enter(self, ready: Ready, entry: EventDraft) -> Event | None:
        """Mirrors ``Inquiries.enter``."""
        with self._memory.change() as tables:
            held = tables.inquiries.get(ready.inquiry.id)
            if held is None or held.state != "answered":
                return None
            entered = self._log.enter_shown(tables, entry)
            _note_applied(tables, held, entered.position, entered.recorded_at)
            return entered

    def applied_after(self, event: Event) -> list[Inquiry]:
        """Mirrors ``Inquiries.applied_after``."""
        tables = self._memory.tables
        until = min(
            (
                each.position
                for each in tables.events.values()
                if (each.tenant_id, each.scope) == (event.tenant_id, event.scope)
                and each.position > event.position
                and each.cancelled_after is not Stage.CAPTURED
            ),
            default=1 << 62,
        )
        found = [
            each
            for each in tables.inquiries.values()
            if (each.tenant_id, each.scope) == (event.tenant_id, event.scope)
            and each.applied_after is not None
            and event.position <= each.applied_after < until
        ]
        return sorted(found, key=lambda each: (each.applied_after or 0, each.applied_order or 0))

    def release(self, inquiries: Collection[Inquiry]) -> None:
        """Mirrors ``Inquiries.release``."""
        with self._memory.change() as tables:
            for inquiry in inquiries:
                held = tables.inquiries.get(inquiry.id)
                if held is not None and held.fence == inquiry.fence:
                    tables.inquiries[held.id] = _free(held)

    def take_over(self) -> int:
        """Mirrors ``Inquiries.take_over``."""
        with self._memory.change() as tables:
            leased = [held for held in tables.inquiries.values() if held.lease_until is not None]
            tables.inquiries |= {held.id: _free(held) for held in leased}
            return len(leased)

    def revive(self, tenant_id: str, within: Scope) -> int:
        """Mirrors ``Inquiries.revive``."""
        with self._memory.change() as tables:
            failed = [
                each
                for each in tables.inquiries.values()
                if each.state == "failed" and each.tenant_id == tenant_id and within.contains(each.scope)
            ]
            for each in failed:
                tables.inquiries[each.id] = replace(
                    each,
                    state="pending" if each.input_hash is None else "answered",
                    attempts=0,
                    next_attempt_at=None,
                )
            return len(failed)

    def ask_again(self, inquiries: Collection[Inquiry]) -> None:
        """Mirrors ``Inquiries.ask_again``."""
        with self._memory.change() as tables:
            known = {
                (each.tenant_id, each.event_id, each.task): key for key, each in tables.inquiries.items()
            }
            for inquiry in inquiries:
                number = known.get((inquiry.tenant_id, inquiry.event_id, inquiry.task))
                if number is None:
                    tables.last_inquiry += 1
                    number = tables.last_inquiry
                tables.inquiries[number] = replace(inquiry, id=number)

    def unsettled(self, tenant_id: str, within: Scope | None, limit: int) -> list[Inquiry]:
        """Mirrors ``Inquiries.unsettled``."""
        found = [
            each
            for each in self._memory.tables.inquiries.values()
            if each.tenant_id == tenant_id
            and each.state in (*_OPEN, "failed")
            and (within is None or within.contains(each.scope))
        ]
        return sorted(found, key=lambda each: -each.id)[:limit]

    def counts(self, tenant_id: str | None = None) -> dict[str, int]:
        """Mirrors ``Inquiries.counts``."""
        inquiries = self._memory.tables.inquiries.values()
        counted = Counter[str](each.state for each in inquiries if tenant_id in (None, each.tenant_id))
        return {state: counted[state] for state in _STATES}


def _in_turn(due: Sequence[Inquiry], behind: str) -> list[Inquiry]:
    """The first due of each tenant, then the next of each; the tenants in order, those after ``behind`` first."""
    before = Counter[str]()
    order: list[tuple[int, bool, str, Inquiry]] = []
    for each in sorted(due, key=lambda each: (each.next_attempt_at or each.created_at, each.id)):
        order.append((before[each.tenant_id], each.tenant_id <= behind, each.tenant_id, each))
        before[each.tenant_id] += 1
    return [each for *_, each in sorted(order, key=lambda item: item[:3])]


def _note_applied(tables: Tables, held: Inquiry, position: int, at: Instant) -> None:
    place = (held.tenant_id, held.scope, position)
    others = ((each.tenant_id, each.scope, each.applied_after) for each in tables.inquiries.values())
    tables.inquiries[held.id] = replace(
        held,
        state="applied",
        last_error=None,
        applied_after=position,
        applied_order=sum(each == place for each in others),
        applied_at=at,
    )


def _free(inquiry: Inquiry) -> Inquiry:
    return replace(inquiry, lease_until=None, lease_owner=None, fence=0)


def _newest(tables: Tables, inquiry: Inquiry) -> Event | None:
    """The newest extracted event of an inquiry's scope, None while something there is left to extract."""
    place = (inquiry.tenant_id, inquiry.scope)
    events = [each for each in tables.events.values() if (each.tenant_id, each.scope) == place]
    waiting = {
        row.event.id: row for (tenant_id, _), row in tables.jobs.items() if tenant_id == inquiry.tenant_id
    }
    unread = {key for key, row in waiting.items() if row.stage is Stage.EXTRACTED}
    if any(each.id in unread and waiting[each.id].state != "failed" for each in events):
        return None
    extracted = [
        each for each in events if each.id not in unread and each.cancelled_after is not Stage.CAPTURED
    ]
    return max(extracted, key=lambda each: each.position, default=None)

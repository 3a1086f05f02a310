"""What happens behind the two calls: turns that left a window are folded, delivered, and sessions that fell silent closed.

Nothing here is awaited by a caller. A row is folded once, in order inside its session; a target that is down costs its
rows attempts and nobody else anything, and so does an error that nobody thought of.
"""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from lamina import limits
from lamina.errors import Forbidden, Invalid, LaminaError, TooLarge, Unauthenticated, Unavailable, Unsupported
from lamina.kernel.events import Event
from lamina.kernel.time import SECOND_US, Clock
from lamina.observe.rounds import Failures, class_of, frames_of, keep_at
from lamina.session.folding import bridge_text, fold_turns, said_of
from lamina.store.ports.sessions import Fold, OutboxRow, Sitting
from lamina.store.ports.store import Store
from lamina.store.ports.writes import BRIDGE, FOLD, Inquiry, inquiry_of
from lamina.store.rules.attempts import OUTBOX
from lamina.store.rules.erasures import place_that_erases

__all__ = ["Drain", "Drained", "Target", "is_permanent"]

_LOG = logging.getLogger("lamina.session")
_IDLE_S: Final = 0.2
_CLOSE_EVERY_S: Final = 15.0
_PERMANENT = (Invalid, Unauthenticated, Forbidden, TooLarge, Unsupported)


class Target(Protocol):
    """Somebody who wants every turn once it has left its window."""

    def send(self, row: OutboxRow, event: Event) -> None:
        """Deliver a turn, the same one perhaps again; raises ``LaminaError`` when it was not taken."""
        ...


def is_permanent(error: Exception) -> bool:
    """Whether the same delivery will be refused again: the target understood it and said no."""
    return isinstance(error, _PERMANENT)


@dataclass(frozen=True, slots=True)
class Drained:
    """How many turns were claimed, folded and delivered, and of how many the delivery failed for good."""

    claimed: int = 0
    folded: int = 0
    sent: int = 0
    failed: int = 0


class Drain:
    """Empties the outbox of a store."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        *,
        words_by_model: bool = False,
        target: Target | None = None,
        failures: Failures | None = None,
        sleep: Callable[[float], None] = time.sleep,
        owner: str = "drain",
    ) -> None:
        """``owner`` names this process among those that may work on the store. With ``words_by_model`` a language model is asked
        to word each folded turn, behind this."""
        self._store = store
        self._owner = owner
        self._clock = clock
        self._failures = failures or Failures()
        self._words_by_model = words_by_model
        self._target = target
        self._sleep = sleep
        self._looked_at = 0

    def run(self, stopping: Callable[[], bool]) -> None:
        """Work until told to stop. A round that fails is logged, and comes again."""
        keep_at(
            "the outbox",
            self._round,
            stopping,
            idle_s=_IDLE_S,
            failures=self._failures,
            sleep=self._sleep,
        )

    def _round(self) -> bool:
        claimed = self.step().claimed
        self._close_now_and_then()
        return claimed > 0

    def drain(self) -> Drained:
        """Work until nothing is due; the sum of what was done."""
        done = Drained()
        while (step := self.step()).claimed:
            done = _sum(done, step)
        return done

    def step(self) -> Drained:
        """Claim the next batch of turns that are due, fold and deliver them; all zero where none is due."""
        now = self._clock.now()
        rows = self._store.sessions.claim(
            limit=limits.OUTBOX_BATCH_MAX,
            lease_until=now + int(limits.OUTBOX_LEASE_S * SECOND_US),
            now=now,
            owner=self._owner,
        )
        deadline = time.monotonic() + limits.OUTBOX_BUDGET_S
        done = Drained(claimed=len(rows))
        # Sorting is stable: the rows of a sitting stay in the order in which they left it.
        for _, group in itertools.groupby(sorted(rows, key=_sitting_of), key=_sitting_of):
            done = _sum(done, self._settled(list(group), deadline))
        return done

    def _settled(self, rows: list[OutboxRow], deadline: float) -> Drained:
        """Settle rows of one sitting. After an error that nobody thought of each is tried by itself, up to the one that it
        comes of: that one has had an attempt."""
        batch = _Batch(self, rows, deadline)
        try:
            batch.run()
        except Unavailable:
            raise  # the store is away, for everybody
        except Exception as error:
            if len(rows) == 1:
                return _sum(batch.done, self._attempted(rows[0], error))
            _LOG.warning("a batch of the outbox failed and is tried one by one: %s", class_of(error))
            return _sum(batch.done, self._one_by_one(rows, deadline))
        return batch.done

    def _one_by_one(self, rows: list[OutboxRow], deadline: float) -> Drained:
        done = Drained()
        for place, row in enumerate(rows):
            alone = self._settled([row], deadline)
            done = _sum(done, alone)
            if not alone.sent:
                # Nothing overtakes: what is behind it is claimed again when this one is done or failed for good.
                self._store.sessions.release(rows[place + 1 :])
                break
        return done

    def _attempted(self, row: OutboxRow, error: Exception) -> Drained:
        """An attempt of a row ended in an error that nobody thought of."""
        _log_unexpected(row, error)
        last = OUTBOX.is_over(row.attempts + 1)
        retry_at = self._clock.now() + OUTBOX.wait_us(row.attempts + 1)
        self._store.sessions.put_off(row, _shown(error), retry_at=retry_at, failed=last)
        return Drained(failed=int(last))

    def close_idle(self) -> int:
        """Close the sessions that nobody has spoken in for longer than the gap; how many."""
        before = self._clock.now() - limits.SESSION_GAP_S * SECOND_US
        closed = 0
        for place in self._store.sessions.idle(before, limits.SESSION_IDLE_BATCH):
            ended = self._store.sessions.close(place, self._clock.now(), untouched_since=before)
            closed += ended is not None
        return closed

    def _close_now_and_then(self) -> None:
        now = self._clock.now()
        if now - self._looked_at > _CLOSE_EVERY_S * SECOND_US:
            self._looked_at = now
            while self.close_idle() == limits.SESSION_IDLE_BATCH:
                pass


def _sitting_of(row: OutboxRow) -> tuple[str, ...]:
    return (*row.place, f"{row.sitting:09}")


def _sum(one: Drained, other: Drained) -> Drained:
    return Drained(
        one.claimed + other.claimed,
        one.folded + other.folded,
        one.sent + other.sent,
        one.failed + other.failed,
    )


def _log_unexpected(row: OutboxRow, error: Exception) -> None:
    if not isinstance(error, LaminaError):
        _LOG.error("settling %s failed: %s\n%s", row.event_id, class_of(error), frames_of(error))


class _Batch:
    """The claimed rows of one sitting, in order."""

    def __init__(self, drain: Drain, rows: list[OutboxRow], deadline: float) -> None:
        self._store = drain._store
        self._clock = drain._clock
        self._words_by_model, self._target = drain._words_by_model, drain._target
        self._rows = rows
        self._deadline = deadline
        self.folded = self.sent = self.failed = 0

    @property
    def done(self) -> Drained:
        """What was done so far."""
        return Drained(folded=self.folded, sent=self.sent, failed=self.failed)

    def run(self) -> None:
        """Fold what is not folded, then deliver; what was not tried is given back."""
        place, number = self._rows[0].place, self._rows[0].sitting
        sitting = self._store.sessions.sitting(place, number)
        assert sitting is not None, "a row of the outbox has a sitting"
        events = self._store.log.get(place.tenant_id, [row.event_id for row in self._rows])
        ready = self._fold(sitting, events)
        tried = self._deliver(ready) if self._target is not None else len(ready)
        left = [row for row in self._rows if row not in ready[:tried] and row.id not in self._put_off]
        if left:
            self._store.sessions.release(left)

    def _fold(self, sitting: Sitting, events: dict[str, Event]) -> Sequence[OutboxRow]:
        """Land the fold of the rows, by rules and at once; the rows that are folded by then."""
        self._put_off: set[int] = set()
        fresh = [row for row in self._rows if row.folded_at is None]
        if not fresh:
            return self._rows
        told = (events.get(row.event_id) for row in fresh)
        left = (event for event in told if event is not None and not event.excluded)
        summary = fold_turns(sitting.summary, map(said_of, left))
        complete = sitting.closed_at is not None and sitting.folded + len(fresh) == sitting.turns
        landed = self._store.sessions.fold(
            Fold(
                place=sitting.place,
                number=sitting.number,
                ids=tuple(row.id for row in fresh),
                fence=fresh[0].fence,
                summary=summary,
                bridge=bridge_text(summary, ()) if complete else None,
                at=self._clock.now(),
                sent=self._target is None,
                revision=sitting.revision,
                inquiries=self._inquiries(fresh, events, complete=complete),
            )
        )
        if not landed:
            return []  # somebody was there first, with a fold or a model's words: what is left is claimed again
        self.folded += len(fresh)
        self.sent += len(fresh) if self._target is None else 0
        return self._rows

    def _inquiries(
        self, rows: Sequence[OutboxRow], events: dict[str, Event], *, complete: bool
    ) -> tuple[Inquiry, ...]:
        """What a model is asked behind the fold: to word each of these turns, and then the bridge where the sitting is ``complete``."""
        if not self._words_by_model:
            return ()
        now = self._clock.now()
        turns = [events[row.event_id] for row in rows if row.event_id in events]
        bridges = [inquiry_of(turn, BRIDGE, now) for turn in turns[-1:]] if complete else []
        return (*(inquiry_of(turn, FOLD, now) for turn in turns), *bridges)

    def _deliver(self, rows: Sequence[OutboxRow]) -> int:
        """Send rows in order, up to the first that has to wait; how many were tried."""
        assert self._target is not None, "asked only where there is one"
        for tried, row in enumerate(rows):
            if time.monotonic() > self._deadline:
                return tried
            try:
                event = self._leaves(row)
                if event is not None and self._is_being_erased(event):
                    # Should the erasure be cancelled, they go once their lease has run out; otherwise they are erased themselves.
                    self._put_off.update(each.id for each in rows[tried:])
                    return tried
                if event is not None:
                    self._target.send(row, event)
            except Exception as error:
                _log_unexpected(row, error)
                # What was folded just now counts its attempts anew.
                attempts = row.attempts if row.folded_at is not None else 0
                if is_permanent(error) or OUTBOX.is_over(attempts + 1):
                    retry_at = None if is_permanent(error) else self._next(attempts + 1)
                    self._store.sessions.put_off(row, _shown(error), retry_at=retry_at, failed=True)
                    self.failed += 1
                    continue
                self._retry(row, error, attempts)
                return tried + 1
            self._store.sessions.sent([row], self._clock.now())
            self.sent += 1
        return len(rows)

    def _leaves(self, row: OutboxRow) -> Event | None:
        """The turn to send, None where there is none. Read anew: those before it may have taken seconds, and what was cancelled, forgotten
        or erased meanwhile does not leave this server."""
        tenant_id = row.place.tenant_id
        event = self._store.log.get(tenant_id, [row.event_id]).get(row.event_id)
        gone = event is None or event.excluded or event.redacted_by is not None
        return None if gone or row.sent_at is not None else event

    def _is_being_erased(self, event: Event) -> bool:
        return place_that_erases(self._store.erasures.places(event.tenant_id), event) is not None

    def _retry(self, row: OutboxRow, error: Exception, attempts: int | None = None) -> None:
        count = (row.attempts if attempts is None else attempts) + 1
        self._store.sessions.put_off(row, _shown(error), retry_at=self._next(count), failed=False)
        self._put_off.add(row.id)

    def _next(self, failures: int) -> int:
        return self._clock.now() + OUTBOX.wait_us(failures)


def _shown(error: Exception) -> str:
    return f"{error.code}: {error.message}" if isinstance(error, LaminaError) else class_of(error)

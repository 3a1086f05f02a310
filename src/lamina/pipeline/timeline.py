"""When each value of a slot held, from everything that was said of it: a function of the statements, not of their order.

Four rules, in the order in which they apply:

1. Statements stand in valid time, and a value holds until another one begins.
2. A statement without a date is sure of the instant at which it was said, and of no beginning. Where a dated one that
   holds at that instant was said later, it yields: what was said last about an instant counts. Its value is then what
   held *before* the dated one.
3. What was over when it was told interrupts. The value around it comes back where it was said to hold after that.
4. What a tool or document says fills the gaps that people's words leave, and moves none of their ends. Where it would begin
   while another value holds by somebody's word it yields: it is put before the first of the values that follow each other there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from lamina.kernel.time import Instant

__all__ = ["Ending", "Period", "Statement", "timeline"]

_FOREVER: Instant = 1 << 62


@dataclass(frozen=True, slots=True)
class Statement:
    """One event's word that a value holds. ``order`` decides between those of one instant; ``external`` is the word of a
    tool or document, ``confidence`` how sure the event was."""

    value: str
    source: str
    holds_from: Instant
    holds_to: Instant | None
    said_at: Instant
    order: int = 0
    external: bool = False
    confidence: float = 1.0

    @property
    def is_over(self) -> bool:
        """Whether it was told as over."""
        return self.holds_to is not None and self.holds_to <= self.said_at

    @property
    def is_dated(self) -> bool:
        """Whether it holds from another instant than that at which it was said."""
        return self.holds_from != self.said_at and not self.is_over


@dataclass(frozen=True, slots=True)
class Ending:
    """That a value had ended by an instant, whoever said so."""

    value: str
    at: Instant


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of valid time in which a value held, and what says so."""

    value: str
    holds_from: Instant
    holds_to: Instant | None
    statements: tuple[Statement, ...]


@dataclass(slots=True)
class _Run:
    value: str
    holds_from: Instant
    holds_to: Instant | None
    statements: list[Statement]
    under: _Run | None = field(default=None)


def timeline(statements: Sequence[Statement], endings: Sequence[Ending] = ()) -> list[Period]:
    """The periods of a slot, in valid order, none overlapping another."""
    own = _placed([each for each in statements if not each.external], endings)
    others = _placed([each for each in statements if each.external], endings)
    firm = _swept(own, endings)
    if not others:
        return firm
    yielding = {}
    for each, at in others.items():
        begun = [period for period in firm if period.holds_from <= at < (period.holds_to or _FOREVER)]
        if begun and begun[0].value != each.value:
            yielding[each] = _start_of_stretch(firm, begun[0], room=len(others))
    return _swept(own | others | _before(yielding), endings)


def _placed(statements: Sequence[Statement], endings: Sequence[Ending]) -> dict[Statement, Instant]:
    """From when on each statement says that its value holds, by the first two rules."""
    yielding = _yielding(statements)
    standing = {each: each.holds_from for each in statements if each not in yielding}
    if not yielding:
        return standing
    periods = _swept(standing, endings)
    starts = {each: period.holds_from for period in periods for each in period.statements}
    return standing | _before({each: starts[other] for each, other in yielding.items()})


def _start_of_stretch(periods: Sequence[Period], last: Period, *, room: int) -> Instant:
    """The beginning of the stretch without a gap that a period ends, a gap being what has room for so many instants."""
    start = last.holds_from
    for period in reversed(periods[: periods.index(last)]):
        assert period.holds_to is not None, "a period that another one follows has an end"
        if start - period.holds_to > room:
            break
        start = period.holds_from
    return start


def _yielding(statements: Sequence[Statement]) -> dict[Statement, Statement]:
    """The undated statements that yield, each to the dated one that holds at its instant."""
    dated = sorted((each for each in statements if each.is_dated), key=_place)
    found: dict[Statement, Statement] = {}
    for undated in statements:
        if undated.is_dated or undated.is_over:
            continue
        begun = [each for each in dated if each.holds_from <= undated.said_at]
        if begun and begun[-1].value != undated.value and begun[-1].said_at > undated.said_at:
            found[undated] = begun[-1]
    return found


def _before(yielding: Mapping[Statement, Instant]) -> dict[Statement, Instant]:
    """The last instants before that to which statements yield, the value that was said last nearest."""
    groups: dict[Instant, dict[str, list[Statement]]] = defaultdict(lambda: defaultdict(list))
    for each, start in yielding.items():
        groups[start][each.value].append(each)
    found: dict[Statement, Instant] = {}
    for start, by_value in groups.items():
        values = sorted(by_value, key=lambda value: max(map(_place, by_value[value])), reverse=True)
        for back, value in enumerate(values, start=1):
            found |= dict.fromkeys(by_value[value], start - back)
    return found


def _place(statement: Statement) -> tuple[Instant, Instant, str, int]:
    return statement.holds_from, statement.said_at, statement.source, statement.order


def _swept(placed: Mapping[Statement, Instant], endings: Sequence[Ending]) -> list[Period]:
    stated = sorted(placed.items(), key=lambda item: (item[1], *_place(item[0])[1:]))
    marks: list[tuple[Instant, Ending | Statement]] = [(each.at, each) for each in endings]
    marks += [(at, each) for each, at in stated]
    marks.sort(key=lambda mark: (mark[0], isinstance(mark[1], Statement)))
    sweep = _Sweep()
    for at, mark in marks:
        sweep.until(at)
        if isinstance(mark, Ending):
            sweep.end(mark)
        else:
            sweep.state(at, mark)
    sweep.until(_FOREVER)
    return sweep.periods


class _Sweep:
    """Goes through the marks of a slot in valid order."""

    def __init__(self) -> None:
        self.periods: list[Period] = []
        self._run: _Run | None = None

    def until(self, at: Instant) -> None:
        """Let end what ends by itself before ``at``."""
        while self._run is not None and (at == _FOREVER or (self._run.holds_to or _FOREVER) <= at):
            ended = self._run
            self._close(ended.holds_to)
            if ended.holds_to is not None:
                self._run = _resumed(ended.under, ended.holds_to)

    def end(self, ending: Ending) -> None:
        run = self._run
        if run is not None and run.value == ending.value and run.holds_from < ending.at:
            self._close(ending.at)

    def state(self, at: Instant, said: Statement) -> None:
        run = self._run
        if run is not None and run.value == said.value:
            _extend(run, said)
            return
        if run is not None:
            self._close(at)
        self._run = _Run(said.value, at, said.holds_to, [said], run if said.is_over else None)

    def _close(self, at: Instant | None) -> None:
        run = self._run
        assert run is not None, "there is something to close"
        self.periods.append(Period(run.value, run.holds_from, at, tuple(run.statements)))
        self._run = None


def _extend(run: _Run, said: Statement) -> None:
    told_over = all(each.is_over for each in run.statements)
    last_said = max(each.said_at for each in run.statements)
    firm = any(not each.external for each in run.statements)
    run.statements.append(said)
    if said.external and firm:
        return
    if not (said.external or firm):
        run.holds_to = said.holds_to
    elif said.is_over:
        if told_over and said.holds_to is not None and run.holds_to is not None:
            run.holds_to = max(run.holds_to, said.holds_to)
    elif said.holds_to is not None or (told_over and said.said_at > last_said):
        run.holds_to = said.holds_to


def _resumed(under: _Run | None, at: Instant) -> _Run | None:
    """What an interruption ends in: the value around it, where something said that it held after."""
    while under is not None:
        after = [each for each in under.statements if each.said_at >= at and not each.is_over]
        if after and (under.holds_to is None or under.holds_to > at):
            return replace(under, holds_from=at, statements=after)
        under = under.under
    return None

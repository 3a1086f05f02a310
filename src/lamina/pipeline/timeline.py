"""When each value of a slot held, from everything that was said of it: a function of the statements, not of their order.

Five rules, in the order in which they apply:

1. Statements stand in valid time, and a value holds until another one begins.
2. A statement without a date is sure of the instant at which it was said, and of no beginning. Where a dated one that
   holds at that instant was said later, it yields: what was said last about an instant counts. Its value is then what
   held *before* the dated one.
3. What was over when it was told interrupts. The value around it comes back where it was said to hold after that. What is
   told as over with no word of its beginning ("I used to live in Porto") ends its own value, as a denial with a date does, and no
   other. Of several such words about one stretch the one that was said last counts. Where nothing tells of a value that had such an
   end it stands apart, with its last instant.
4. A denial ends its own value and no other, until that begins again. What is said of a value and what denies it yield to
   each other as in rule 2, the denial with a date or without: "I quit Acme last week" is later than "I work at Acme".
5. What a tool or document says, or an assistant of people, fills the gaps that people's words leave, and moves none of their
   ends. Where it would begin while another value holds by somebody's word it yields: it is put before the first of the values
   that follow each other there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from lamina.kernel.events import Trust
from lamina.kernel.local import Offset
from lamina.kernel.records import Author
from lamina.kernel.time import FOREVER, Instant

__all__ = ["Statement", "ValueEnd", "ValuePeriod", "timeline", "turn_of"]


@dataclass(frozen=True, slots=True)
class Statement:
    """One event's word that a value holds, or with ``denies`` that it does not. ``order`` decides between those of one instant;
    ``external`` is hearsay (``hearsay.py``), ``by_assistant`` such of an assistant's, ``handed_over`` such as may be pasted or quoted,
    ``confidence`` how sure the event was, ``offset`` the clock that it was told by.
    ``author`` is who said it of a person other than themselves: beside that person's own word it counts as hearsay does, though it is
    somebody's word (``is_word``), ``trust`` the authority of its source."""

    value: str
    source: str
    holds_from: Instant
    holds_to: Instant | None
    said_at: Instant
    order: int = 0
    denies: bool = False
    external: bool = False
    confidence: float = 1.0
    by_assistant: bool = False
    offset: Offset | None = None
    handed_over: bool = False
    author: Author | None = None
    is_word: bool = True
    trust: Trust = Trust.PRINCIPAL

    @property
    def said(self) -> tuple[str, bool]:
        """What is said: equal for those that say the same."""
        return self.value, self.denies

    @property
    def is_over(self) -> bool:
        """Whether it was told as over."""
        return not self.denies and self.holds_to is not None and self.holds_to <= self.said_at

    @property
    def is_ending(self) -> bool:
        """Whether it was told as over with no word of its beginning: of its time the last instant alone is certain."""
        return self.is_over and self.holds_to is not None and self.holds_to - self.holds_from <= 1

    @property
    def is_dated(self) -> bool:
        """Whether it holds from another instant than that at which it was said."""
        return self.holds_from != self.said_at and not self.is_over


@dataclass(frozen=True, slots=True)
class ValueEnd:
    """That a value had ended by an instant; where it is ``external``, nothing of it that a person said ends."""

    value: str
    at: Instant
    external: bool = False


@dataclass(frozen=True, slots=True)
class ValuePeriod:
    """A stretch of valid time in which a value held, or did not, and what says so. What ``is_apart`` is the last instant of one of which
    nothing else is told: other values may hold then."""

    value: str
    holds_from: Instant
    holds_to: Instant | None
    statements: tuple[Statement, ...]
    denies: bool = False
    is_apart: bool = False

    @property
    def said(self) -> tuple[str, bool]:
        """Mirrors ``Statement.said``."""
        return self.value, self.denies


@dataclass(slots=True)
class _Run:
    value: str
    holds_from: Instant
    holds_to: Instant | None
    statements: list[Statement]
    under: _Run | None = field(default=None)


def timeline(statements: Sequence[Statement], endings: Sequence[ValueEnd] = ()) -> list[ValuePeriod]:
    """The periods of a slot: of values in valid order, none overlapping another, then of what was denied, then what stands apart."""
    own = _told([each for each in statements if not each.external], endings)
    others = _told([each for each in statements if each.external], endings)
    periods, denied, over = own.periods, own.denied, [*own.over, *others.over]
    if others.placed or others.denied:
        ending = [
            *own.endings,
            *(replace(each, external=True) for each in others.endings if each not in endings),
        ]
        ending += [ValueEnd(each.value, each.holds_from, external=True) for each in own.denied]
        periods = _swept({**own.placed, **others.placed, **_before(_giving_way(own, others))}, ending)
        denied = _denied_beside(own, others, periods)
    return [*_with_over(periods, over), *denied, *_apart(periods, over)]


@dataclass(frozen=True, slots=True)
class _Told:
    """A timeline of its own: from when on each statement says that its value holds, what ends it, and what came of that."""

    placed: Mapping[Statement, Instant]
    endings: Sequence[ValueEnd]
    periods: Sequence[ValuePeriod]
    denied: Sequence[ValuePeriod]
    over: Sequence[_Over]


@dataclass(frozen=True, slots=True)
class _Over:
    """That a value was over by an instant, by the one of its words that was said last."""

    value: str
    at: Instant
    last_said: Statement
    statements: tuple[Statement, ...]


def _told(statements: Sequence[Statement], endings: Sequence[ValueEnd]) -> _Told:
    """By the first four rules."""
    values = [each for each in statements if not (each.denies or each.is_ending)]
    denials = [each for each in statements if each.denies]
    over = _over([each for each in statements if each.is_ending], values)
    idle = _outdone(denials, values)
    ending = [*endings, *(ValueEnd(each.value, each.holds_from) for each in denials if each not in idle)]
    ending += [ValueEnd(each.value, each.at) for each in over]
    yielding = _yielding(values, [each for each in denials if each not in idle], over)
    placed = {each: each.holds_from for each in values if each not in yielding}
    periods = _swept(placed, ending)
    if yielding:
        told = [*periods, *_denied(denials, idle, periods)]
        starts = {each: period.holds_from for period in told for each in period.statements}
        starts |= {each.last_said: each.at for each in over}
        placed |= _before({each: starts[other] for each, other in yielding.items()})
        periods = _swept(placed, ending)
    return _Told(placed, ending, periods, _denied(denials, idle, periods), over)


def _over(endings: Sequence[Statement], values: Sequence[Statement]) -> list[_Over]:
    """What was told as over, the words about one stretch of a value together: between two stretches it is said to hold."""
    found: list[_Over] = []
    for each in sorted(endings, key=lambda each: (each.value, *_place(each))):
        assert each.holds_to is not None, "it was over"
        last = found[-1] if found else None
        if last is None or last.value != each.value or _begins_between(values, each.value, last, each):
            found.append(_Over(each.value, each.holds_to, each, (each,)))
            continue
        said = max(last.last_said, each, key=turn_of)
        assert said.holds_to is not None, "it was over"
        found[-1] = _Over(each.value, said.holds_to, said, (*last.statements, each))
    return found


def _begins_between(values: Sequence[Statement], value: str, first: _Over, second: Statement) -> bool:
    latest = max(each.holds_from for each in first.statements)
    return any(latest < each.holds_from <= second.holds_from for each in values if each.value == value)


def _with_over(periods: Sequence[ValuePeriod], over: Sequence[_Over]) -> list[ValuePeriod]:
    """The periods, each with what tells of its value that it was over by its end or before."""
    found = list(periods)
    for each in over:
        for at, period in enumerate(periods):
            if _is_told_by(period, each):
                found[at] = replace(found[at], statements=(*found[at].statements, *each.statements))
    return found


def _apart(periods: Sequence[ValuePeriod], over: Sequence[_Over]) -> list[ValuePeriod]:
    """What was over with nothing else told of it; of one instant it is one."""
    found: dict[tuple[str, Instant], ValuePeriod] = {}
    for each in over:
        if not any(_is_told_by(period, each) for period in periods):
            known = found.get((each.value, each.at))
            said = (*(known.statements if known else ()), *each.statements)
            found[each.value, each.at] = ValuePeriod(each.value, each.at - 1, each.at, said, is_apart=True)
    return [found[key] for key in sorted(found)]


def _is_told_by(period: ValuePeriod, over: _Over) -> bool:
    if period.value != over.value or period.holds_to is None:
        return False
    return period.holds_from < over.at <= period.holds_to


def _giving_way(own: _Told, others: _Told) -> dict[Statement, Instant]:
    """What documents say that holds while a person's word says otherwise, each with the instant before which it is put."""
    room = len(others.placed)
    found: dict[Statement, Instant] = {}
    for each, begins in others.placed.items():
        at = begins
        while True:
            begun = [p for p in own.periods if _covers(p, at) and p.value != each.value]
            denied = [p.holds_from for p in own.denied if _covers(p, at) and p.value == each.value]
            denied += [o.at for o in own.over if o.at <= at and _is_later_word(o, each)]
            if begun:
                found[each] = _start_of_stretch(own.periods, begun[0], room=room)
            elif denied:
                found[each] = denied[0]
            else:
                break
            at = found[each] - 1
    return found


def _covers(period: ValuePeriod, at: Instant) -> bool:
    return period.holds_from <= at < (period.holds_to or FOREVER)


def _denied_beside(own: _Told, others: _Told, periods: Sequence[ValuePeriod]) -> list[ValuePeriod]:
    """For how long each value was denied: what documents deny fills the gaps that the values and people's denials leave."""
    found = list(own.denied)
    for denied in others.denied:
        start, until = denied.holds_from, denied.holds_to
        beside = [each for each in (*periods, *found) if each.value == denied.value]
        over = next((each for each in beside if _covers(each, start)), None)
        if over is not None and over.denies:
            found[found.index(over)] = replace(over, statements=(*over.statements, *denied.statements))
            continue
        while over is not None:
            start, until = over.holds_from - 1, over.holds_from
            over = next((each for each in beside if _covers(each, start)), None)
        after = min((each for each in beside if each.holds_from > start), key=_begins, default=None)
        if after is not None and after.denies and (until is None or until >= after.holds_from):
            # Of one value they are one denial, which a person's word carries on.
            said = (*denied.statements, *after.statements)
            found[found.index(after)] = replace(after, holds_from=start, statements=said)
            continue
        ends = [] if after is None else [after.holds_from]
        ends += [] if until is None else [until]
        found.append(replace(denied, holds_from=start, holds_to=min(ends, default=None)))
    return found


def _begins(period: ValuePeriod) -> tuple[Instant, bool]:
    return period.holds_from, period.denies


def _start_of_stretch(periods: Sequence[ValuePeriod], last: ValuePeriod, *, room: int) -> Instant:
    """The beginning of the stretch without a gap that a period ends, a gap being what has room for so many instants."""
    start = last.holds_from
    for period in reversed(periods[: periods.index(last)]):
        assert period.holds_to is not None, "a period that another one follows has an end"
        if start - period.holds_to > room:
            break
        start = period.holds_from
    return start


def _is_later_word(over: _Over, said: Statement) -> bool:
    """Whether an undated statement says that a value holds, and what was said later that it was over by then."""
    undated = not (said.is_dated or said.is_over)
    return undated and over.value == said.value and turn_of(over.last_said) > turn_of(said)


def _yielding(
    values: Sequence[Statement], denials: Sequence[Statement], over: Sequence[_Over]
) -> dict[Statement, Statement]:
    """The undated statements that yield, each to the dated one that holds at its instant, to a denial of its value or to the word that it
    was over."""
    dated = sorted((each for each in values if each.is_dated), key=_place)
    found: dict[Statement, Statement] = {}
    for undated in values:
        if undated.is_dated or undated.is_over:
            continue
        begun = [each for each in dated if each.holds_from <= undated.said_at][-1:]
        rivals = [each for each in begun if each.value != undated.value and each.said_at > undated.said_at]
        denied = [
            each for each in denials if each.value == undated.value and each.holds_from <= undated.said_at
        ]
        rivals += [each for each in denied if turn_of(each) > turn_of(undated)]
        rivals += [
            each.last_said for each in over if each.at <= undated.said_at and _is_later_word(each, undated)
        ]
        if rivals:
            found[undated] = min(rivals, key=_place)
    return found


def _outdone(denials: Sequence[Statement], values: Sequence[Statement]) -> dict[Statement, Statement]:
    """The undated denials that yield, each to a later word that the value had begun by then."""
    found: dict[Statement, Statement] = {}
    for denial in denials:
        later = [
            each
            for each in values
            if not (denial.is_dated or each.is_over)
            and each.value == denial.value
            and each.holds_from <= denial.said_at
            and turn_of(each) > turn_of(denial)
        ]
        if later:
            found[denial] = min(later, key=_place)
    return found


def _denied(
    denials: Sequence[Statement], idle: Mapping[Statement, Statement], periods: Sequence[ValuePeriod]
) -> list[ValuePeriod]:
    """For how long each value was denied: until it begins again."""
    starts = {each: period.holds_from for period in periods for each in period.statements}
    found: list[ValuePeriod] = []
    for denial in sorted(denials, key=lambda each: (each.value, *_place(each))):
        until = denial.holds_to
        if denial in idle and idle[denial] in starts:
            until = starts[idle[denial]]
            start = until - 1
        else:
            start = denial.holds_from
            again = [p.holds_from for p in periods if p.value == denial.value and p.holds_from >= start]
            until = min([*again, *([] if until is None else [until])], default=None)
            start = start if until is None else min(start, until - 1)
        last = found[-1] if found else None
        if last is not None and last.value == denial.value and last.holds_to == until:
            start = min(last.holds_from, start)
            found[-1] = replace(last, holds_from=start, statements=(*last.statements, denial))
        else:
            found.append(ValuePeriod(denial.value, start, until, (denial,), denies=True))
    return found


def turn_of(statement: Statement) -> tuple[Instant, str, int]:
    """Which of two statements was said first."""
    return statement.said_at, statement.source, statement.order


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
    return statement.holds_from, *turn_of(statement)


def _swept(placed: Mapping[Statement, Instant], endings: Sequence[ValueEnd]) -> list[ValuePeriod]:
    stated = sorted(placed.items(), key=lambda item: (item[1], *_place(item[0])[1:]))
    marks: list[tuple[Instant, ValueEnd | Statement]] = [(each.at, each) for each in endings]
    marks += [(at, each) for each, at in stated]
    marks.sort(key=lambda mark: (mark[0], isinstance(mark[1], Statement)))
    sweep = _Sweep()
    for at, mark in marks:
        sweep.until(at)
        if isinstance(mark, ValueEnd):
            sweep.end(mark)
        else:
            sweep.state(at, mark)
    sweep.until(FOREVER)
    return sweep.periods


class _Sweep:
    """Goes through the marks of a slot in valid order."""

    def __init__(self) -> None:
        self.periods: list[ValuePeriod] = []
        self._run: _Run | None = None

    def until(self, at: Instant) -> None:
        """Let end what ends by itself before ``at``."""
        while self._run is not None and (at == FOREVER or (self._run.holds_to or FOREVER) <= at):
            ended = self._run
            self._close(ended.holds_to)
            if ended.holds_to is not None:
                self._run = _resumed(ended.under, ended.holds_to)

    def end(self, ending: ValueEnd) -> None:
        run = self._run
        if run is None or run.value != ending.value or run.holds_from >= ending.at:
            return
        if not ending.external or all(each.external for each in run.statements):
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
        self.periods.append(ValuePeriod(run.value, run.holds_from, at, tuple(run.statements)))
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

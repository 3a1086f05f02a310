"""Values with their lines for a context block, and what those cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lamina.kernel.records import Layer
from lamina.models.counter import TokenCounter
from lamina.recall.pack import Item
from lamina.recall.placing import Answers
from lamina.recall.plan import Plan
from lamina.recall.render import change_mark, line_of

__all__ = ["items_of"]


def items_of(
    plan: Plan, answers: Answers, counter: TokenCounter
) -> tuple[Mapping[Layer, Sequence[Item]], Sequence[Item]]:
    """The items of each layer, and those of the events that only a context block may show."""
    rows = [(layer, each) for layer in answers.values for each in answers.values[layer]]
    rows += [(Layer.EVENTS, each) for each in answers.more]
    lines = [
        line_of(
            each.value,
            plan.terms,
            mark=f"{each.superseded.mark if each.superseded else ''}{each.mark}",
            called=plan.called,
            said_at=each.said_at,
        )
        for _, each in rows
    ]
    whole = [
        f"- {line}{change_mark(each.changed, '[99]')} [99]\n"
        for (_, each), line in zip(rows, lines, strict=True)
    ]
    items = [
        Item(
            layer=layer,
            line=line,
            tokens=count,
            value=each.value,
            score=each.score,
            contributions=each.contributions,
            superseded=each.superseded,
            needs=each.needs,
            changed=each.changed,
            quarantined=each.quarantined,
        )
        for (layer, each), line, count in zip(rows, lines, counter.count(whole), strict=True)
    ]
    first, more = items[: len(items) - len(answers.more)], items[len(items) - len(answers.more) :]
    return {layer: [item for item in first if item.layer is layer] for layer in answers.values}, more

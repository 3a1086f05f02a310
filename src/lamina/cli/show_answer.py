"""What ``lamina answer`` prints: the answer, what its markers stand for, and who worded it."""

from __future__ import annotations

from rich.text import Text

from lamina.answer.requests import AnswerResponse
from lamina.cli.show import console, context, table

__all__ = ["show_answer"]


def show_answer(told: AnswerResponse, *, explain: bool) -> None:
    """The answer and its sources; what is not known is said as such."""
    out = console()
    if told.answered:
        context(out, told.answer)
    else:
        out.print(told.answer, style="yellow", markup=False)
        out.print("lamina recall shows what is nearest.", style="dim")
    rows: list[list[str | Text]] = [
        [Text(each.marker, style="cyan"), each.layer, f"{each.support_strength:.2f}", each.id]
        for each in told.citations
    ]
    if rows:
        out.print()
        out.print(table("", "source", "support", "id", rows=rows))
        by = "sentences of memory as they stand" if told.answer_model == "extractive" else told.answer_model
        out.print(Text(f"Worded by: {by}", style="dim"))
    if explain and told.diagnostics is not None:
        figures = ", ".join(f"{name}={value}" for name, value in told.diagnostics.items())
        out.print(Text(f"{figures}, {told.pack_id}", style="dim"))

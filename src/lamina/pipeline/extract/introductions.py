"""How people introduce themselves, and the time zone that they say to be in."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from lamina.language.tables import table
from lamina.pipeline.extract.clauses import Clause
from lamina.pipeline.extract.emitter import Emitter
from lamina.pipeline.extract.own_names import own_names
from lamina.pipeline.extract.times import Validity
from lamina.pipeline.extract.values import LiteralValue

__all__ = ["Introductions"]

_TABLE: Final = table(__name__)
_ZONE: Final = _TABLE.pattern("zone")


class Introductions(Emitter):
    def _introduced(self) -> None:
        """What the speaker says of who they are. Patterns see what the parse did not."""
        speaker = self.refs.speaker
        if speaker is None or not self.parse.tokens:
            return
        clause = Clause(self.parse, self.parse.tokens[0], self.parse.tokens[0])
        for own in own_names(self.parse):
            self.found[:] = [t for t in self.found if t.predicate != own.predicate or t.subject != speaker]
            value = LiteralValue("string", own.name)
            self._emit(clause, speaker, own.predicate, value, validity=Validity())
            self.found[-1] = replace(self.found[-1], introduces=own.introduces)
        if (zone := _ZONE.search(self.parse.text.strip())) is not None:  # the parser takes it apart
            self.found[:] = [t for t in self.found if t.predicate != "timezone"]
            named = LiteralValue("string", "/".join(map(_zone_part, zone["zone"].split("/"))))
            self._emit(clause, speaker, "timezone", named, validity=Validity())


def _zone_part(part: str) -> str:
    if any(c.isupper() for c in part):
        return part
    return "_".join(word.capitalize() for word in part.split("_"))

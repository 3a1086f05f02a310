"""Taking feedback: what its verdict is of is looked up once, at the door, and kept with it.

So a verdict means the same for ever: a replay, or a mending after a cancellation, need not find the record that somebody saw.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any, Final

from lamina.errors import Gone, NotFound
from lamina.kernel.events import EventDraft
from lamina.kernel.feedback import judges
from lamina.kernel.operations import Call
from lamina.kernel.records import Belief, Claim, Fact, Layer, Loop
from lamina.kernel.time import FOREVER, Axes, rfc3339
from lamina.pipeline.matters import is_shared
from lamina.store.ports.records import RecordQuery, Records
from lamina.types.envelope import wrong_field

__all__ = ["Judging"]

_LEADS: Final = {
    "confirm": "Right",
    "deny": "Not so",
    "outdated": "No longer so",
    "irrelevant": "Of no use",
}
_BELIEFS_MAX: Final = 64


class Judging:
    """Completes drafts of feedback."""

    def __init__(self, records: Records) -> None:
        self._records = records

    def completed(self, draft: EventDraft, call: Call) -> EventDraft:
        """The draft with what its target says, in ``claim``, and how far that is believed, in ``believed``; any other draft as it is.

        Raises ``NotFound``, ``Gone`` (RESOURCE_DELETED) and ``Invalid`` where the target cannot be judged.
        """
        if not judges(draft.modality, draft.content):
            return draft
        target = self._target(draft, call)
        fact = target if isinstance(target, Fact) else self._fact_behind(target)
        # The verdict lies where the belief does: whoever reads it there may not read the words of a fact that was sent there.
        said = fact if fact is not None and fact.scope == target.scope else target
        belief = target if isinstance(target, Belief) else self._belief_of(said)
        verdict, note = draft.content["verdict"], draft.content.get("note")
        words = f"{_LEADS[verdict]}: {_sentence(said).rstrip('.')}."
        return replace(
            draft,
            content={
                "kind": "json",
                "target_id": target.id,
                "verdict": verdict,
                "note": note,
                "text": f"{words} {note}" if note else words,
                "claim": self._claim(said, fact, draft),
                "believed": None
                if belief is None
                else {
                    "belief_id": belief.id,
                    "confidence": round(belief.alpha / (belief.alpha + belief.beta), 6),
                },
            },
        )

    def _target(self, draft: EventDraft, call: Call) -> Fact | Belief:
        target_id = str(draft.content["target_id"])
        found = self._records.get(draft.tenant_id, [target_id]).get(target_id)
        missing = NotFound(
            "NOT_FOUND",
            "there is no fact or belief of this id",
            hint="GET /v1/facts and GET /v1/beliefs list them with their ids",
            details={"id": target_id},
        )
        call.require_known(found.scope if isinstance(found, Claim) else None, missing)
        assert isinstance(found, Fact | Belief), "it lies in a scope"
        if isinstance(found, Loop) and not found.is_stated:
            raise wrong_field(
                "content.target_id", "names an open loop, which is judged by what is said of it"
            )
        if found.scope != draft.scope:
            raise wrong_field("scope", "is not that of the record that is judged")
        if found.excluded or found.recorded_to is not None:
            raise Gone(
                "RESOURCE_DELETED",
                "this record is held no more",
                hint="as_of reads it as it was held before; judge what is held now",
                details={"id": target_id},
            )
        return found

    def _fact_behind(self, belief: Belief) -> Fact | None:
        """The newest fact that says what a belief does, of its own scope where there is one."""
        ids = [each.source_id for each in belief.evidence if each.polarity == "supports"]
        found = [each for each in self._records.get(belief.tenant_id, ids).values() if isinstance(each, Fact)]
        return max(
            found, key=lambda each: (each.scope == belief.scope, each.valid_from, each.id), default=None
        )

    def _belief_of(self, claim: Claim) -> Belief | None:
        query = RecordQuery(
            tenant_id=claim.tenant_id,
            layer=Layer.BELIEFS,
            scopes=[claim.scope],
            axes=Axes(seen_at=FOREVER),
            claim_key=claim.claim_key,
            limit=_BELIEFS_MAX,
        )
        beliefs = [each for each in self._records.query(query) if isinstance(each, Belief)]
        return next((b for b in beliefs if claim.id in {each.source_id for each in b.evidence}), None)

    def _claim(self, said: Claim, fact: Fact | None, draft: EventDraft) -> dict[str, Any]:  # Any: JSON
        # What its own scope knows it as: elsewhere somebody else may have that name.
        place = said.scope if fact is None else fact.scope
        types = self._records.entity_types(draft.tenant_id, place, {said.subject.id})
        return {
            "subject": said.subject.name,
            "subject_type": types.get(said.subject.id, "thing"),
            "predicate": said.predicate,
            "object": asdict(said.object),
            "negated": said.negated,
            "kind": "attribute" if fact is None else fact.kind,
            "single": fact is not None and fact.slot is not None and not is_shared(fact),
            "valid_from": rfc3339(said.valid_from),
            "valid_to": None if said.valid_to is None else rfc3339(said.valid_to),
        }


def _sentence(said: Claim) -> str:
    if isinstance(said, Fact) and said.text:
        return said.text
    denied = "not " if said.negated else ""
    return f"{said.subject.name} {denied}{said.predicate.replace('_', ' ')} {said.object.text}"

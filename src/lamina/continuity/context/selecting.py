"""Which subjects a retrieval is about, in the order in which they were named."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from lamina.continuity.capsule.subjects import Subject
from lamina.continuity.context.requests import Retrieve
from lamina.errors import Malformed

__all__ = ["Selection", "label", "selected"]

_NAMED: Final = re.compile(r"(task|thread):(.+)", re.DOTALL)
_ID_LENGTH_MAX: Final = 200


@dataclass(frozen=True, slots=True)
class Selection:
    """``taken`` are looked up, ``omitted`` were one too many. ``origin`` is how they were named.

    ``primary`` is the subject that the request names outside of its selectors; ``by_selector`` whether there were any.
    """

    taken: tuple[Subject, ...]
    omitted: tuple[Subject, ...]
    origin: str
    primary: Subject | None
    by_selector: bool

    @property
    def explicit(self) -> tuple[Subject, ...]:
        """Every subject that the caller named, without one that was read out of the task."""
        return () if self.origin == "inferred" else (*self.taken, *self.omitted)


def label(subject: Subject) -> str:
    """A subject as lists name it."""
    return f"{subject.kind}:{subject.id}"


def selected(request: Retrieve) -> Selection:
    """The subjects of a request; raises ``Malformed`` (SUBJECT_INCOMPLETE) for half a subject."""
    primary = None
    if request.subject_kind is not None and request.subject_id is not None:
        primary = Subject(request.subject_kind, request.subject_id)
    elif (request.subject_kind, request.subject_id) != (None, None) and not request.continuity_selectors:
        raise Malformed(
            "SUBJECT_INCOMPLETE",
            "subject_kind and subject_id go together",
            details={"field": "subject_id" if request.subject_id is None else "subject_kind"},
        )
    named: dict[tuple[str, str], Subject] = {}
    for each in _named(request, primary):
        named.setdefault((each.kind, each.slug), each)
    subjects, origin = tuple(named.values()), "explicit"
    if not subjects:
        subjects, origin = _inferred(request.task), "inferred"
    most = request.continuity_max_capsules
    return Selection(subjects[:most], subjects[most:], origin, primary, bool(request.continuity_selectors))


def _named(request: Retrieve, primary: Subject | None) -> Iterator[Subject]:
    if primary is not None:
        yield primary
    for each in request.continuity_selectors:
        yield Subject(each.subject_kind, each.subject_id)


def _inferred(task: str) -> tuple[Subject, ...]:
    match = _NAMED.fullmatch(task.strip())
    if match is None or len(match[2].strip()) > _ID_LENGTH_MAX:
        return ()
    subject = Subject(match[1], match[2].strip())
    try:
        subject.slug  # noqa: B018 - raises where no name can be made of it
    except Malformed:
        return ()
    return (subject,)

"""Handlers of the operations that read one capsule: as it stands, as its snapshot, or against a candidate."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from lamina.continuity.capsule import requests, results
from lamina.continuity.capsule.shape import CapsuleObject
from lamina.continuity.capsule.subjects import Subject
from lamina.continuity.changes.comparing import candidate_of, compared
from lamina.continuity.handlers.provenance import provenance
from lamina.continuity.judgements.recovery_warnings import (
    ACTIVE_INVALID,
    ACTIVE_MISSING,
    FALLBACK_MISSING,
    FALLBACK_USED,
    SUMMARY_FAILED,
    TRUST_FAILED,
    superseded,
)
from lamina.continuity.judgements.startup import startup_summary
from lamina.continuity.judgements.trust import TrustSignals, trust_signals
from lamina.continuity.permission import READS, require
from lamina.continuity.shelf.documents import Shelf, StandingCapsule
from lamina.continuity.shelf.loading import Loaded
from lamina.continuity.shelf.uses import note_use
from lamina.errors import Malformed, NotFound
from lamina.kernel.operations import Answer, Call
from lamina.kernel.time import Instant
from lamina.observe.rounds import class_of, frames_of

__all__ = ["CapsuleReading", "Section"]

Section = Callable[[Subject, Call], Mapping[str, Any]]
"""What another part of the product adds to the startup view of a subject, such as its reminders."""

_LOG = logging.getLogger("lamina.continuity")
_UNEXPECTED = (AttributeError, KeyError, TypeError, ValueError)


class CapsuleReading:
    """Read and compare. ``sections`` are added to the startup view under their names."""

    def __init__(
        self,
        shelf: Shelf,
        sections: Mapping[str, Section] | None = None,
    ) -> None:
        self._shelf = shelf
        self._sections = dict(sections or {})

    def read(self, request: requests.Read, call: Call) -> Answer:
        """A capsule with its trust signals; with ``allow_fallback`` its snapshot where the capsule cannot be read."""
        subject, tenant_id = request.subject, call.principal.tenant_id
        require(call, READS, "read", subject.active_path)
        path, state, warnings = subject.active_path, "active", list[str]()
        standing: StandingCapsule | None = None
        sha256: str | None = None
        try:
            standing = self._standing(tenant_id, subject)
            sha256 = standing.sha256
        except (NotFound, Malformed) as failure:
            if not request.allow_fallback:
                raise
            warnings.append(ACTIVE_MISSING if isinstance(failure, NotFound) else ACTIVE_INVALID)
            require(call, READS, "read", subject.fallback_path)
            standing = self._shelf.snapshot(tenant_id, subject)
            warnings.append(FALLBACK_MISSING if standing is None else FALLBACK_USED)
            state = "missing" if standing is None else "fallback"
            path = subject.active_path if standing is None else subject.fallback_path
        if standing is not None:
            note_use(call, subject)
            warnings += standing.loaded.warnings
            successor = superseded(standing.capsule)
            warnings += [successor] if successor else []
        capsule = None if standing is None else standing.capsule
        trust = _trust(capsule, call.now, state, warnings)
        more: dict[str, Any] = {}
        if request.view is not None:
            more = self._startup(subject, call, capsule, state, warnings, trust)
            version = None if standing is None else standing.version
            more["provenance"] = provenance(self._shelf, subject, call, path, version)
        return Answer(
            results.ReadCapsule.model_validate(
                {
                    "path": path,
                    "capsule": capsule,
                    "source_state": state,
                    "recovery_warnings": warnings,
                    "trust_signals": trust,
                    "capsule_sha256": sha256,
                }
                | more
            )
        )

    def compare(self, request: requests.Compare, call: Call) -> Answer:
        """How a candidate differs from the capsule that stands."""
        subject = request.subject
        require(call, READS, "read", subject.active_path)
        candidate = candidate_of(request.candidate_capsule, subject)
        found = compared(self.active(call.principal.tenant_id, subject).capsule, candidate, request.signals)
        return Answer(
            results.Compared(
                path=subject.active_path,
                identical=not found.changed_fields,
                changed_fields=list(found.changed_fields),
                strongest_signal=found.strongest_signal,
                recommended_outcome=found.recommended_outcome,
            )
        )

    def active(self, tenant_id: str, subject: Subject) -> Loaded:
        """The capsule at the subject's path: by the normal form of its id, but of this subject."""
        return self._standing(tenant_id, subject).loaded

    def _standing(self, tenant_id: str, subject: Subject) -> StandingCapsule:
        """The same, with its document's version and hash."""
        standing = self._shelf.active(tenant_id, subject)
        stored = Subject(standing.capsule["subject_kind"], standing.capsule["subject_id"])
        if (stored.kind, stored.slug) != (subject.kind, subject.slug):
            raise Malformed(
                "SUBJECT_MISMATCH", "the stored capsule is about another subject than its path says"
            )
        return standing

    def _startup(
        self,
        subject: Subject,
        call: Call,
        capsule: CapsuleObject | None,
        state: str,
        warnings: list[str],
        trust: TrustSignals | None,
    ) -> dict[str, Any]:
        more: dict[str, Any] = {"startup_summary": None}
        try:
            more["startup_summary"] = startup_summary(capsule, state, warnings, trust)
        except _UNEXPECTED as error:
            _LOG.error("a startup summary failed: %s\n%s", class_of(error), frames_of(error))
            warnings.append(SUMMARY_FAILED)
        return more | {name: section(subject, call) for name, section in self._sections.items()}


def _trust(
    capsule: CapsuleObject | None, now: Instant, state: str, warnings: list[str]
) -> TrustSignals | None:
    if capsule is None:
        return None
    try:
        return trust_signals(capsule, now, state)
    except _UNEXPECTED as error:
        _LOG.error("trust signals failed: %s\n%s", class_of(error), frames_of(error))
        warnings.append(TRUST_FAILED)
        return None

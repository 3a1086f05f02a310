"""What a client may read by an address: capsules as pages, and scopes as the facts that hold there."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote, unquote

import mcp_types as types

from lamina.continuity.judgements.startup_page import startup_page
from lamina.errors import NotFound
from lamina.kernel.shown import on_one_line
from lamina.language.quarantine import quarantine_of_words, withheld
from lamina.mcp.running import Caller

__all__ = ["listed_resources", "read_resource"]

_CAPSULE: Final = "lamina://capsule/"
_SCOPE: Final = "lamina://scope/"
_MOST: Final = 100


def listed_resources(caller: Caller) -> list[types.Resource]:
    """The usual scope and the capsules that the caller may read; raises ``LaminaError``."""
    scope = types.Resource(
        name=caller.scope,
        title=f"Facts of {caller.scope}",
        uri=f"{_SCOPE}{quote(caller.scope, safe='/:')}",
        mime_type="text/plain",
    )
    rows = caller.ask("continuity_list", {"limit": _MOST}).capsules
    capsules = [
        types.Resource(
            name=f"{each['subject_kind']} {each['subject_id']}",
            title=f"Capsule of {each['subject_kind']} {each['subject_id']}",
            uri=f"{_CAPSULE}{each['subject_kind']}/{quote(each['subject_id'], safe='')}",
            mime_type="text/plain",
        )
        for each in rows
    ]
    return [scope, *capsules]


def read_resource(uri: str, caller: Caller) -> str:
    """A resource as text; raises ``NotFound`` for an address of nothing here, and what the operation raises."""
    if uri.startswith(_CAPSULE):
        kind, _, subject_id = uri.removeprefix(_CAPSULE).partition("/")
        asked = {"subject_kind": kind, "subject_id": unquote(subject_id)}
        read = caller.ask("continuity_read", {**asked, "view": "startup", "allow_fallback": True})
        return "\n".join(line.text for line in startup_page(read.model_dump(mode="json")))
    if uri.startswith(_SCOPE):
        scope = unquote(uri.removeprefix(_SCOPE))
        page = caller.ask("facts", {"scope": scope, "limit": _MOST})
        lines = [f"- {_worded(each.in_words)} [{each.id}]" for each in page.items]
        return "\n".join(lines) or f"No facts hold in {scope}."
    raise NotFound(
        "NOT_FOUND",
        f"there is no resource {uri[:128]!r}",
        hint="addresses are lamina://capsule/KIND/ID and lamina://scope/PATH",
    )


def _worded(text: str) -> str:
    """A fact as a model may read it, who did not ask for this one: without the secrets that a recall leaves out."""
    reasons = quarantine_of_words(text)
    return withheld(reasons) if reasons else on_one_line(text)

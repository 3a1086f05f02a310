"""What is kept but not shown by itself: text with secrets in it, and text that gives orders and is not a person's own
word.

A function of the event alone. A person may tell their assistant what to do; what they paste, what a tool or a
document says and what an agent writes may not.
"""

from __future__ import annotations

from typing import Final

from lamina.kernel.events import Event, Trust, text_of
from lamina.language.injections import injection_signs
from lamina.language.own_words import own_words
from lamina.language.running_speech import stands_apart
from lamina.language.secret_formats import secret_kinds

__all__ = [
    "INSTRUCTIONS",
    "SECRET",
    "gives_orders",
    "quarantine_of",
    "quarantine_of_notes",
    "quarantine_of_words",
    "withheld",
    "withheld_note",
]

SECRET: Final = "secret"  # noqa: S105 - the name of a reason
INSTRUCTIONS: Final = "instructions"
_PROGRAMS: Final = frozenset({"agent", "service", "app", "system"})
_KNOWN_MAX: Final = 16_384
_KNOWN: Final[dict[tuple[int, int, int], tuple[str, ...]]] = {}
_NOT_A_PERSONS: Final = frozenset({"assistant", "tool", "system"})


def quarantine_of(event: Event) -> tuple[str, ...]:
    """Why an event is kept out of what is shown by itself: ``secret:<kind>`` and ``instructions:<sign>``, sorted;
    empty where it is not."""
    text = text_of(event.content)
    name = event.observed_actor.display_name if _is_a_persons(event) else None
    # A turn is asked after again and again, by each that follows it. Only hashes are kept: what is erased is gone from
    # here, too.
    key = hash(text), hash(name), len(text)
    known = _KNOWN.get(key)
    if known is None:
        if len(_KNOWN) >= _KNOWN_MAX:
            _KNOWN.clear()
        known = _KNOWN[key] = _judged(text, name)
    return known


def _judged(text: str, persons_name: str | None) -> tuple[str, ...]:
    orders = injection_signs(text)
    if orders and persons_name is not None:
        # Whose words they are is worth asking of the few turns alone that give orders at all.
        orders = injection_signs(_handed_over(text, persons_name))
    return (*(f"{INSTRUCTIONS}:{each}" for each in orders), *quarantine_of_words(text))


def quarantine_of_words(text: str) -> tuple[str, ...]:
    """Why words that were derived, such as those of a fact, are kept out: the secrets in them."""
    return tuple(sorted(f"{SECRET}:{each}" for each in secret_kinds(text)))


def quarantine_of_notes(text: str) -> tuple[str, ...]:
    """Why notes that no event stands for, such as a file's or a capsule's, are kept out."""
    orders = injection_signs(text)
    return (*(f"{INSTRUCTIONS}:{each}" for each in orders), *quarantine_of_words(text))


def withheld(reasons: tuple[str, ...]) -> str:
    """What stands in the place of words that are kept out: "(withheld: secret)"."""
    kinds = dict.fromkeys(each.partition(":")[0] for each in reasons)
    return f"(withheld: {', '.join(kinds)})"


def withheld_note(text: str) -> str | None:
    """What stands in the place of a note that is no words for a prompt; None for one that may stand there itself."""
    reasons = quarantine_of_notes(text)
    return withheld(reasons) if reasons else None


def gives_orders(reasons: tuple[str, ...]) -> bool:
    """Whether instructions are among the reasons: nothing is derived from such an event."""
    return any(each.startswith(INSTRUCTIONS) for each in reasons)


def _is_a_persons(event: Event) -> bool:
    role = event.content.get("role")
    by_a_program = event.observed_actor.type in _PROGRAMS or role in _NOT_A_PERSONS
    return event.origin.trust is not Trust.EXTERNAL and not by_a_program


def _handed_over(text: str, name: str) -> str:
    """The parts of a person's turn that may be somebody else's words."""
    parts = [text[start:end] for start, end in stands_apart(text, name)]
    own = own_words(text)
    if own != text:
        letters = zip(text, own, strict=True)
        parts.append("".join(" " if each == kept and each != "\n" else each for each, kept in letters))
    return "\n".join(parts)

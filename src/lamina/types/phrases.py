"""Request and result types of a tenant's own words for stretches of time (seed 002, 8.17); clients load them too."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from lamina import limits
from lamina.errors import Invalid
from lamina.kernel.views.parts import Stamp
from lamina.kernel.wire import BoundText, Request, Result, Text

__all__ = [
    "PhraseList",
    "PhraseNamed",
    "PhraseView",
    "PhrasesRequest",
    "RegisterPhrase",
    "ResolutionView",
]

PhraseName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$", description="What it is called.")]


class Resolution(Request):
    """The stretch of valid time that a phrase names."""

    valid_during: Annotated[
        tuple[BoundText, BoundText],
        Field(description="The stretch that is meant; its end is exclusive. A date is its midnight in UTC."),
    ]

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.valid_during[0] >= self.valid_during[1]:
            raise Invalid(
                "INVALID_TIME_RANGE",
                "resolves_to.valid_during ends before it begins",
                details={"field": "resolves_to.valid_during"},
            )
        return self


class RegisterPhrase(Request):
    """Words for a stretch of time, such as "fiscal Q3"."""

    name: PhraseName
    pattern: Annotated[
        Annotated[Text, Field(min_length=1, max_length=limits.PHRASE_LENGTH_MAX)],
        Field(description="The words themselves: a literal, in upper or lower case."),
    ]
    resolves_to: Annotated[Resolution, Field(description="What they mean.")]

    @model_validator(mode="after")
    def _has_words(self) -> Self:
        if not any(letter.isalnum() for letter in self.pattern):
            raise Invalid(
                "INVALID_REQUEST",
                "pattern has neither a letter nor a digit",
                hint='write the words that are to name the time, such as "fiscal Q3"',
                details={"field": "pattern"},
            )
        return self


class PhrasesRequest(Request):
    """All phrases of the tenant."""


class PhraseNamed(Request):
    """One phrase."""

    name: PhraseName


class ResolutionView(Result):
    """The stretch of valid time that a phrase names."""

    valid_during: tuple[Stamp, Stamp]


class PhraseView(Result):
    """Words for a stretch of time."""

    name: str
    pattern: str
    resolves_to: ResolutionView


class PhraseList(Result):
    """A tenant's words for stretches of time, by name."""

    items: list[PhraseView]

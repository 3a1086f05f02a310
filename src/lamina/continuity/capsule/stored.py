"""Capsules as they are read: of the shape, whatever their bounds.

What may be written is bounded (``shape``, ``validate``); what once stood, or stands in the clone of another program, is
read whole as long as its values are of the right kinds. A bound that is tightened later hides nothing.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, Final, Union, get_args, get_origin

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, create_model

from lamina.continuity.capsule.shape import Capsule, CapsuleObject, plain
from lamina.kernel.canonical import holds_nul

__all__ = ["as_stored"]

_KEPT: Final = (AfterValidator, BeforeValidator)
"""What of an annotation says of which kind a value is; the rest of it are bounds."""


def as_stored(value: dict[str, Any]) -> CapsuleObject:
    """The object that a stored value is, without what no field knows.

    Raises ``pydantic.ValidationError`` for a value of another kind, ``ValueError`` for text that no store keeps.
    """
    capsule = plain(_MODEL.model_validate(value))
    if holds_nul(capsule):
        raise ValueError("it holds the character NUL")
    return capsule


@lru_cache
def _unbounded(model: type[BaseModel]) -> type[Any]:
    """The model with the same fields and none of their bounds."""
    fields: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        kept = [each for each in field.metadata if isinstance(each, _KEPT)]
        default = ... if field.is_required() else field.default
        fields[name] = (_with(_kind(field.annotation), kept), default)
    config = ConfigDict(extra="ignore", frozen=True)
    made: type[Any] = create_model(f"Stored{model.__name__}", __config__=config, **fields)
    return made


def _kind(annotation: Any) -> Any:
    """An annotation without bounds."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _with(_kind(inner[0]), [each for each in inner[1:] if isinstance(each, _KEPT)])
    if origin is list:
        return list[_kind(inner[0])]  # type: ignore[misc]
    if origin is not None and type(None) in inner:
        return Union[tuple(_kind(each) for each in inner)]  # noqa: UP007 - made of values, not written
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _unbounded(annotation)
    return annotation


def _with(kind: Any, validators: list[Any]) -> Any:
    return Annotated[(kind, *validators)] if validators else kind


_MODEL: Final = _unbounded(Capsule)

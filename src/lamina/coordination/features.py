"""What a server offers only where its operator says so."""

from __future__ import annotations

from lamina.errors import Forbidden

__all__ = ["check_offered"]


def check_offered(what: str, setting: str, *, offered: bool) -> None:
    """Nothing, or ``Forbidden`` (FEATURE_OFF) that names the setting which switches it on."""
    if not offered:
        raise Forbidden(
            "FEATURE_OFF",
            f"this server does not offer {what}",
            hint=f"an operator switches it on with {setting}",
            details={"setting": setting.partition("=")[0]},
        )

"""What an operator chose of coordination, as the values that its parts take."""

from __future__ import annotations

from lamina.coordination.messages.proving import FailureBounds
from lamina.coordination.operators.figures import AlarmBounds
from lamina.coordination.reminding import Windows
from lamina.settings import Settings

__all__ = ["alarm_bounds", "failure_bounds", "reminder_windows"]


def alarm_bounds(settings: Settings) -> AlarmBounds:
    """From where on figures are alarms."""
    return AlarmBounds(
        backlog=settings.relay_alarm_backlog,
        refusals=settings.relay_alarm_refusals,
        window_s=settings.relay_verify_failure_window_s,
        drift_s=settings.relay_alarm_drift_s,
    )


def failure_bounds(settings: Settings) -> FailureBounds:
    """How many refused envelopes throttle a caller."""
    return FailureBounds(settings.relay_verify_failure_limit, settings.relay_verify_failure_window_s)


def reminder_windows(settings: Settings) -> Windows:
    """How many reminders an orientation shows, and how far ahead."""
    shown = settings.schedule_due_limit, settings.schedule_upcoming_limit
    return Windows(*shown, settings.schedule_upcoming_window_hours)

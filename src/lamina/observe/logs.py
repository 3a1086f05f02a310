"""The log: JSON, one object a line. A request is one line, which names who, what and how, and never what was said.

A line never holds a body, a query, a memory or a token.
"""

from __future__ import annotations

import json
import logging
import traceback
from dataclasses import dataclass
from typing import Any

from lamina.kernel.time import SECOND_US, rfc3339

__all__ = ["JsonLines", "RequestLine", "log_failure", "log_request", "logs_requests", "set_up_logging"]

_REQUESTS = logging.getLogger("lamina.request")


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLine:
    """What is logged of a request. ``operation`` is None where no route took it."""

    request_id: str
    trace_id: str | None
    actor: str | None
    tenant_id: str | None
    operation: str | None
    status: int
    elapsed_ms: float
    error_code: str | None = None


def logs_requests() -> bool:
    """Whether a line for a request would be written: what goes into it is worked out for that alone."""
    return _REQUESTS.isEnabledFor(logging.INFO)


def log_request(line: RequestLine) -> None:
    """Log a request, at info."""
    if logs_requests():
        said = {name: getattr(line, name) for name in RequestLine.__slots__}
        _REQUESTS.info("request", extra={"said": {k: v for k, v in said.items() if v is not None}})


def log_failure(logger: logging.Logger, error: BaseException, request_id: str, operation: str | None) -> None:
    """Log a fault of ours with the places it came through. The class and not the message: that may quote a memory."""
    frames: list[str] = []
    cause: BaseException | None = error
    while cause is not None:
        name = f"{type(cause).__module__}.{type(cause).__qualname__}"
        frames.append(name + "\n" + "".join(traceback.format_tb(cause.__traceback__)))
        cause = cause.__cause__
    said = {"request_id": request_id, "operation": operation, "trace": "caused by ".join(frames)}
    logger.error("failed", extra={"said": said})


class JsonLines(logging.Formatter):
    """A record as a line of JSON: ``ts``, ``level``, ``logger``, ``message`` and what else was said."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end."""
        line: dict[str, Any] = {  # Any: JSON
            "ts": rfc3339(int(record.created * 1000) * (SECOND_US // 1000)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "said", {}),
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def set_up_logging(level: str) -> None:
    """Send the log of this process to its standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=level.upper(), handlers=[handler])

"""A graphiti-core graph as a target of the outbox: one group for each tenant and user (extra ``lamina[graphiti]``).

Each turn is an episode of its group, under an id made from its event's, so that a repeated delivery is the same
episode. With a language model graphiti extracts entities and edges from it; without one the episode alone is kept.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import warnings
from collections.abc import Coroutine, Sequence
from concurrent.futures import TimeoutError as LateError
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from lamina import limits
from lamina.errors import Invalid, LaminaError, Unavailable
from lamina.kernel.events import Event, text_of
from lamina.kernel.names import decoded
from lamina.kernel.scopes import Scope
from lamina.kernel.time import to_datetime
from lamina.language.quarantine import quarantine_of
from lamina.models.ports import Embedder
from lamina.session.names import names_of
from lamina.store.ports.sessions import OutboxRow

__all__ = ["GraphModel", "GraphitiTarget", "group_of"]

_SOURCE: Final = "conversation"
_HEX: Final = "hex-"
_CLOSE_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class GraphModel:
    """The OpenAI-compatible model that graphiti extracts with."""

    url: str
    model: str
    api_key: str


def group_of(tenant_id: str, scope: Scope) -> str:
    """The group of a user: the server's tenant, the orchestrator's tenant and user. No two users share one.

    >>> group_of("local", Scope("org:tenant_a/user:user_1"))
    'local__tenant_a__user_1'
    """
    return "__".join(_part(name) for name in (tenant_id, *names_of(scope)))


def _part(name: str) -> str:
    plain = name.replace("_", "").replace("-", "")
    clear = plain.isascii() and plain.isalnum() and decoded(name) == name
    if clear and "__" not in name and not name.startswith((_HEX, "_")) and not name.endswith("_"):
        return name
    return f"{_HEX}{name.encode().hex()}"


class GraphitiTarget:
    """``Target`` over a graph. Opened at the first turn: a graph that is down does not keep anybody from starting."""

    def __init__(self, place: str, model: GraphModel | None, embedder: Embedder) -> None:
        self._place = place
        self._model = model
        self._embedder = embedder
        self._graphiti: Any = (
            None  # Any: graphiti-core is an extra and has no types where it is not installed
        )
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="lamina-graph", daemon=True)
        self._thread.start()

    def send(self, row: OutboxRow, event: Event) -> None:
        """Mirrors ``Target.send``."""
        self._run(self._add(row, event))

    def _run(self, work: Coroutine[Any, Any, None], wait_s: float = limits.GRAPH_ROW_S) -> None:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            future.result(wait_s)
        except LateError as error:
            future.cancel()
            raise _unavailable("it took too long") from error
        except LaminaError:
            raise
        except Exception as error:
            raise _translated(error) from error

    async def _add(self, row: OutboxRow, event: Event) -> None:
        from graphiti_core.nodes import EpisodeType, EpisodicNode

        if quarantine_of(event):
            return  # it stays in the log
        graphiti = await self._opened()
        group = group_of(event.tenant_id, event.scope)
        said_at = to_datetime(event.context.observed_at)
        values: dict[str, Any] = {
            "name": event.id,
            "group_id": group,
            "source": EpisodeType.message,
            "source_description": f"{_SOURCE} {row.place.session}",
        }
        body = f"{event.content.get('role', 'user')}: {text_of(event.content)}"
        uuid = event.id.partition("_")[2]
        node = EpisodicNode(
            uuid=uuid,
            labels=[],
            content=body,
            created_at=to_datetime(event.recorded_at),
            valid_at=said_at,
            **values,
        )
        # FalkorDB keeps each group in a graph of its own; for others this is the driver itself.
        await node.save(graphiti.driver.clone(database=group))
        if self._model is not None:
            await graphiti.add_episode(episode_body=body, reference_time=said_at, uuid=uuid, **values)

    async def _opened(self) -> Any:
        if self._graphiti is None:
            graphiti = _open(self._place, self._model, self._embedder)
            await graphiti.build_indices_and_constraints()
            self._graphiti = graphiti
        return self._graphiti

    def close(self) -> None:
        """Let go of the graph, within seconds."""
        if self._graphiti is not None:
            with contextlib.suppress(LaminaError):
                self._run(self._graphiti.close(), _CLOSE_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_CLOSE_S)
        if not self._thread.is_alive():
            self._loop.close()


def _open(place: str, model: GraphModel | None, embedder: Embedder) -> Any:
    from graphiti_core import Graphiti
    from graphiti_core.cross_encoder.client import CrossEncoderClient
    from graphiti_core.embedder.client import EmbedderClient
    from graphiti_core.llm_client.config import LLMConfig
    from graphiti_core.llm_client.openai_generic_client import OpenAIGenericClient

    class Vectors(EmbedderClient):  # type: ignore[misc] # its base has no types here
        """The embedder of the server."""

        async def create(self, input_data: Any) -> list[float]:
            text = input_data if isinstance(input_data, str) else next(iter(input_data), "")
            return (await self.create_batch([str(text)]))[0]

        async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
            encoded = await asyncio.to_thread(embedder.encode, input_data_list)
            return [[float(value) for value in row] for row in encoded.pooled]

    class AsTheyCome(CrossEncoderClient):  # type: ignore[misc] # its base has no types here
        """No second ranking: nothing here searches the graph."""

        async def rank(self, query: str, passages: Sequence[str]) -> list[tuple[str, float]]:  # noqa: ARG002
            return [(passage, 1.0 / (place + 1)) for place, passage in enumerate(passages)]

    named = model or GraphModel("http://127.0.0.1:9/v1", "none", "none")
    config = LLMConfig(
        api_key=named.api_key or "none", model=named.model, small_model=named.model, base_url=named.url
    )
    return Graphiti(
        graph_driver=_driver(place),
        llm_client=OpenAIGenericClient(config),
        embedder=Vectors(),
        cross_encoder=AsTheyCome(),
    )


def _driver(place: str) -> Any:
    if place.startswith("kuzu:"):
        from graphiti_core.driver.kuzu_driver import KuzuDriver

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that Kuzu is no longer developed is for its operator to weigh
            driver = KuzuDriver(db=place.removeprefix("kuzu:"))
        if not hasattr(driver, "_database"):
            driver._database = ""  # graphiti-core 0.31 asks every driver for it, and this one has none
        return driver
    parts = urlsplit(place)
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if parts.scheme == "falkordb":
        from graphiti_core.driver.falkordb_driver import FalkorDriver

        return FalkorDriver(
            host=parts.hostname or "localhost",
            port=parts.port or 6379,
            username=user or None,
            password=password or None,
        )
    from graphiti_core.driver.neo4j_driver import Neo4jDriver

    port = f":{parts.port}" if parts.port else ""
    return Neo4jDriver(f"{parts.scheme}://{parts.hostname}{port}", user, password)


def _translated(error: Exception) -> LaminaError:
    """What graphiti or its database said: refused for good, or to be tried again."""
    name = type(error).__name__
    if isinstance(error, ModuleNotFoundError):
        return Invalid(
            "GRAPH_REFUSED",
            "graphiti-core is not installed",
            hint="in the clone: .venv/bin/pip install -e '.[graphiti]'; or leave LAMINA_GRAPHITI empty",
        )
    status = getattr(error, "status_code", None)
    refused = isinstance(status, int) and 400 <= status < 500 and status not in (408, 409, 425, 429)
    if refused or name in ("GroupIdValidationError", "ValidationError"):
        return Invalid("GRAPH_REFUSED", f"the graph refused a turn: {name}")
    return _unavailable(name)


def _unavailable(reason: str) -> Unavailable:
    return Unavailable("GRAPH_UNAVAILABLE", f"the graph did not take a turn: {reason}")

"""The protocol, by the official SDK: both eras of it, over any transport. What tools do is somebody else's: a ``Backend``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from lamina import __version__
from lamina.errors import LaminaError, NotFound
from lamina.mcp.prompts import PROMPTS, Prompt
from lamina.mcp.tools import INSTRUCTIONS, TOOLS, Tool, input_schema, output_schema

__all__ = [
    "AT_META",
    "DEFAULT_TOOLS",
    "KEY_META",
    "Backend",
    "RequestContext",
    "build_service",
    "failed",
    "listed_tool",
]

KEY_META: Final = "dev.lamina/key"
"""In ``_meta`` of a call: what makes it the same call when it is sent again."""
AT_META: Final = "dev.lamina/at"
"""In ``_meta`` of a call: when it was made, RFC 3339, for a call that is sent again."""
_HOUR_MS: Final = 3_600_000

RequestContext = ServerRequestContext[Any, Any]
"""What the SDK knows of a request; Any for the state of a lifespan, of which there is none, and the transport's own request."""


class Backend(Protocol):
    """Who does what the protocol asks for."""

    async def tools(self, context: RequestContext) -> Sequence[types.Tool]:
        """The tools that this client sees."""
        ...

    async def call(
        self, context: RequestContext, name: str, given: Mapping[str, Any]
    ) -> types.CallToolResult:
        """Use a tool; what is wrong with the use is a result, too. Raises ``MCPError`` for a tool that does not exist."""
        ...

    async def resources(self, context: RequestContext) -> Sequence[types.Resource]:
        """What the client may read; raises ``LaminaError``."""
        ...

    async def read(self, context: RequestContext, uri: str) -> str:
        """A resource as text; raises ``LaminaError``."""
        ...


def build_service(backend: Backend) -> Server[Any]:
    """A server of the SDK over a backend."""

    async def list_tools(
        context: RequestContext, _: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        with _as_protocol_errors():
            return types.ListToolsResult(tools=list(await backend.tools(context)))

    async def call_tool(context: RequestContext, params: types.CallToolRequestParams) -> types.CallToolResult:
        return await backend.call(context, params.name, params.arguments or {})

    async def list_resources(
        context: RequestContext, _: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        with _as_protocol_errors():
            return types.ListResourcesResult(resources=list(await backend.resources(context)))

    async def list_templates(
        _context: RequestContext, _: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=list(_TEMPLATES))

    async def read_resource(
        context: RequestContext, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        with _as_protocol_errors():
            text = await backend.read(context, uri)
        said = types.TextResourceContents(uri=uri, mime_type="text/plain", text=text)
        return types.ReadResourceResult(contents=[said])

    async def list_prompts(
        _context: RequestContext, _: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[_prompt(each) for each in PROMPTS.values()])

    async def get_prompt(
        _context: RequestContext, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        prompt = PROMPTS.get(params.name)
        if prompt is None:
            raise MCPError(types.INVALID_PARAMS, f"there is no prompt {params.name[:64]!r}")
        content = types.TextContent(type="text", text=prompt.filled(params.arguments or {}))
        message = types.PromptMessage(role="user", content=content)
        return types.GetPromptResult(description=prompt.description, messages=[message])

    lasting = CacheHint(ttl_ms=_HOUR_MS, scope="private")
    return Server(
        "lamina",
        version=__version__,
        title="Lamina memory",
        instructions=INSTRUCTIONS,
        website_url="https://lamina.dev",
        cache_hints={"tools/list": lasting, "prompts/list": lasting, "server/discover": lasting},
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )


class _as_protocol_errors:  # noqa: N801 - used like a function
    """A block whose expected errors are errors of the protocol, for requests whose results have no other place for them."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, LaminaError):
            code = types.INVALID_PARAMS if isinstance(error, NotFound) else types.INTERNAL_ERROR
            raise MCPError(code, str(error), {"error_code": error.code, "hint": error.hint}) from error


def listed_tool(tool: Tool) -> types.Tool:
    """A tool as a client sees it."""
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=input_schema(tool.arguments),
        output_schema=output_schema(tool.result),
        annotations=types.ToolAnnotations.model_validate(tool.annotations),
    )


DEFAULT_TOOLS: Final = tuple(listed_tool(tool) for tool in TOOLS.values())
"""The ten, as clients see them."""


def failed(error: LaminaError) -> types.CallToolResult:
    """An error as a result: a model reads it and does better. ``structuredContent`` has its code and its hint."""
    said = f"{error.code}: {error.message}"
    if error.hint:
        said += f"\nHint: {error.hint}"
    shown = {"error_code": error.code, "message": error.message, "hint": error.hint, "details": error.details}
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=said)], structured_content=shown, is_error=True
    )


def _prompt(prompt: Prompt) -> types.Prompt:
    arguments = [
        types.PromptArgument(name=name, description=said, required=True)
        for name, said in prompt.arguments.items()
    ]
    return types.Prompt(
        name=prompt.name, title=prompt.title, description=prompt.description, arguments=arguments
    )


_TEMPLATES: Final = (
    types.ResourceTemplate(
        name="capsule",
        title="A capsule, as the page that is read after a reset",
        uri_template="lamina://capsule/{kind}/{id}",
        mime_type="text/plain",
    ),
    types.ResourceTemplate(
        name="scope",
        title="The facts that hold in a scope",
        uri_template="lamina://scope/{+path}",
        mime_type="text/plain",
    ),
)

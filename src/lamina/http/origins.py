"""What a web page may ask of a server that believes its callers: nothing, unless the server itself gave out the page.

Browsers let any page send simple requests to this machine and only keep the answers from it; that is enough to write
memories. They say in two headers where a request comes from, and pages cannot change those. Other clients send
neither.
"""

from __future__ import annotations

from starlette.requests import Request as HttpRequest

from lamina.errors import Forbidden

__all__ = ["refuse_other_pages"]

_SAYS = frozenset({b"origin", b"sec-fetch-site"})
_OWN = frozenset({"same-origin", "none"})  # none: an address that somebody typed or a bookmark


def refuse_other_pages(http: HttpRequest) -> None:
    """Raises ``Forbidden`` (FOREIGN_ORIGIN) for a request that a page of another origin makes.

    Another port of this machine is another origin. A link that somebody follows is no request of the page it stands on.
    """
    if not any(name in _SAYS for name, _ in http.scope["headers"]):
        return
    headers = http.headers
    own = headers.get("host", "").lower()
    origins = {origin.partition("://")[2].lower() for origin in headers.getlist("origin")}
    sites = {site.lower() for site in headers.getlist("sec-fetch-site")}
    followed = http.method == "GET" and headers.get("sec-fetch-mode") == "navigate"
    if origins <= {own} and (sites <= _OWN or followed):
        return
    raise Forbidden(
        "FOREIGN_ORIGIN",
        "this server takes no requests from web pages of another origin",
        hint="call it from a program, not from a web page; a page's server can pass its calls on",
    )

"""Whether the page itself asks, and no other site that the same browser has open.

Stands for protection against cross-site requests and DNS rebinding. Law: a browser says where a script comes from
(`Origin`, `Sec-Fetch-Site`); a request that names another place than the one it is sent to is refused, and so is one
that is sent to this machine under a foreign name. Programs, which say nothing, are no browsers.
"""

import ipaddress
from typing import Final
from urllib.parse import urlsplit

from fastapi import HTTPException, Request

_LOCAL: Final = "localhost"


def refuse_others(request: Request) -> None:
    """HTTPException when somebody else's page asks."""
    headers = request.headers
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise HTTPException(403, "another site asks; use the page itself")
    if not is_own(headers.get("host", ""), headers.get("origin")):
        raise HTTPException(403, "open the page by the address that `gpuyard up` printed")


def is_own(host: str, origin: str | None) -> bool:
    """Whether a request to `host` from a page of `origin` (None: from no page) comes from our page."""
    if not _is_local(urlsplit(f"//{host}").hostname or ""):
        return False
    return origin is None or urlsplit(origin).netloc == host


def _is_local(name: str) -> bool:
    try:
        return name == _LOCAL or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False

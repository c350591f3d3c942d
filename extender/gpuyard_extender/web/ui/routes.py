"""The page over HTTP: its files, its stream of events, one pod's story, and, on an embedded cluster, its buttons.

Laws: a browser runs nothing here but the files of `static`, whatever the cluster says (Content-Security-Policy); what
changes something is asked for by the page itself, and by no other site that a browser has open.
"""

from collections.abc import Awaitable, Mapping
from importlib import resources
from typing import Any, Final

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.responses import RedirectResponse, StreamingResponse

from gpuyard.shapes import NAME
from gpuyard.yard_gpus import MOST_GPUS
from gpuyard_extender.service import Extender
from gpuyard_extender.web.queries import decoded, encoded
from gpuyard_extender.web.ui import origins, sessions, story
from gpuyard_extender.web.ui.broadcast import Broadcast
from gpuyard_extender.web.ui.controls import Controls, UnwantedError
from gpuyard_extender.web.ui.painting import Painter
from gpuyard_kube.runtime import Runtime

_TYPES: Final = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
HEADERS: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}
_XIDS: Final = range(1, 1000)


class Page:
    """The page of one extender; without `controls` it has no buttons."""

    def __init__(self, extender: Extender, runtime: Runtime, controls: Controls | None = None) -> None:
        self._extender, self._runtime, self._controls = extender, runtime, controls
        self.broadcast = Broadcast(Painter(extender), runtime)

    async def close(self) -> None:
        """End the streams, which have no end of their own, so that the server can stop."""
        self.broadcast.close()

    def router(self) -> APIRouter:
        """All of it, below /ui."""
        router = APIRouter(prefix="/ui", include_in_schema=False)
        self._add_stories(router)
        if self._controls is not None:
            _add_buttons(router, self._controls)
        _add_files(router)
        return router

    def _add_stories(self, router: APIRouter) -> None:
        @router.get("/events")
        async def events(request: Request) -> Response:
            if self.broadcast.full:
                raise HTTPException(503, "too many listeners; close another page")
            told = self.broadcast.listen(request.headers.get("last-event-id", ""))
            return StreamingResponse(told, headers=HEADERS, media_type="text/event-stream")

        @router.get("/pods/{namespace}/{name}")
        async def pod(namespace: str, name: str) -> Response:
            found = story.of_pod(self._extender, namespace, name, self._runtime.now())
            if found is None:
                raise HTTPException(404, f"no pod {namespace}/{name} is known")
            return encoded(found)

        @router.get("/about")
        async def about(request: Request) -> Response:
            examples = self._controls.examples() if self._controls else ()
            return encoded(
                {
                    "readOnly": self._controls is None,
                    "signedIn": bool(sessions.token(request.scope)),
                    "examples": [{"name": name, "title": title} for name, title in examples],
                }
            )


def _add_files(router: APIRouter) -> None:
    files = _files()

    @router.get("")
    async def index() -> Response:
        return RedirectResponse("ui/", headers=HEADERS)

    @router.get("/{name:path}")
    async def file(name: str) -> Response:
        if (found := files.get(name or "index.html")) is None:
            raise HTTPException(404, "there is no such page")
        kind, content = found
        return Response(content, headers=HEADERS, media_type=kind)


def _add_buttons(router: APIRouter, controls: Controls) -> None:
    guarded = [Depends(origins.refuse_others)]

    @router.post("/examples/{name}", dependencies=guarded)
    async def submit(name: str) -> Response:
        return await _done(controls.submit(name))

    @router.delete("/examples/{name}", dependencies=guarded)
    async def withdraw(name: str) -> Response:
        return await _done(controls.withdraw(name))

    @router.post("/faults", dependencies=guarded)
    async def fault(request: Request) -> Response:
        return await _done(controls.fault(*_fault(await decoded(request))))

    @router.post("/links", dependencies=guarded)
    async def link(request: Request) -> Response:
        node, ends, down = _link(await decoded(request))
        return await _done(controls.link(node, ends, down=down))


async def _done(work: Awaitable[None]) -> Response:
    try:
        await work
    except UnwantedError as error:
        return encoded({"error": str(error)}, 409)
    return encoded({})


def _link(asked: Any) -> tuple[str, tuple[int, int], bool]:
    found = asked if isinstance(asked, dict) else {}
    if not isinstance(down := found.get("down"), bool):
        raise HTTPException(400, "down: true or false is needed")
    return _node(found), (_gpu(found, "gpu"), _gpu(found, "to")), down


def _node(found: dict[str, Any]) -> str:
    node = found.get("node")
    if not isinstance(node, str) or not NAME.fullmatch(node):
        raise HTTPException(400, "node: a name is needed")
    return node


def _gpu(found: dict[str, Any], field: str) -> int:
    gpu = found.get(field)
    if not isinstance(gpu, int) or isinstance(gpu, bool) or not 0 <= gpu < MOST_GPUS:
        raise HTTPException(400, f"{field}: the index of a GPU is needed")
    return gpu


def _fault(asked: Any) -> tuple[str, int, int | None]:
    found = asked if isinstance(asked, dict) else {}
    node, gpu, xid = _node(found), _gpu(found, "gpu"), found.get("xid")
    if xid is not None and (not isinstance(xid, int) or isinstance(xid, bool) or xid not in _XIDS):
        raise HTTPException(400, "xid: a number from 1 to 999, or null for none, is needed")
    return node, gpu, xid


def _files() -> Mapping[str, tuple[str, bytes]]:
    """The page's own files, read once."""
    folder = resources.files("gpuyard_extender.web.ui").joinpath("static")
    named = ((found.name, found) for found in folder.iterdir() if found.is_file())
    return {name: (_TYPES[name.rpartition(".")[2]], found.read_bytes()) for name, found in named}

"""The API server called in process, without a network.

Stands for client-go on `steps`: the same port as the HTTP client, but every call is answered on the spot.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

import orjson

from gpuyard.writes import JSON, Reply, Write
from gpuyard_cluster.apiserver.auth.users import ADMIN, User
from gpuyard_cluster.apiserver.consulting import answer
from gpuyard_cluster.apiserver.requests import JSON_TYPE, Request, Response
from gpuyard_cluster.apiserver.server import APIServer
from gpuyard_cluster.apiserver.storage.watches import Watch
from gpuyard_kube.api import Observer

Deliver = Callable[[str, Callable[[], None]], None]
"""(what it is, the call that hands it over): decides when an event reaches its observer, in the order given."""


@dataclass(frozen=True, slots=True)
class DirectApi:
    """`gpuyard_kube.api.Api` in process; `agent` is the manager of the fields that it writes."""

    server: APIServer
    agent: str = "unknown"
    user: User = ADMIN

    async def send(self, write: Write) -> Reply:
        """Do one write; at once, unless webhooks are to be called."""
        kind = write.patch.value if write.patch is not None else JSON_TYPE
        headers = {"content-type": kind, "user-agent": self.agent}
        body = b"" if write.body is None else orjson.dumps(write.body)
        request = Request(write.method, write.path, write.query, headers, body, self.user)
        return _reply(await answer(self.server, request))

    async def read(self, path: str, **query: str) -> Reply:
        """GET one object or list, at once."""
        return _reply(
            self.server.handle(Request("GET", path, query, {"user-agent": self.agent}, user=self.user))
        )


def _reply(response: Response) -> Reply:
    return Reply(response.status, _decoded(response.body))


def _decoded(body: bytes) -> JSON:
    """The object in a body; other answers, such as logs, as {"message": text}, as the HTTP client gives them."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        value = None
    return value if isinstance(value, dict) else {"message": body.decode("utf-8", "replace")}


class Feed:
    """Lists and watches that tell one observer; made by `feed`."""

    def __init__(
        self, server: APIServer, observer: Observer, resources: Mapping[str, str], deliver: Deliver
    ) -> None:
        self._server, self._observer, self._deliver = server, observer, deliver
        self._resources = dict(resources)
        self._watches: dict[str, Watch] = {}
        self._life = 0

    def start(self) -> None:
        """List everything anew and go on from there; what was on its way from before is dropped."""
        self.stop()
        for resource in list(self._resources):
            self._list(resource)

    def add(self, resource: str, path: str) -> None:
        """One more resource, from now on."""
        self._resources[resource] = path
        self._list(resource)

    def stop(self) -> None:
        """Hand over nothing more, not even what is on its way."""
        self._life += 1
        for watch in self._watches.values():
            watch.on_event = _ignore
            watch.close()
        self._watches.clear()

    def _list(self, resource: str) -> None:
        path, _, text = self._resources[resource].partition("?")
        selected = dict(parse_qsl(text))
        reply = _reply(self._server.handle(Request("GET", path, selected)))
        if not reply.ok:
            raise ValueError(f"cannot list {resource} at {path}: {reply.reason}")
        objects = [_typed(reply.body, item) for item in reply.body["items"]]
        self._hand_over(f"{resource} listed", lambda: self._observer.replace(resource, objects))
        version = reply.body["metadata"]["resourceVersion"]
        query = {**selected, "watch": "true", "resourceVersion": version}
        watch = self._server.handle(Request("GET", path, query)).watch
        if watch is not None:
            self._watches[resource] = watch
            watch.on_event = lambda: self._take(resource, watch)

    def _take(self, resource: str, watch: Watch) -> None:
        for event in watch.take():
            self._observe(resource, event.type, event.object)
        if watch.closed:
            self._go_on(resource)

    def _go_on(self, resource: str) -> None:
        """After the end of a watch: list anew, unless the resource is no longer served."""
        try:
            self._list(resource)
        except ValueError:
            del self._watches[resource], self._resources[resource]
            self._hand_over(f"{resource} gone", lambda: self._observer.replace(resource, []))

    def _observe(self, resource: str, kind: str, obj: JSON) -> None:
        name = f"{resource} {kind} {obj['metadata']['name']}"
        self._hand_over(name, lambda: self._observer.observe(resource, kind, obj))

    def _hand_over(self, name: str, call: Callable[[], None]) -> None:
        life = self._life

        def unless_stopped() -> None:
            if life == self._life:
                call()

        self._deliver(name, unless_stopped)


def feed(server: APIServer, observer: Observer, resources: Mapping[str, str], deliver: Deliver) -> Feed:
    """Tell `observer` of `resources` from now on: plural -> path of its collection, which may have a query that
    selects some of them. ValueError for a bad path."""
    started = Feed(server, observer, resources, deliver)
    started.start()
    return started


def _typed(listing: JSON, item: JSON) -> JSON:
    """An item of a list with the type that built-in lists leave out."""
    return {"kind": listing["kind"].removesuffix("List"), "apiVersion": listing["apiVersion"], **item}


def _ignore() -> None:
    pass

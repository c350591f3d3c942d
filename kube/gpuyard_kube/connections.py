"""The connections of one HTTP client.

Stands for client-go's transport. TLS takes leave of the peer and waits for the peer's leave; the event loop of a
part that ends at once is gone before that comes, and the socket would stay open until it is collected as garbage.
"""

import weakref
from typing import Any

import aiohttp
from aiohttp.connector import Connection

from gpuyard_kube.servers import Server


class Connector(aiohttp.TCPConnector):
    """As many connections as are asked for, none of which outlives the connector."""

    def __init__(self, **given: Any) -> None:
        # No limit: held watches would otherwise use up the connections that writes need.
        super().__init__(limit=0, **given)
        self._transports = weakref.WeakSet[Any]()

    async def connect(self, *args: Any, **kwargs: Any) -> Connection:
        connection = await super().connect(*args, **kwargs)
        self._transports.add(connection.transport)
        return connection

    async def close(self, *, abort_ssl: bool = False) -> None:
        await super().close(abort_ssl=abort_ssl)
        for transport in self._transports:
            transport.abort()


def connector(server: Server) -> Connector:
    """For the connections to an API server."""
    return Connector(ssl=server.tls if server.tls is not None else True)

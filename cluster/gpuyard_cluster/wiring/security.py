"""Who may come in to an embedded cluster, and how the parts of it prove who they are.

Stands for what `kubeadm init` makes: an authority, the API server's certificate, the administrator's kubeconfig, and
the tokens by which the parts of the cluster are known. All of it lives as long as the cluster, and only in memory.
"""

import secrets
import ssl
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpuyard_cluster.apiserver.auth.authentication import Authentication, Subject
from gpuyard_cluster.apiserver.auth.certificates import Authority, Pair
from gpuyard_cluster.apiserver.auth.users import ADMIN, MASTERS, User

HOST: Final = "127.0.0.1"
_NAMES: Final = (HOST, "::1", "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")


@dataclass(frozen=True, slots=True)
class Credentials:
    """What the administrator needs: either of certificate and token is enough."""

    authority: bytes
    certificate: Pair
    token: str


class Door:
    """Where the API server listens, open to everybody: whoever comes is the administrator. Port 0: any free one."""

    def __init__(self, port: int = 0) -> None:
        self.port = port
        self.authentication = Authentication()

    def proof(self, _user: User) -> dict[str, str]:
        """The headers by which the user is known from now on."""
        return {}

    def server_context(self) -> ssl.SSLContext | None:
        """For the API server; None: no TLS."""
        return None

    def client_context(self) -> ssl.SSLContext | None:
        """For whoever calls the API server."""
        return None


class LockedDoor(Door):
    """TLS, and nobody comes in without credentials; `now` is when they begin to be valid."""

    def __init__(self, now: float, port: int = 0) -> None:
        super().__init__(port)
        self._authority = Authority(now)
        self._tokens: dict[str, User] = {}
        self.authentication = Authentication(self._tokens, required=True)
        certificate = self._authority.for_client(Subject(ADMIN.name, (MASTERS,)))
        self.admin = Credentials(self._authority.certificate, certificate, self._token(ADMIN))

    def proof(self, user: User) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token(user)}"}

    def server_context(self) -> ssl.SSLContext:
        """A client may show a certificate, and then it must be one of ours."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.verify_mode = ssl.CERT_OPTIONAL
        context.load_verify_locations(cadata=self._authority.certificate.decode())
        pair = self._authority.for_server(_NAMES)
        with tempfile.TemporaryDirectory(prefix="yard-tls-") as folder:
            # Python's ssl reads certificates from files only.
            path = Path(folder) / "server.pem"
            path.touch(mode=0o600)
            path.write_bytes(pair.certificate + pair.key)
            context.load_cert_chain(path)
        return context

    def client_context(self) -> ssl.SSLContext:
        """No other server is believed."""
        return ssl.create_default_context(cadata=self._authority.certificate.decode())

    def _token(self, user: User) -> str:
        token = secrets.token_urlsafe(24)
        self._tokens[token] = user
        return token

"""The extender's side of TLS: its certificate, and the authority whose certificates prove who a client is.

Stands for the dynamic certificates of Kubernetes' servers. Laws: files that have changed count from the next
connection on, without a restart; files that cannot be used are told once, and what was read before holds.
"""

import logging
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any

log = logging.getLogger("gpuyard.extender")

Stamp = tuple[tuple[int, int, int], ...]


class CertificateError(Exception):
    """The files cannot be used; the text is one line and names them."""


@dataclass(frozen=True, slots=True)
class Files:
    """PEM files. Without `client_ca` no client has to show a certificate."""

    certificate: Path
    key: Path
    client_ca: Path | None = None

    def stamp(self) -> Stamp:
        """What differs when a file does. A Secret is a link that is led elsewhere, hence the inode."""
        return tuple(
            _stamp(path) for path in (self.certificate, self.key, self.client_ca) if path is not None
        )

    def context(self) -> ssl.SSLContext:
        """CertificateError when the files cannot be read, or do not belong together."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        what = f"{self.certificate} with {self.key}"
        try:
            context.load_cert_chain(self.certificate, self.key)
            if self.client_ca is not None:
                what = str(self.client_ca)
                context.load_verify_locations(what)
                # Optional here, because a kubelet's probe has none to show: `guard` demands it for the verbs.
                context.verify_mode = ssl.CERT_OPTIONAL
        except OSError as error:  # an SSLError is one
            raise CertificateError(f"{what}: {error.strerror or error}; give PEM files that fit") from error
        return context


class FreshContext(ssl.SSLContext):
    """An SSLContext for servers that follows its files. asyncio asks it for each connection's TLS by `wrap_bio`."""

    _files: Files
    _current: ssl.SSLContext
    _stamp: Stamp

    @classmethod
    def of(cls, files: Files) -> "FreshContext":
        """CertificateError as `Files.context`."""
        context = cls(ssl.PROTOCOL_TLS_SERVER)
        context._files, context._stamp = files, files.stamp()
        context._current = files.context()
        return context

    def wrap_bio(self, *arguments: Any, **options: Any) -> ssl.SSLObject:
        """With what the files say now."""
        self._look()
        return self._current.wrap_bio(*arguments, **options)

    def _look(self) -> None:
        stamp = self._files.stamp()
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self._current = self._files.context()
        except CertificateError as error:
            log.error("the certificates stay as they were: %s", error)
        else:
            log.info("the certificates were read anew")


def _stamp(path: Path) -> tuple[int, int, int]:
    try:
        entry = path.stat()
    except OSError:
        return (0, 0, 0)
    return (entry.st_ino, entry.st_mtime_ns, entry.st_size)

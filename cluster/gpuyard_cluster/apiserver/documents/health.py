"""What the server says about itself: version, health, metrics.

Stands for /version, /livez, /readyz, /healthz and /metrics of kube-apiserver.
"""

from collections import Counter

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.requests import Request, Response

VERSION: JSON = {
    "major": "1",
    "minor": "36",
    "gitVersion": "v1.36.3+gpuyard",
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "none",
    "compiler": "none",
    "platform": "linux/amd64",
}
"""The version whose behaviour this server follows; the suffix says that it is not the real one."""
HEALTH_PATHS = ("/livez", "/readyz", "/healthz")
_TEXT = (("content-type", "text/plain; charset=utf-8"),)


def health(request: Request) -> Response:
    """Always well: there is nothing that could be down while this answers."""
    if "verbose" not in request.query:
        return Response(200, _TEXT, b"ok")
    return Response(200, _TEXT, f"[+]ping ok\n{request.path.strip('/')} check passed\n".encode())


class Metrics:
    """Counts of requests in the exposition format of Prometheus."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str, str, str, int]] = Counter()

    def count(self, verb: str, group: str, version: str, resource: str, code: int) -> None:
        """Count one request of a resource."""
        self._requests[verb, group, version, resource, code] += 1

    def response(self) -> Response:
        """All counts as text."""
        lines = [
            "# HELP apiserver_request_total Counter of requests by verb, group, version, resource and code.",
            "# TYPE apiserver_request_total counter",
        ]
        for (verb, group, version, resource, code), count in sorted(self._requests.items()):
            labels = f'code="{code}",group="{group}",resource="{resource}",verb="{verb}",version="{version}"'
            lines.append(f"apiserver_request_total{{{labels}}} {count}")
        content_type = ("content-type", "text/plain; version=0.0.4; charset=utf-8")
        return Response(200, (content_type,), "\n".join([*lines, ""]).encode())

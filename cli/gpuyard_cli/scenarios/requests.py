"""What a backend asks of an API server, the same on each: objects in, snapshots out."""

from collections.abc import Mapping

from gpuyard import vocabulary
from gpuyard.auditing.evidence import Objects
from gpuyard.groups import reservations
from gpuyard.writes import JSON, PatchType, Write
from gpuyard_cli.inputs import InvalidInputError
from gpuyard_cli.scenarios.backends import RefusedError
from gpuyard_cli.scenarios.injections import DriverFault
from gpuyard_cli.scenarios.observation import Snapshot
from gpuyard_cluster.controllers.discovered import base_of
from gpuyard_kube.api import Api

_GROUPS = "/apis/" + vocabulary.POD_GROUP_API
_STRICT = {"fieldValidation": "Strict"}

COLLECTIONS: Mapping[str, str] = {
    "pod": "/api/v1/namespaces/{namespace}/pods",
    "podgroup": _GROUPS + "/namespaces/{namespace}/podgroups",
}
"""What a step can delete."""


async def create(api: Api, obj: JSON) -> str:
    """Create an object where discovery says that its kind lives; its path. RefusedError when the server will not.

    Strictly, as kubectl does: a field that the server does not know is a slip of the pen.
    """
    metadata = obj.get("metadata")
    named = {"apiVersion": obj.get("apiVersion"), "kind": obj.get("kind")}
    named["metadata.name"] = metadata.get("name") if isinstance(metadata, dict) else None
    for field, found in named.items():
        if not isinstance(found, str) or not found:
            raise RefusedError(f"{field}: {found!r} is not a text; an object needs {', '.join(named)}")
    kind, name = obj["kind"], obj["metadata"]["name"]
    base = base_of(obj["apiVersion"])
    served = await api.read(base)
    entry = next(
        (e for e in served.body.get("resources", ()) if e["kind"] == kind and "/" not in e["name"]), None
    )
    if entry is None:
        raise RefusedError(f"{kind} {name}: the cluster serves no {kind} in {obj['apiVersion']}")
    place = f"/namespaces/{obj['metadata'].get('namespace', 'default')}" if entry["namespaced"] else ""
    path = f"{base}{place}/{entry['name']}"
    reply = await api.send(Write("POST", path, obj, query=_STRICT))
    if not reply.ok:
        raise RefusedError(f"{kind} {name}: {reply.reason}")
    return f"{path}/{name}"


async def delete(api: Api, kind: str, namespace: str, name: str) -> None:
    """Delete an object; `kind` is a key of COLLECTIONS. RefusedError when the server will not."""
    if kind not in COLLECTIONS:
        raise RefusedError(f"{kind}: cannot be deleted; name one of {', '.join(COLLECTIONS)}")
    path = COLLECTIONS[kind].format(namespace=namespace)
    reply = await api.send(Write("DELETE", f"{path}/{name}"))
    if not reply.ok:
        raise RefusedError(f"{kind}/{name}: {reply.reason}")


async def hurt(api: Api, fault: DriverFault) -> None:
    """Let a driver report something, or no more. RefusedError: no such node."""
    change = {"metadata": {"annotations": {fault.key: fault.text}}}
    reply = await api.send(Write("PATCH", f"/api/v1/nodes/{fault.node}", change, PatchType.MERGE))
    if not reply.ok:
        raise RefusedError(f"node {fault.node}: {reply.reason}")


async def snapshot(api: Api, namespace: str) -> Snapshot:
    """The objects of this moment, without explanations; logs of what runs in the namespace."""
    pods = await items(api, "/api/v1/pods")
    return Snapshot(
        nodes=await items(api, "/api/v1/nodes"),
        pods=pods,
        groups=await items(api, f"{_GROUPS}/namespaces/{namespace}/podgroups"),
        reservations=await items(api, reservations.path(namespace)),
        logs=await _logs(api, [pod for pod in pods if pod["metadata"]["namespace"] == namespace]),
    )


async def everything(api: Api) -> Objects:
    """What an audit looks at, of all namespaces."""
    return Objects(
        nodes=await items(api, "/api/v1/nodes"),
        pods=await items(api, "/api/v1/pods"),
        groups=await items(api, f"{_GROUPS}/podgroups"),
        reservations=await items(api, reservations.PATH),
    )


def waiting(pods: tuple[JSON, ...], namespace: str) -> list[str]:
    """The names of the pods of a namespace that are to be explained."""
    return [
        pod["metadata"]["name"]
        for pod in pods
        if pod["metadata"]["namespace"] == namespace and not pod["spec"].get("nodeName")
    ]


async def items(api: Api, path: str) -> tuple[JSON, ...]:
    """A list. InvalidInputError when it cannot be had."""
    reply = await api.read(path)
    if not reply.ok:
        raise InvalidInputError("cluster", path, reply.reason, "is this a cluster with GPUYard's CRDs?")
    return tuple(reply.body["items"])


async def _logs(api: Api, pods: list[JSON]) -> dict[str, str]:
    logs: dict[str, str] = {}
    for pod in pods:
        if (pod.get("status") or {}).get("phase") != "Running":
            continue
        path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
        for container in pod["spec"]["containers"]:
            reply = await api.read(f"{path}/log", container=container["name"])
            if reply.ok:
                logs[f"{pod['metadata']['name']}/{container['name']}"] = str(reply.body.get("message", ""))
    return logs

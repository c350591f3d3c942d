"""What pods of one template ask for, read once for all of them.

Stands for the pod template of a workload, by what its pods have in common. Law: the answers are those of `PodFit.of`
and `requests.parse`; only the fields that these read tell templates apart, so that what differs from pod to pod (its
name, volumes, environment) makes no new one.
"""

import functools
from collections.abc import Iterable
from typing import Any, Final

import orjson

from gpuyard.pods import memberships, requests, wishes
from gpuyard.pods.fit import PodFit
from gpuyard.pods.requests import PodRequest
from gpuyard.verdicts import Rejection
from gpuyard.writes import JSON

_SPEC: Final = ("resources", "overhead", "nodeSelector", "affinity", "tolerations")
_CONTAINERS: Final = ("initContainers", "containers")
_CONTAINER: Final = ("name", "restartPolicy", "resources")
"""The fields that are read."""

Asked = tuple[PodFit, PodRequest | Rejection]


def asked(pod: JSON) -> Asked:
    """Where the pod of an API object may go, and what it asks for."""
    try:
        fit, request = _of_template(orjson.dumps(_template(pod)))
    except (
        orjson.JSONEncodeError
    ):  # Whole numbers of more than 64 bits, of an object that came without a wire.
        return PodFit.of(pod), requests.parse(pod)
    metadata, node = pod["metadata"], str(pod["spec"].get("nodeName") or "")
    if node:
        shared = fit.requests, fit.node_selector, fit.affinity_terms, fit.preferred_terms, fit.tolerations
        fit = PodFit(*shared, node)
    if isinstance(request, Rejection):
        return fit, request
    named = str(metadata["uid"]), str(metadata["namespace"] or "default"), str(metadata["name"])
    return fit, PodRequest(*named, request.wants, memberships.group_of(pod), request.wishes)


def _template(pod: JSON) -> JSON:
    spec = pod["spec"]
    found = _some(spec, _SPEC)
    for kind in _CONTAINERS:
        if containers := spec.get(kind):
            found[kind] = [_some(container, _CONTAINER) for container in containers]
    return {
        "metadata": {"annotations": _some(pod["metadata"].get("annotations") or {}, wishes.ANNOTATIONS)},
        "spec": found,
    }


def _some(whole: JSON, names: Iterable[str]) -> dict[str, Any]:
    return {name: found for name in names if (found := whole.get(name)) is not None}


@functools.lru_cache(maxsize=8192)
def _of_template(text: bytes) -> Asked:
    pod = orjson.loads(text)
    return PodFit.of(pod), requests.parse(pod)

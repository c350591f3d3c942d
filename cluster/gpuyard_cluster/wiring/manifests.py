"""The YAML that a cluster needs before the parts start: the same files that `kubectl apply` takes."""

import functools
from pathlib import Path

import yaml

from gpuyard.writes import JSON, Write
from gpuyard_kube.api import Api

_PACKAGED = Path(__file__).parent.parent / "manifests"
_REPOSITORY = Path(__file__).parents[3] / "manifests"
"""A wheel carries the files beside this package; an editable install finds them at the repository's root."""

COLLECTIONS = {
    "CustomResourceDefinition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "MutatingAdmissionPolicy": "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies",
    "MutatingAdmissionPolicyBinding": "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings",
    "ValidatingAdmissionPolicy": "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
}
"""What the embedded cluster takes of them; Deployments and their like stand for parts that run in this process."""

_ONLY_ON_REAL_ONES = "device-plugin.gpuyard.io"
"""The policy that keeps plugins to their own node uses optional values, which our CEL library does not read."""


@functools.cache
def load() -> tuple[JSON, ...]:
    """The objects of those kinds, CRDs first."""
    order = list(COLLECTIONS)
    found = (
        obj for obj in every() if obj["kind"] in COLLECTIONS and obj["metadata"]["name"] != _ONLY_ON_REAL_ONES
    )
    return tuple(sorted(found, key=lambda obj: order.index(obj["kind"])))


def every() -> tuple[JSON, ...]:
    """All objects, of the components as well."""
    folder = _PACKAGED if _PACKAGED.is_dir() else _REPOSITORY
    return tuple(
        document
        for path in sorted(folder.rglob("*.yaml"))
        for document in yaml.load_all(path.read_text(), Loader=yaml.CSafeLoader)
        if document and "kind" in document
    )


async def install(api: Api) -> None:
    """Create the objects in a fresh cluster. ValueError when the server will not have one."""
    for obj in load():
        reply = await api.send(Write("POST", COLLECTIONS[obj["kind"]], obj))
        if not reply.ok:
            raise ValueError(f"{obj['kind']} {obj['metadata']['name']}: {reply.reason}")

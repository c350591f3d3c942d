"""The generation of an object: how often what its user wants has changed.

Stands for the PrepareForUpdate methods of the registries that count generations.
"""

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.kinds.resources import Resource

_COUNTED = frozenset(
    {
        "cronjobs.batch",
        "customresourcedefinitions.apiextensions.k8s.io",
        "daemonsets.apps",
        "deployments.apps",
        "endpointslices.discovery.k8s.io",
        "jobs.batch",
        "mutatingadmissionpolicies.admissionregistration.k8s.io",
        "mutatingadmissionpolicybindings.admissionregistration.k8s.io",
        "mutatingwebhookconfigurations.admissionregistration.k8s.io",
        "poddisruptionbudgets.policy",
        "pods",
        "priorityclasses.scheduling.k8s.io",
        "replicasets.apps",
        "statefulsets.apps",
        "validatingadmissionpolicies.admissionregistration.k8s.io",
        "validatingadmissionpolicybindings.admissionregistration.k8s.io",
        "validatingwebhookconfigurations.admissionregistration.k8s.io",
    }
)
"""Built-in resources with a generation; custom resources all have one."""


def counted(resource: Resource) -> bool:
    """Whether objects of this resource carry a generation."""
    return resource.custom or resource.qualified in _COUNTED


def count(resource: Resource, old: JSON, new: JSON) -> None:
    """Raise the generation of `new` if it differs from `old` in more than metadata and status, in place."""
    if counted(resource) and _wanted(resource, old) != _wanted(resource, new):
        new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1


def _wanted(resource: Resource, obj: JSON) -> JSON:
    ignored = {"kind", "apiVersion", "metadata"}
    if resource.status_isolated or not resource.custom:
        ignored.add("status")
    wanted = {key: value for key, value in obj.items() if key not in ignored}
    if resource.qualified == "deployments.apps":
        # Of all kinds only Deployments count a change of their annotations as one of what is wanted.
        wanted["annotations"] = obj["metadata"].get("annotations") or {}
    return wanted

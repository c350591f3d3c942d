"""What operators of the ecosystem bring and write: their CRDs in outline, and PodGroups with the pods that join them.

Each CRD has what its published one has that a server might refuse or lose: pod templates, counts by role, quantities
that are numbers or strings, defaults, a status of its own, columns, two versions without a webhook between them.
"""

from dataclasses import dataclass, field
from typing import Final

from gpuyard.writes import JSON

FREE: Final = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
NUMBER: Final = {"type": "integer", "format": "int32"}
EITHER: Final = {
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "x-kubernetes-int-or-string": True,
}
QUANTITY: Final = {
    **EITHER,
    "pattern": r"^[+-]?([0-9]+|[0-9]*\.[0-9]+)([KMGTPE]i|[numkMGTPE])?$",
}
QUANTITIES: Final = {"type": "object", "additionalProperties": QUANTITY}
TEMPLATE: Final = {"type": "object", "properties": {"metadata": FREE, "spec": FREE}}
REPLICAS: Final = {
    "type": "object",
    "properties": {"replicas": NUMBER, "restartPolicy": {"type": "string"}, "template": TEMPLATE},
}
STATE_COLUMN: Final = {"name": "State", "type": "string", "jsonPath": ".status.conditions[-1:].type"}
AGE_COLUMN: Final = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator, the kind that it serves, and how it writes a PodGroup for an object of this kind."""

    name: str
    definition: JSON
    job: JSON
    """The spec of an object as its users write it."""
    defaulted: JSON
    """What the server adds to it."""
    group_spec: JSON
    group_metadata: JSON = field(default_factory=dict)
    controller: bool = True
    """Whether the group's owner reference says so."""


def definition(kind: str, group: str, spec: JSON, *versions: str) -> JSON:
    """The first version is stored."""
    plural = f"{kind.lower()}s"
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": spec}, "status": FREE},
    }
    served = {
        "served": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
        "additionalPrinterColumns": [STATE_COLUMN, AGE_COLUMN],
    }
    names = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{plural}.{group}",
            "annotations": {"controller-gen.kubebuilder.io/version": "v0.16.5"},
        },
        "spec": {
            "group": group,
            "names": names,
            "scope": "Namespaced",
            "conversion": {"strategy": "None"},
            "versions": [{"name": name, "storage": name == versions[0], **served} for name in versions],
        },
    }


_POLICY: Final = {
    "type": "object",
    "properties": {
        "cleanPodPolicy": {"type": "string", "default": "None"},
        "schedulingPolicy": {
            "type": "object",
            "properties": {"minAvailable": NUMBER, "minResources": QUANTITIES},
        },
    },
}
_TEMPLATE: Final = {"spec": {"containers": [{"name": "main", "image": "busybox:1.36", "args": ["a"]}]}}
_TRAINING: Final = Operator(
    "training-operator",
    definition(
        "PyTorchJob",
        "kubeflow.org",
        {"pytorchReplicaSpecs": {"type": "object", "additionalProperties": REPLICAS}, "runPolicy": _POLICY},
        "v1",
    ),
    {
        "pytorchReplicaSpecs": {"Worker": {"replicas": 2, "template": _TEMPLATE}},
        "runPolicy": {"schedulingPolicy": {"minResources": {"cpu": 2, "memory": "1Gi"}}},
    },
    {"runPolicy": {"cleanPodPolicy": "None"}},
    {"minMember": 2, "minResources": {"cpu": "2", "nvidia.com/gpu": "2"}},
    # It copies all annotations of the job, this one too.
    {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"}},
)
_MPI: Final = Operator(
    "mpi-operator",
    definition(
        "MPIJob",
        "kubeflow.org",
        {
            "slotsPerWorker": {**NUMBER, "default": 1},
            "mpiImplementation": {"type": "string", "enum": ["OpenMPI", "Intel"], "default": "OpenMPI"},
            "mpiReplicaSpecs": {"type": "object", "additionalProperties": REPLICAS},
        },
        "v2beta1",
    ),
    {"mpiReplicaSpecs": {"Worker": {"replicas": 2, "template": _TEMPLATE}}},
    {"slotsPerWorker": 1, "mpiImplementation": "OpenMPI"},
    {"minMember": 2, "minResources": {"nvidia.com/gpu": "2"}, "scheduleTimeoutSeconds": 0},
)
_TRAINER: Final = Operator(
    "trainer",
    definition(
        "TrainJob",
        "trainer.kubeflow.org",
        {
            "suspend": {"type": "boolean", "default": False},
            "trainer": {"type": "object", "properties": {"numNodes": NUMBER, "numProcPerNode": EITHER}},
        },
        "v1alpha1",
    ),
    {"trainer": {"numNodes": 2, "numProcPerNode": "auto"}},
    {"suspend": False},
    {"minMember": 2, "scheduleTimeoutSeconds": 60},
)
_RAY: Final = Operator(
    "kuberay",
    definition(
        "RayCluster",
        "ray.io",
        {
            "rayVersion": {"type": "string"},
            "workerGroupSpecs": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["groupName", "template"],
                    "properties": {
                        "groupName": {"type": "string"},
                        "replicas": {**NUMBER, "default": 0},
                        "minReplicas": {**NUMBER, "default": 0},
                        "maxReplicas": {**NUMBER, "default": 2147483647},
                        "template": TEMPLATE,
                    },
                },
            },
        },
        "v1",
        "v1alpha1",
    ),
    {"workerGroupSpecs": [{"groupName": "gpu", "replicas": 2, "minReplicas": 1, "template": _TEMPLATE}]},
    {"workerGroupSpecs": [{"maxReplicas": 2147483647}]},
    {"minMember": 2, "minResources": {"nvidia.com/gpu": "2"}},
    controller=False,
)
OPERATORS: Final = (_TRAINING, _MPI, _TRAINER, _RAY)

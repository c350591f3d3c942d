"""How the lists and maps of built-in kinds merge: by which keys, as sets, or not at all.

Stands for the `listType`, `listMapKey`, `mapType`, `structType` and `patchMergeKey` tags of the Go types in
`k8s.io/api`. A list that is not named here is atomic. Names are those of the type table, `Type.field`.
"""

from collections.abc import Mapping
from typing import Any

_BY_KEY: Mapping[tuple[str, ...], str] = {
    ("name",): """
        V1PodSpec.containers V1PodSpec.initContainers V1PodSpec.ephemeralContainers V1PodSpec.volumes
        V1PodSpec.imagePullSecrets V1PodSpec.schedulingGates V1PodSpec.resourceClaims
        V1PodStatus.resourceClaimStatuses V1ContainerStatus.allocatedResourcesStatus
        V1Container.env V1EphemeralContainer.env V1ResourceRequirements.claims
        V1ServiceAccount.secrets V1CSINodeSpec.drivers
        V1MutatingAdmissionPolicySpec.matchConditions V1ValidatingAdmissionPolicySpec.matchConditions
        V1ValidatingAdmissionPolicySpec.variables
        V1MutatingWebhookConfiguration.webhooks V1ValidatingWebhookConfiguration.webhooks
        V1MutatingWebhook.matchConditions V1ValidatingWebhook.matchConditions
    """,
    ("containerPort", "protocol"): "V1Container.ports V1EphemeralContainer.ports",
    (
        "mountPath",
    ): "V1Container.volumeMounts V1EphemeralContainer.volumeMounts V1ContainerStatus.volumeMounts",
    ("devicePath",): "V1Container.volumeDevices V1EphemeralContainer.volumeDevices",
    ("resourceID",): "V1ResourceStatus.resources",
    ("topologyKey", "whenUnsatisfiable"): "V1PodSpec.topologySpreadConstraints",
    ("ip",): "V1PodSpec.hostAliases V1PodStatus.podIPs",
    ("port", "protocol"): "V1ServiceSpec.ports",
    ("uid",): "V1ObjectMeta.ownerReferences",
    ("type",): """
        V1PodStatus.conditions V1NodeStatus.conditions V1NodeStatus.addresses V1NamespaceStatus.conditions
        V1ServiceStatus.conditions V1DeploymentStatus.conditions V1ReplicaSetStatus.conditions
        V1StatefulSetStatus.conditions V1DaemonSetStatus.conditions V1PodDisruptionBudgetStatus.conditions
        V1CustomResourceDefinitionStatus.conditions V1ValidatingAdmissionPolicyStatus.conditions
        V1PersistentVolumeClaimStatus.conditions
    """,
}

LISTS: Mapping[str, tuple[str, ...]] = {path: keys for keys, text in _BY_KEY.items() for path in text.split()}
"""The key fields of lists that merge item by item."""

SETS = frozenset({"V1ObjectMeta.finalizers", "V1NodeSpec.podCIDRs", "V1UncountedTerminatedPods.succeeded"})
SETS |= {"V1UncountedTerminatedPods.failed", "V1ValidatingAdmissionPolicyBindingSpec.validationActions"}
"""Lists of scalars that merge as sets."""

PATCH_KEYS: Mapping[str, str] = {
    # Atomic for server-side apply, yet merged by a strategic merge patch.
    "V1JobStatus.conditions": "type",
    "V1PodStatus.hostIPs": "ip",
    # The other way round: no patch strategy, so a strategic merge patch replaces the list.
    "V1CustomResourceDefinitionStatus.conditions": "",
    "V1ValidatingAdmissionPolicyStatus.conditions": "",
    "V1ResourceRequirements.claims": "",
    "V1ResourceStatus.resources": "",
}
"""Where a strategic merge patch does not match items by the first key of `LISTS`."""

KEY_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "V1Container.ports": {"protocol": "TCP"},
    "V1EphemeralContainer.ports": {"protocol": "TCP"},
    "V1ServiceSpec.ports": {"protocol": "TCP"},
}
"""Key fields that an item may leave out, and what they then are."""

ATOMIC_MAPS = frozenset({"V1PodSpec.nodeSelector", "V1ServiceSpec.selector"})

_EMBEDDED = """
    V1DeploymentSpec.template V1DeploymentSpec.strategy V1ReplicaSetSpec.template V1StatefulSetSpec.template
    V1StatefulSetSpec.updateStrategy V1DaemonSetSpec.template V1DaemonSetSpec.updateStrategy V1JobSpec.template
    V1CronJobSpec.jobTemplate V1JobTemplateSpec.metadata V1JobTemplateSpec.spec V1PodTemplateSpec.metadata
    V1PodTemplateSpec.spec V1PodSpec.containers V1NodeStatus.daemonEndpoints V1NodeStatus.nodeInfo
    V1NodeDaemonEndpoints.kubeletEndpoint V1ServiceStatus.loadBalancer CoreV1Event.source
    EventsV1Event.deprecatedSource V1CustomResourceDefinitionSpec.names V1CustomResourceDefinitionStatus.acceptedNames
"""
EMBEDDED = frozenset(_EMBEDDED.split())
"""Structs and lists that an empty object has too, because Go has no way to leave them out, beside metadata, spec and
status. managedFields names their parts, not themselves."""

_ATOMIC = """
    V1LabelSelector V1NodeSelector V1NodeSelectorTerm V1TopologySelectorTerm
    V1ObjectReference V1LocalObjectReference V1TypedLocalObjectReference V1OwnerReference
    V1SecretKeySelector V1ConfigMapKeySelector V1ObjectFieldSelector V1ResourceFieldSelector V1FileKeySelector
    V1RoleRef RbacV1Subject V1ParamRef V1ParamKind V1MatchResources V1NamedRuleWithOperations
"""
ATOMIC_TYPES = frozenset(_ATOMIC.split())
"""Objects that have one owner as a whole."""

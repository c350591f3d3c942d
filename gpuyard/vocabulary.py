"""Every name that crosses a component's border: resources, labels, annotations, groups, reasons.

Stands for what Kubernetes projects keep in `pkg/apis/.../well_known_labels.go`: a key is written once, here.
"""

from typing import Final

GROUP: Final = "gpuyard.io"
VERSION: Final = "v1alpha1"
"""API group and version of our custom resources."""

# --- contracts between components (annotations; JSON, versioned)
INVENTORY: Final = "gpuyard.io/inventory"
"""On a node: the GPUs that it has. Written by the device plugin, read by everyone."""
CONFIG_PROBLEM: Final = "gpuyard.io/config-problem"
"""On a node: why its device plugin goes on with an older configuration. Written by the device plugin, for people."""
XID_PREFIX: Final = "gpuyard.io/xid-"
"""On a node, with a GPU's index behind it: the XID that its driver reports. Written by people, to try a fault."""
EVERY_GPU: Final = "all"
"""Behind XID_PREFIX: of each of the node's GPUs."""
NVLINK_PREFIX: Final = "gpuyard.io/nvlink-"
"""On a node, with two GPUs' indexes such as 0-1 behind it: DOWN where the NVLink between them has failed."""
DOWN: Final = "down"
"""What NVLINK_PREFIX says of a link that has failed."""
ALLOCATION: Final = "gpuyard.io/allocation"
"""On a pod: container -> resource -> device ids. Written by the extender inside the Binding."""
WOKEN: Final = "gpuyard.io/woken"
"""On a pending pod: when the extender last asked kube-scheduler to try it again. Only the change matters."""

# --- nodes
FAKE_GPUS: Final = "gpuyard.io/fake-gpus"
"""Label on a node: "true" where the fake device plugin may run."""
YARD_NODE: Final = "gpuyard.io/yard-node"
"""Label on a node: the name of the yard node that a real worker plays; ids derive from it."""
PLUGIN_CONFIG: Final = "nvidia.com/device-plugin.config"
"""Label on a node: the name of the plugin configuration that it gets, of several in one folder. NVIDIA's own."""
RACK: Final = "gpuyard.io/rack"
BLOCK: Final = "gpuyard.io/block"
"""Labels on a node. Not in topology.kubernetes.io: there a kubelet may set its zone and region alone."""
PRODUCT_LABEL: Final = "nvidia.com/gpu.product"
MEMORY_LABEL: Final = "nvidia.com/gpu.memory"
"""Labels on a node: the model of its GPUs and their memory in MiB. NVIDIA's own (GPU feature discovery)."""

# --- wishes of a pod (annotations; `gpuyard.pods.wishes` reads them)
GPU_MODEL: Final = "gpuyard.io/gpu-model"
"""On a pod: the GPU models that will do, by product or a part of it, comma-separated."""
MIN_GPU_MEMORY: Final = "gpuyard.io/min-gpu-memory"
"""On a pod: the memory that each of its GPUs, MIG instances or MPS clients has at least."""
TOPOLOGY: Final = "gpuyard.io/topology"
"""On a pod: which domain its GPUs lie in together: same-numa, same-switch, nvlink or best-effort. On a PodGroup:
which its nodes lie in: same-rack or same-block."""
TOPOLOGY_POLICY: Final = "gpuyard.io/topology-policy"
"""On a pod or PodGroup: whether TOPOLOGY is required or only preferred."""
GPU_MILLI: Final = "gpuyard.io/gpu-milli"
GPU_MEMORY: Final = "gpuyard.io/gpu-memory"
"""What the one share that the pod asks for may use of its GPU (`gpuyard.pods.limits`)."""

# --- gangs
GANG_GATE: Final = "gpuyard.io/gang"
"""Scheduling gate that a MutatingAdmissionPolicy puts on every member of a PodGroup."""
POD_GROUP: Final = "scheduling.x-k8s.io/pod-group"
"""Label on a pod: the PodGroup (same namespace) that it belongs to."""
BELOW_MINIMUM: Final = "gpuyard.io/below-minimum"
"""On a PodGroup that has started, when fewer than minMember are left: `restart` evicts those, to start together
again; `release` evicts them for good; else they wait."""
SCHEDULE_DEADLINE: Final = "gpuyard.io/schedule-deadline-seconds"
"""On a PodGroup: so many seconds without being scheduled and it has failed; absent or 0: it waits."""
POD_GROUP_API: Final = "scheduling.x-k8s.io/v1alpha1"
"""API group and version of PodGroups, those of scheduler-plugins."""
QUEUE: Final = "gpuyard.io/queue"
"""Annotation or label on a PodGroup, or on its pods: the Queue whose quota the group counts against."""

PREEMPTIBLE: Final = "gpuyard.io/preemptible"
"""On a pod: "false" where it makes way for nobody, whatever its priority; then its whole gang does not."""

# --- what a fake container does
RUN_SECONDS: Final = "gpuyard.io/run-seconds"
"""On a pod: its fake containers end this many seconds after they started (absent: they run on)."""
EXIT_CODE: Final = "gpuyard.io/exit-code"
"""On a pod: the exit code with which its fake containers end (absent: 0)."""

SMI_VARIABLES: Final = "GPUYARD_"
"""How the variables of a container begin that only its nvidia-smi reads."""

# --- resources
GPU: Final = "nvidia.com/gpu"
"""Resource: whole GPUs, or shares of them where the node's configuration does not rename them."""
SHARED_SUFFIX: Final = ".shared"
"""What a configuration that renames puts behind the name of a resource that is shared."""
MIG_PREFIX: Final = "nvidia.com/mig-"
"""Resource, with a profile behind it: MIG instances."""
GPU_SHARED: Final = GPU + SHARED_SUFFIX
"""Resource: shares of GPUs."""


def mig_resource(profile: str) -> str:
    """`1g.5gb+me` -> `nvidia.com/mig-1g.5gb.me`: resource names may not hold a plus sign."""
    return MIG_PREFIX + profile.replace("+", ".")


# --- names of parts
SCHEDULER: Final = "default-scheduler"
"""The scheduler of pods that name none."""
GROUP_SCHEDULER: Final = "scheduler-plugins-scheduler"
"""What clients of PodGroups name, KubeRay without a choice: another profile of the same scheduler."""
EXTENDER: Final = "gpuyard-extender"
DEVICE_PLUGIN: Final = "gpuyard-device-plugin"
OPERATOR: Final = "gpuyard-operator"
"""The parts: their workloads, accounts and the values of app.kubernetes.io/name."""
NAMESPACE: Final = "gpuyard-system"
"""Where the parts run on a real cluster."""
READER: Final = "gpuyard-reader"
"""A service account that runs nothing: people make tokens of it to ask the extender."""
TOKEN_HEADER: Final = "X-GPUYard-Token"
"""Beside `Authorization: Bearer`, which the API server's proxy keeps for itself."""

"""The built-in resources: a table of what kube-apiserver 1.36 serves and this server does too.

Names, short names, categories and verbs are those of kube-apiserver's discovery documents.
"""

from gpuyard_cluster.apiserver.kinds.resources import ALL_VERBS, NEVER_ANY, Resource, Subresource
from gpuyard_cluster.apiserver.kinds.selectable import EVENT_FIELDS, POD_FIELDS

_CREATE = ("create",)


def _resource(
    group_version: str, plural: str, kind: str, *, cluster_wide: bool = False, **more: tuple[object, ...]
) -> Resource:
    group, _, version = group_version.rpartition("/")
    return Resource(
        group=group,
        version=version,
        plural=plural,
        kind=kind,
        namespaced=not cluster_wide,
        singular=kind.lower(),
        list_kind=f"{kind}List",
        **more,  # type: ignore[arg-type]  # a table of keywords; the dataclass is the schema
    )


def _status(group_version: str, kind: str) -> Subresource:
    group, _, version = group_version.rpartition("/")
    return Subresource("status", kind, group, version)


def _workload(
    group_version: str,
    plural: str,
    kind: str,
    *short: str,
    scale: bool = True,
    selectable: tuple[str, ...] = (),
) -> Resource:
    """A resource with a status, mostly with a scale, that `kubectl get all` shows."""
    subresources = [_status(group_version, kind)]
    if scale:
        subresources.append(Subresource("scale", "Scale", "autoscaling", "v1"))
    return _resource(
        group_version,
        plural,
        kind,
        short_names=short,
        categories=("all",),
        subresources=tuple(subresources),
        selectable=selectable,
    )


def _review(group_version: str, plural: str, kind: str, *, cluster_wide: bool = True) -> Resource:
    """A question in the form of an object: answered, never stored."""
    return _resource(group_version, plural, kind, cluster_wide=cluster_wide, verbs=_CREATE)


def _admission(plural: str, kind: str, *subresources: Subresource) -> Resource:
    return _resource(_ADMISSION, plural, kind, cluster_wide=True, subresources=subresources)


_ADMISSION = "admissionregistration.k8s.io/v1"
_PROXY = ("create", "delete", "get", "patch", "update")
_POD_SUBRESOURCES = (
    _status("v1", "Pod"),
    Subresource("attach", "PodAttachOptions", verbs=("create", "get")),
    Subresource("binding", "Binding", verbs=_CREATE),
    Subresource("ephemeralcontainers", "Pod"),
    Subresource("eviction", "Eviction", "policy", "v1", _CREATE),
    Subresource("exec", "PodExecOptions", verbs=("create", "get")),
    Subresource("log", "Pod", verbs=("get",)),
    Subresource("portforward", "PodPortForwardOptions", verbs=("create", "get")),
    Subresource("proxy", "PodProxyOptions", verbs=_PROXY),
    Subresource("resize", "Pod"),
)
_NAMESPACE_VERBS = tuple(verb for verb in ALL_VERBS if verb != "deletecollection")
_NAMESPACE_SUBRESOURCES = (
    Subresource("finalize", "Namespace", verbs=("update",)),
    _status("v1", "Namespace"),
)
_RBAC = "rbac.authorization.k8s.io/v1"
_ACCESS = "authorization.k8s.io/v1"

BUILTIN: tuple[Resource, ...] = (
    _resource("v1", "bindings", "Binding", verbs=_CREATE),
    _resource("v1", "configmaps", "ConfigMap", short_names=("cm",)),
    _resource("v1", "endpoints", "Endpoints", short_names=("ep",)),
    _resource("v1", "events", "Event", short_names=("ev",), selectable=EVENT_FIELDS),
    _resource("v1", "limitranges", "LimitRange", short_names=("limits",), verbs=NEVER_ANY),
    _resource(
        "v1",
        "namespaces",
        "Namespace",
        cluster_wide=True,
        short_names=("ns",),
        verbs=_NAMESPACE_VERBS,
        subresources=_NAMESPACE_SUBRESOURCES,
        selectable=("status.phase",),
    ),
    _resource(
        "v1",
        "nodes",
        "Node",
        cluster_wide=True,
        short_names=("no",),
        subresources=(Subresource("proxy", "NodeProxyOptions", verbs=_PROXY), _status("v1", "Node")),
        selectable=("spec.unschedulable",),
    ),
    _resource(
        "v1",
        "pods",
        "Pod",
        short_names=("po",),
        categories=("all",),
        subresources=_POD_SUBRESOURCES,
        selectable=POD_FIELDS,
    ),
    _resource("v1", "secrets", "Secret", selectable=("type",)),
    _resource(
        "v1",
        "serviceaccounts",
        "ServiceAccount",
        short_names=("sa",),
        subresources=(Subresource("token", "TokenRequest", "authentication.k8s.io", "v1", _CREATE),),
    ),
    _resource(
        "v1",
        "services",
        "Service",
        short_names=("svc",),
        categories=("all",),
        subresources=(Subresource("proxy", "ServiceProxyOptions", verbs=_PROXY), _status("v1", "Service")),
        selectable=("spec.clusterIP", "spec.type"),
    ),
    _workload("apps/v1", "daemonsets", "DaemonSet", "ds", scale=False),
    _workload("apps/v1", "deployments", "Deployment", "deploy"),
    _workload("apps/v1", "replicasets", "ReplicaSet", "rs"),
    _workload("apps/v1", "statefulsets", "StatefulSet", "sts"),
    _workload("batch/v1", "cronjobs", "CronJob", "cj", scale=False),
    _workload("batch/v1", "jobs", "Job", scale=False, selectable=("status.successful",)),
    _resource("coordination.k8s.io/v1", "leases", "Lease"),
    _resource("discovery.k8s.io/v1", "endpointslices", "EndpointSlice"),
    _resource("events.k8s.io/v1", "events", "Event", short_names=("ev",), selectable=EVENT_FIELDS),
    _resource("node.k8s.io/v1", "runtimeclasses", "RuntimeClass", cluster_wide=True, verbs=NEVER_ANY),
    _resource(
        "policy/v1",
        "poddisruptionbudgets",
        "PodDisruptionBudget",
        short_names=("pdb",),
        subresources=(_status("policy/v1", "PodDisruptionBudget"),),
    ),
    _resource(
        "scheduling.k8s.io/v1", "priorityclasses", "PriorityClass", cluster_wide=True, short_names=("pc",)
    ),
    _resource("storage.k8s.io/v1", "csinodes", "CSINode", cluster_wide=True),
    _resource("storage.k8s.io/v1", "storageclasses", "StorageClass", cluster_wide=True, short_names=("sc",)),
    _resource(
        "apiextensions.k8s.io/v1",
        "customresourcedefinitions",
        "CustomResourceDefinition",
        cluster_wide=True,
        short_names=("crd", "crds"),
        categories=("api-extensions",),
        subresources=(_status("apiextensions.k8s.io/v1", "CustomResourceDefinition"),),
    ),
    _admission("mutatingadmissionpolicies", "MutatingAdmissionPolicy"),
    _admission("mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding"),
    _admission("mutatingwebhookconfigurations", "MutatingWebhookConfiguration"),
    _admission(
        "validatingadmissionpolicies",
        "ValidatingAdmissionPolicy",
        _status(_ADMISSION, "ValidatingAdmissionPolicy"),
    ),
    _admission("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding"),
    _admission("validatingwebhookconfigurations", "ValidatingWebhookConfiguration"),
    _resource(_RBAC, "clusterrolebindings", "ClusterRoleBinding", cluster_wide=True),
    _resource(_RBAC, "clusterroles", "ClusterRole", cluster_wide=True),
    _resource(_RBAC, "rolebindings", "RoleBinding"),
    _resource(_RBAC, "roles", "Role"),
    _review("authentication.k8s.io/v1", "selfsubjectreviews", "SelfSubjectReview"),
    _review("authentication.k8s.io/v1", "tokenreviews", "TokenReview"),
    _review(_ACCESS, "localsubjectaccessreviews", "LocalSubjectAccessReview", cluster_wide=False),
    _review(_ACCESS, "selfsubjectaccessreviews", "SelfSubjectAccessReview"),
    _review(_ACCESS, "selfsubjectrulesreviews", "SelfSubjectRulesReview"),
    _review(_ACCESS, "subjectaccessreviews", "SubjectAccessReview"),
)

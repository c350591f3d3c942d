"""Whom the parts of a cluster are to its API server: the users that they are on a real one."""

from gpuyard import vocabulary
from gpuyard_cluster.apiserver.auth.users import AUTHENTICATED, User, service_account

SCHEDULER = User("system:kube-scheduler")
CONTROLLER_MANAGER = User("system:kube-controller-manager")
EXTENDER = service_account(vocabulary.NAMESPACE, vocabulary.EXTENDER)
OPERATOR = service_account(vocabulary.NAMESPACE, vocabulary.OPERATOR)


def kubelet(node: str) -> User:
    return User(f"system:node:{node}", ("system:nodes", AUTHENTICATED))


def device_plugin(node: str) -> User:
    """Its token says which node it runs on: manifests/device-plugin-policy.yaml looks at that."""
    return service_account(vocabulary.NAMESPACE, vocabulary.DEVICE_PLUGIN, node_name=node)


def of_part(name: str) -> User:
    """Whom a part of `steps` is, such as "kubelet node-1" or "garbage collector"."""
    kind, _, node = name.partition(" ")
    if kind in ("kubelet", "plugin"):
        return kubelet(node) if kind == "kubelet" else device_plugin(node)
    known = {"extender": EXTENDER, "operator": OPERATOR, "scheduler": SCHEDULER}
    return known.get(name, CONTROLLER_MANAGER)

"""What every cluster holds from its start: namespaces.

Stands for the post-start hooks of kube-apiserver.
"""

from gpuyard_cluster.apiserver.backend import Backend
from gpuyard_cluster.apiserver.routing import Target
from gpuyard_cluster.apiserver.verbs import creation
from gpuyard_cluster.apiserver.wire import bodies
from gpuyard_cluster.apiserver.wire.options import WriteOptions

NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")


def bootstrap(backend: Backend) -> None:
    """Fill a fresh store."""
    resource = backend.registry.find("", "v1", "namespaces")
    for name in NAMESPACES:
        namespace = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name}}
        options = WriteOptions(manager="kube-apiserver")
        bodies.settle(namespace, resource, options)
        creation.create(backend, Target(resource), namespace, options)

import random

from gpuyard_cluster.apiserver.backend import Backend
from gpuyard_cluster.apiserver.kinds.builtin import BUILTIN
from gpuyard_cluster.apiserver.kinds.registry import Registry
from gpuyard_cluster.apiserver.routing import Target
from gpuyard_cluster.apiserver.storage import commits
from gpuyard_cluster.apiserver.storage.storage import Store


def test_what_follows_a_write_follows_only_real_ones() -> None:
    backend = Backend(Store(), Registry(BUILTIN), lambda: 0.0, random.Random(1))
    told = list[tuple[str, str]]()
    backend.after_put.append(lambda resource, stored: told.append(("put", stored.key)))
    backend.after_remove.append(lambda resource, last: told.append(("removed", last.key)))
    target = Target(backend.registry.find("", "v1", "nodes"), name="n")
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
    assert commits.put(backend, target, node, dry_run=True).obj["metadata"] == {"name": "n"}
    assert (told, backend.get(target)) == ([], None)
    commits.put(backend, target, node)
    commits.remove(backend, target, dry_run=True)
    commits.remove(backend, target)
    assert told == [("put", "n"), ("removed", "n")]

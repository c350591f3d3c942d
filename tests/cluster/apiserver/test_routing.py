import pytest

from gpuyard_cluster.apiserver.errors import ApiError
from gpuyard_cluster.apiserver.kinds.builtin import BUILTIN
from gpuyard_cluster.apiserver.kinds.registry import NoSuchPathError, Registry
from gpuyard_cluster.apiserver.routing import resolve

REGISTRY = Registry(BUILTIN)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/api/v1/pods", ("pods", "", "", "")),
        ("/api/v1/namespaces/a/pods", ("pods", "a", "", "")),
        ("/api/v1/namespaces/a/pods/p/status", ("pods", "a", "p", "status")),
        ("/api/v1/namespaces/a", ("namespaces", "", "a", "")),
        ("/api/v1/namespaces/a/finalize", ("namespaces", "", "a", "finalize")),
        ("/apis/apps/v1/namespaces/a/deployments/d/scale", ("deployments.apps", "a", "d", "scale")),
        ("/api/v1/nodes/n/", ("nodes", "", "n", "")),
    ],
)
def test_a_path_names_its_target(path: str, found: tuple[str, str, str, str]) -> None:
    target = resolve(path, REGISTRY)
    assert (target.resource.qualified, target.namespace, target.name, target.subresource) == found


@pytest.mark.parametrize("path", ["/", "/api", "/apis/apps", "/apis/nobody/v1/things"])
def test_other_paths_are_none_of_the_api(path: str) -> None:
    with pytest.raises(NoSuchPathError):
        resolve(path, REGISTRY)


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/api/v1/frobnicators", 404),
        ("/api/v1/pods/p", 404),
        ("/api/v1/namespaces/a/nodes/n", 404),
        ("/api/v1/nodes/n/nonsense", 404),
        ("/api/v1/namespaces/a/pods/p/status/more", 404),
        ("/api/v1/persistentvolumeclaims", 501),
        ("/api/v1/watch/pods", 501),
    ],
)
def test_what_a_group_does_not_have_is_refused(path: str, code: int) -> None:
    with pytest.raises(ApiError) as refusal:
        resolve(path, REGISTRY)
    assert refusal.value.code == code


def test_keys_lie_below_the_prefix_of_their_collection() -> None:
    one = resolve("/api/v1/namespaces/a/pods/p", REGISTRY)
    assert (one.key, one.prefix) == ("a/p", "a/")
    node = resolve("/api/v1/nodes/n", REGISTRY)
    assert (node.key, node.prefix) == ("n", "")

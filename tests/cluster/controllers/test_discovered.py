import pytest

from gpuyard.writes import Reply, Write
from gpuyard_cluster.clock import Steps
from gpuyard_cluster.controllers import discovered
from gpuyard_cluster.controllers.discovered import Collection

VERBS = ["create", "delete", "get", "list"]
CORE = [
    {"name": "pods", "kind": "Pod", "namespaced": True, "verbs": VERBS},
    {"name": "pods/status", "kind": "Pod", "namespaced": True, "verbs": ["get"]},
    {"name": "bindings", "kind": "Binding", "namespaced": True, "verbs": ["create"]},
    {"name": "nodes", "kind": "Node", "namespaced": False, "verbs": VERBS},
]
WIDGETS = [{"name": "widgets", "kind": "Widget", "namespaced": True, "verbs": VERBS}]
GROUPS = {"groups": [{"name": "x.y", "preferredVersion": {"groupVersion": "x.y/v1"}}]}


class Discovery:
    """Answers discovery requests; `failing` paths get a 500."""

    def __init__(self, failing: str = "") -> None:
        self._failing = failing
        self._documents = {
            "/api/v1": {"resources": CORE},
            "/apis/x.y/v1": {"resources": WIDGETS},
            "/apis": GROUPS,
        }

    async def send(self, write: Write) -> Reply:
        raise AssertionError(write)

    async def read(self, path: str, **query: str) -> Reply:
        if path == self._failing:
            return Reply(500, {"message": "no"})
        found = self._documents.get(path)
        return Reply(404, {}) if found is None else Reply(200, found)


def test_everything_that_can_be_deleted_is_found() -> None:
    found = Steps().complete(discovered.everything(Discovery()))
    assert [each.plural for each in found] == ["pods", "nodes", "widgets"]


def test_a_kind_is_found_in_its_group_and_version() -> None:
    def of_kind(api_version: str, kind: str) -> Collection | None:
        found: Collection | None = Steps().complete(discovered.of_kind(Discovery(), api_version, kind))
        return found

    widget = of_kind("x.y/v1", "Widget")
    assert widget is not None
    assert widget.path("n", "w") == "/apis/x.y/v1/namespaces/n/widgets/w"
    node = of_kind("v1", "Node")
    assert node is not None
    assert node.path("n", "a") == "/api/v1/nodes/a"
    assert (of_kind("v1", "Gadget"), of_kind("z/v1", "Gadget")) == (None, None)


@pytest.mark.parametrize("failing", ["/apis", "/api/v1", "/apis/x.y/v1"])
def test_a_server_that_does_not_answer_is_no_server_without_resources(failing: str) -> None:
    with pytest.raises(ConnectionError):
        Steps().complete(discovered.everything(Discovery(failing)))

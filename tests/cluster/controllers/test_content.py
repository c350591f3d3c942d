from typing import Any

from gpuyard_cluster.controllers import content

NOW = "2026-01-02T03:04:05Z"


def namespace(**metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": "n", **metadata}, "spec": {"finalizers": ["x.y/a", "kubernetes"]}}


def test_only_a_namespace_that_is_being_deleted_is_emptied() -> None:
    assert not content.is_ours(namespace())
    assert content.is_ours(namespace(deletionTimestamp=NOW))
    assert not content.is_ours({**namespace(deletionTimestamp=NOW), "spec": {}})


def test_an_empty_namespace_loses_our_finalizer_only() -> None:
    write = content.finish(namespace(resourceVersion="5"))
    assert (write.method, write.path) == ("PUT", "/api/v1/namespaces/n/finalize")
    assert isinstance(write.body, dict)
    assert write.body["spec"]["finalizers"] == ["x.y/a"]
    assert write.body["metadata"]["resourceVersion"] == "5", "a late write must fail"


def test_what_remains_is_said_once() -> None:
    remaining = {"pods": [{"metadata": {"finalizers": ["x.y/b"]}}, {"metadata": {}}]}
    held = namespace()
    held["status"] = {"conditions": [{"type": "Other", "status": "True"}]}
    write = content.report(held, remaining, NOW)
    assert write is not None
    assert isinstance(write.body, dict)
    conditions = write.body["status"]["conditions"]
    assert [entry["type"] for entry in conditions] == [
        "Other",
        "NamespaceContentRemaining",
        "NamespaceFinalizersRemaining",
    ]
    assert conditions[1]["message"] == "Some resources are remaining: pods has 2 resource instances"
    held["status"] = write.body["status"]
    assert content.report(held, remaining, "later") is None
    assert content.report(held, {"pods": [{"metadata": {}}]}, "later") is not None

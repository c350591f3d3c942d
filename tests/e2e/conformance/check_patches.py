"""The four patches."""

from tests.e2e.conformance.conversation import (
    JSON,
    JSON_PATCH,
    MERGE,
    STRATEGIC,
    Conversation,
    check,
)

DATA: JSON = {
    "metadata": {"name": "a", "labels": {"l": "1"}, "annotations": {"n": "1"}},
    "data": {"k": "1", "m": "2"},
}


@check
async def merge_patches_merge(talk: Conversation) -> None:
    path = talk.at("configmaps", "a")
    await talk.post(talk.at("configmaps"), DATA)
    for body in (
        {},
        {"data": {"k": None, "new": "x"}},
        {"data": None},
        {"data": {"k": "1"}, "metadata": {"labels": None}},
        {"data": {"k": {"deep": "x"}}},
        {"data": "text"},
        {"metadata": {}},
        {"metadata": {"name": "b"}},
        {"metadata": {"name": None}},
        {"metadata": {"uid": None, "resourceVersion": None, "creationTimestamp": None}},
        {"metadata": {"resourceVersion": "1"}},
        {"metadata": {"uid": "other"}},
        {"metadata": {"namespace": "other"}},
        {"kind": "Secret"},
        {"apiVersion": "v2"},
        {"kind": None, "apiVersion": None},
        {"unknown": 1},
        [],
        "text",
    ):
        await talk.patch(path, body, dryRun="All")
    await talk.patch(path, {"unknown": 1}, fieldValidation="Strict")
    await talk.patch(path, b"{")
    await talk.patch(path, b'{"data":{"k":"1","k":"2"}}', fieldValidation="Strict")


@check
async def json_patches_do_each_operation(talk: Conversation) -> None:
    path = talk.at("configmaps", "a")
    held = {**DATA["metadata"], "finalizers": ["example.com/a"]}
    await talk.post(talk.at("configmaps"), {**DATA, "metadata": held})
    for operations in (
        [{"op": "add", "path": "/data/x", "value": "1"}],
        [{"op": "add", "path": "/data/a~1b", "value": "1"}],
        [{"op": "remove", "path": "/data/x"}],
        [{"op": "remove", "path": "/data/none"}],
        [{"op": "replace", "path": "/data/none", "value": "1"}],
        [{"op": "replace", "path": "/data/k", "value": "2"}],
        [{"op": "move", "from": "/data/k", "path": "/data/moved"}],
        [{"op": "copy", "from": "/data/m", "path": "/data/copied"}],
        [{"op": "copy", "from": "/data/none", "path": "/data/copied"}],
        [{"op": "test", "path": "/data/m", "value": "2"}, {"op": "add", "path": "/data/t", "value": "1"}],
        [{"op": "test", "path": "/data/m", "value": "3"}],
        [{"op": "test", "path": "/data/none", "value": None}],
        [{"op": "add", "path": "/metadata/finalizers/-", "value": "example.com/b"}],
        [{"op": "add", "path": "/metadata/finalizers/0", "value": "example.com/c"}],
        [{"op": "remove", "path": "/metadata/finalizers/7"}],
        [{"op": "remove", "path": "/metadata/finalizers"}],
        [{"op": "add", "path": "/deep/down", "value": 1}],
        [{"op": "add", "path": "", "value": {}}],
        [{"op": "replace", "path": "", "value": {"data": {}}}],
        [{"op": "jump", "path": "/data"}],
        [{"op": "add", "path": "data", "value": {}}],
        [{"op": "add", "path": "/data"}],
        [{"path": "/data"}],
        [{"op": "add", "path": "/data/x", "value": 1}],
        [{"op": "replace", "path": "/metadata/name", "value": "b"}],
        [{"op": "replace", "path": "/metadata/resourceVersion", "value": "1"}],
        [],
        {},
        ["text"],
    ):
        await talk.patch(path, operations, JSON_PATCH, dryRun="All")


CONTAINER: JSON = {
    "name": "c",
    "image": "i:1",
    "env": [{"name": "A", "value": "1"}],
    "ports": [{"containerPort": 1}],
}
POD: JSON = {
    "metadata": {"name": "p"},
    "spec": {
        "schedulerName": "none",
        "automountServiceAccountToken": False,
        "tolerations": [{"key": "a", "operator": "Exists"}],
        "containers": [CONTAINER, {"name": "d", "image": "i:1"}],
    },
}


@check
async def strategic_patches_merge_lists_by_key(talk: Conversation) -> None:
    path = talk.at("pods", "p")
    await talk.post(talk.at("pods"), POD)
    for body in (
        {"spec": {"containers": [{"name": "c", "image": "i:2"}]}},
        {"spec": {"containers": [{"name": "e", "image": "i:2"}]}},
        {"spec": {"containers": [{"name": "d", "$patch": "delete"}]}},
        {"spec": {"containers": [{"image": "i:3"}]}},
        {"spec": {"$setElementOrder/containers": [{"name": "d"}, {"name": "c"}]}},
        {"spec": {"tolerations": [{"key": "b", "operator": "Exists"}]}},
        {"spec": {"tolerations": [{"key": "a", "operator": "Exists"}, {"key": "c", "operator": "Exists"}]}},
        {"metadata": {"labels": {"a": "1", "b": "2"}}},
        {"metadata": {"labels": {"$patch": "replace", "c": "3"}}},
        {"metadata": {"labels": {"c": None}}},
        {"metadata": {"ownerReferences": [{"uid": "u", "name": "o", "kind": "Pod", "apiVersion": "v1"}]}},
        {"metadata": {"ownerReferences": [{"uid": "u", "$patch": "delete"}]}},
        {"spec": {"$patch": "merge"}},
        {"spec": {"$patch": "unknown"}},
        {"spec": None},
        {"spec": "text"},
        {"spec": {"containers": "text"}},
        {"spec": {"containers": {"name": "c"}}},
        {"spec": {"activeDeadlineSeconds": 100}},
        [],
    ):
        await talk.patch(path, body, STRATEGIC, dryRun="All")
    held = talk.at("configmaps", "a")
    await talk.post(talk.at("configmaps"), {"metadata": {"name": "a", "finalizers": ["example.com/a"]}})
    await talk.patch(held, {"metadata": {"finalizers": ["example.com/b"]}}, STRATEGIC, dryRun="All")
    removed = {"$deleteFromPrimitiveList/finalizers": ["example.com/a"]}
    await talk.patch(held, {"metadata": removed}, STRATEGIC)
    for condition in ("Ready", "ContainersReady"):
        added = {"type": condition, "status": "False", "reason": "r"}
        await talk.patch(f"{path}/status", {"status": {"conditions": [added]}}, STRATEGIC)
    await talk.patch(
        f"{path}/status", {"status": {"conditions": [{"type": "Ready", "$patch": "delete"}]}}, STRATEGIC
    )
    await talk.patch(
        f"{path}/status", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}, MERGE
    )


@check
async def patch_types_that_are_unknown_are_415(talk: Conversation) -> None:
    await talk.post(talk.at("configmaps"), DATA)
    for kind in ("application/json", "text/plain", "application/strategic-merge-patch+yaml"):
        await talk.patch(talk.at("configmaps", "a"), {}, kind)

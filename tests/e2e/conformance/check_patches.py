"""The four patches."""

from tests.e2e.conformance.conversation import (
    APPLY,
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


def applied(**data: str) -> JSON:
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a"}, "data": data}


@check
async def applying_owns_fields(talk: Conversation) -> None:
    path = talk.at("configmaps", "a")
    await talk.apply(path, applied(k="1", m="1"))
    await talk.apply(path, applied(k="1", m="1"))
    await talk.apply(path, applied(k="2"), manager="b")
    await talk.apply(path, applied(k="1"), manager="b")
    await talk.apply(path, applied(k="2", n="1"), manager="b", force="true")
    await talk.apply(path, applied(k="1", m="1"))
    await talk.apply(path, applied(m="1"))
    await talk.apply(path, applied(), manager="b")
    await talk.patch(path, {"data": {"m": "2", "free": "1"}})
    await talk.apply(path, applied(m="1"))
    await talk.apply(path, applied(m="1"), force="true")
    await talk.put(path, {"metadata": {"name": "a"}, "data": {"only": "1"}})
    await talk.apply(path, applied())
    await talk.patch(path, {"metadata": {"managedFields": [{}]}})
    await talk.apply(path, applied(k="5"), manager="c", dryRun="All")


@check
async def what_cannot_be_applied_is_refused(talk: Conversation) -> None:
    path = talk.at("configmaps", "a")
    for body in (
        {"data": {"k": "v"}},
        {"kind": "ConfigMap", "data": {"k": "v"}},
        {"kind": "Secret", "apiVersion": "v1"},
        {"kind": "ConfigMap", "apiVersion": "v2"},
        {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "b"}},
        {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a", "namespace": "other"}},
        {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a", "managedFields": []}},
        {
            "kind": "ConfigMap",
            "apiVersion": "v1",
            "metadata": {"name": "a", "managedFields": [{"manager": "x"}]},
        },
        {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a", "resourceVersion": "1"}},
        {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a", "uid": "u"}},
        {"kind": "ConfigMap", "apiVersion": "v1", "unknown": 1},
        {"kind": "ConfigMap", "apiVersion": "v1", "data": {"k": 1}},
        {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"generateName": "a"}},
        {"kind": "ConfigMap", "apiVersion": "v1"},
        [],
        "text",
    ):
        await talk.apply(path, body, dryRun="All")
    await talk.patch(path, {"kind": "ConfigMap", "apiVersion": "v1"}, APPLY)
    await talk.patch(path, b"a: [", APPLY, fieldManager="a")
    await talk.apply(talk.at("configmaps"), applied(k="1"))


def pod(*containers: JSON, **spec: object) -> JSON:
    body = {
        "schedulerName": "none",
        "automountServiceAccountToken": False,
        "containers": list(containers),
        **spec,
    }
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"}, "spec": body}


@check
async def applying_merges_lists_by_their_keys(talk: Conversation) -> None:
    path = talk.at("pods", "p")
    await talk.apply(path, pod(CONTAINER, tolerations=[{"key": "a", "operator": "Exists"}]))
    await talk.apply(path, pod({"name": "c", "image": "i:2"}), manager="b")
    await talk.apply(path, pod({"name": "c", "image": "i:1"}), manager="b")
    await talk.apply(path, pod({"name": "c", "image": "i:3"}), manager="b", force="true")
    await talk.apply(path, pod({"name": "c", "image": "i:3"}, {"name": "c", "image": "i:3"}), manager="b")
    await talk.apply(path, pod({"image": "i:3"}), manager="b")
    await talk.apply(path, pod({**CONTAINER, "image": "i:3"}, nodeSelector={"a": "b"}))
    status = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"}, "status": {"phase": "Running"}}
    await talk.apply(f"{path}/status", status, manager="kubelet")
    ready = {"type": "Ready", "status": "True"}
    await talk.apply(f"{path}/status", {**status, "status": {"conditions": [ready]}}, manager="kubelet")


@check
async def patch_types_that_are_unknown_are_415(talk: Conversation) -> None:
    await talk.post(talk.at("configmaps"), DATA)
    for kind in ("application/json", "text/plain", "application/strategic-merge-patch+yaml"):
        await talk.patch(talk.at("configmaps", "a"), {}, kind)

"""The four patches."""

from tests.e2e.conformance.conversation import (
    JSON,
    JSON_PATCH,
    MERGE,
    STRATEGIC,
    Conversation,
    asked,
    check,
)

ASKED = asked("patches")

DATA: JSON = {
    "metadata": {"name": "a", "labels": {"l": "1"}, "annotations": {"n": "1"}},
    "data": {"k": "1", "m": "2"},
}


@check
async def merge_patches_merge(talk: Conversation) -> None:
    path = talk.at("configmaps", "a")
    await talk.post(talk.at("configmaps"), DATA)
    for body in ASKED["merge_patches_merge"]:
        await talk.patch(path, body, dryRun="All")
    await talk.patch(path, {"unknown": 1}, fieldValidation="Strict")
    await talk.patch(path, b"{")
    await talk.patch(path, b'{"data":{"k":"1","k":"2"}}', fieldValidation="Strict")


@check
async def json_patches_do_each_operation(talk: Conversation) -> None:
    path = talk.at("configmaps", "a")
    held = {**DATA["metadata"], "finalizers": ["example.com/a"]}
    await talk.post(talk.at("configmaps"), {**DATA, "metadata": held})
    for operations in ASKED["json_patches_do_each_operation"]:
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
    for body in ASKED["strategic_patches_merge_lists_by_key"]:
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

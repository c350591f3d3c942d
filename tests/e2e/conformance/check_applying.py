"""Server-side apply."""

from tests.e2e.conformance.check_patches import CONTAINER
from tests.e2e.conformance.conversation import APPLY, JSON, Conversation, asked, check

ASKED = asked("applying")


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
    for body in ASKED["what_cannot_be_applied_is_refused"]:
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

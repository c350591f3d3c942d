"""CustomResourceDefinitions and their objects."""

from tests.e2e.conformance.conversation import APPLY, JSON, STRATEGIC, Conversation, asked, check

ASKED = asked("custom")

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def schema(**spec: JSON) -> JSON:
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    parts = {"spec": {"type": "object", "properties": spec}, "status": free}
    return {"openAPIV3Schema": {"type": "object", "properties": parts}}


def definition(talk: Conversation, *versions: JSON, **spec: object) -> JSON:
    names = {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]}
    body = {"group": talk.group, "scope": "Namespaced", "names": names, "versions": list(versions), **spec}
    return {"metadata": {"name": f"widgets.{talk.group}"}, "spec": body}


def version(name: str, found: JSON, **more: object) -> JSON:
    return {"name": name, "served": True, "storage": name == "v1", "schema": found, **more}


async def serve(talk: Conversation, body: JSON) -> str:
    """The path of the custom resource's objects, once they are served."""
    heard = await talk.ask("POST", DEFINITIONS, body)
    talk.note(heard.status)
    path = talk.at("widgets", api=f"{talk.group}/v1")

    async def served() -> bool:
        answer = await talk.ask("GET", path)
        schemas = await talk.ask("GET", f"/openapi/v3/apis/{talk.group}/v1")
        return answer.status == 200 and schemas.status == 200

    if heard.status == 201:
        await talk.until(served, "the custom resource is served")
    return path


def widget(talk: Conversation, name: str, api: str = "v1", **spec: object) -> JSON:
    return {"apiVersion": f"{talk.group}/{api}", "kind": "Widget", "metadata": {"name": name}, "spec": spec}


RULES: dict[str, JSON] = ASKED["rules"]


@check
async def schemas_are_enforced(talk: Conversation) -> None:
    path = await serve(talk, definition(talk, version("v1", schema(**RULES))))
    for spec in ASKED["specs"]:
        for validation in ("Strict", "Ignore"):
            await talk.post(path, widget(talk, "w", **spec), dryRun="All", fieldValidation=validation)
    for body in (
        {"apiVersion": f"{talk.group}/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": "text"},
        {"apiVersion": f"{talk.group}/v1", "kind": "Widget", "metadata": {"name": "w"}, "extra": 1},
        {"apiVersion": f"{talk.group}/v1", "kind": "Gadget", "metadata": {"name": "w"}},
        {"apiVersion": f"{talk.group}/v2", "kind": "Widget", "metadata": {"name": "w"}},
        {"metadata": {"name": "w"}},
        {"apiVersion": f"{talk.group}/v1", "kind": "Widget", "metadata": {"name": "w", "labels": {"a": 1}}},
        {"apiVersion": f"{talk.group}/v1", "kind": "Widget", "metadata": {"name": "W_"}},
    ):
        await talk.post(path, body, dryRun="All")


@check
async def custom_objects_are_changed_like_others(talk: Conversation) -> None:
    more = {
        "subresources": {
            "status": {},
            "scale": {
                "specReplicasPath": ".spec.n",
                "statusReplicasPath": ".status.n",
                "labelSelectorPath": ".status.sel",
            },
        }
    }
    fields = {"n": {"type": "integer"}, "keyed": RULES["keyed"], "free": RULES["free"]}
    path = await serve(talk, definition(talk, version("v1", schema(**fields), **more)))
    await talk.post(path, {**widget(talk, "w", n=1), "status": {"n": 5}})
    await talk.put(f"{path}/w", widget(talk, "w", n=2))
    await talk.patch(f"{path}/w", {"spec": {"n": 2}, "status": {"n": 7}})
    await talk.patch(f"{path}/w", {"metadata": {"labels": {"a": "b"}}})
    await talk.patch(
        f"{path}/w/status",
        {"status": {"n": 3, "sel": "a=b"}, "spec": {"n": 9}, "metadata": {"labels": {"c": "d"}}},
    )
    await talk.get(f"{path}/w/status")
    await talk.get(f"{path}/w/scale")
    await talk.patch(f"{path}/w/scale", {"spec": {"replicas": 4}})
    await talk.patch(f"{path}/w/scale", {"spec": {"replicas": -1}})
    await talk.patch(f"{path}/w", {"spec": {"n": 1}}, STRATEGIC)
    await talk.apply(f"{path}/w", widget(talk, "w", keyed=[{"name": "a", "value": 1}]))
    await talk.apply(f"{path}/w", widget(talk, "w", keyed=[{"name": "b"}]), manager="b")
    await talk.apply(f"{path}/w", widget(talk, "w", keyed=[{"name": "a", "value": 2}]), manager="b")
    await talk.apply(f"{path}/w", widget(talk, "w"))
    await talk.patch(f"{path}/x", {**widget(talk, "x"), "status": {"n": 1}}, APPLY, fieldManager="a")
    await talk.patch(f"{path}/x/status", {**widget(talk, "x"), "status": {"n": 1}}, APPLY, fieldManager="s")
    await talk.get(path)
    await talk.watch(path, 2, timeoutSeconds="1")
    await talk.delete(path)
    await talk.get(path)

"""CustomResourceDefinitions and their objects."""

from tests.e2e.conformance.conversation import APPLY, JSON, STRATEGIC, TABLE, Conversation, check

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


RULES: dict[str, JSON] = {
    "size": {"type": "integer", "minimum": 1, "maximum": 9, "multipleOf": 2},
    "ratio": {"type": "number", "exclusiveMaximum": True, "maximum": 1},
    "text": {"type": "string", "minLength": 2, "maxLength": 4, "pattern": "^[a-z]+$"},
    "choice": {"type": "string", "enum": ["a", "b"], "default": "a"},
    "when": {"type": "string", "format": "date-time"},
    "mail": {"type": "string", "format": "email"},
    "port": {"x-kubernetes-int-or-string": True},
    "list": {
        "type": "array",
        "items": {"type": "string"},
        "minItems": 1,
        "maxItems": 2,
        "x-kubernetes-list-type": "set",
    },
    "keyed": {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        "items": {
            "type": "object",
            "required": ["name"],
            "properties": {"name": {"type": "string"}, "value": {"type": "integer", "default": 7}},
        },
    },
    "map": {"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 2},
    "nothing": {"type": "string", "nullable": True},
    "one": {
        "type": "object",
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
    },
    "pod": {
        "type": "object",
        "x-kubernetes-embedded-resource": True,
        "x-kubernetes-preserve-unknown-fields": True,
    },
    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
}


@check
async def schemas_are_enforced(talk: Conversation) -> None:
    path = await serve(talk, definition(talk, version("v1", schema(**RULES))))
    for spec in (
        {},
        {
            "size": 4,
            "ratio": 0.5,
            "text": "abc",
            "list": ["a"],
            "map": {"a": 1},
            "port": "http",
            "nothing": None,
        },
        {"size": 0},
        {"size": 10},
        {"size": 3},
        {"size": "4"},
        {"size": 4.0},
        {"size": 1.5},
        {"size": None},
        {"ratio": 1},
        {"ratio": "x"},
        {"text": "a"},
        {"text": "abcde"},
        {"text": "AB"},
        {"text": 1},
        {"choice": "c"},
        {"choice": None},
        {"when": "soon"},
        {"when": "2020-01-01T00:00:00Z"},
        {"mail": "nobody"},
        {"port": 80},
        {"port": 1.5},
        {"port": {}},
        {"list": []},
        {"list": ["a", "a"]},
        {"list": ["a", "b", "c"]},
        {"list": [1]},
        {"list": "a"},
        {"keyed": [{"name": "a"}, {"name": "a"}]},
        {"keyed": [{}]},
        {"keyed": [{"name": "a"}]},
        {"map": {"a": "x"}},
        {"map": {"a": 1, "b": 2, "c": 3}},
        {"one": {}},
        {"one": {"a": "x"}},
        {"one": {"a": "x", "b": "y"}},
        {"pod": {}},
        {"pod": {"apiVersion": "v1", "kind": "Pod"}},
        {"free": {"a": {"b": [1, None]}}},
        {"unknown": 1},
        {"free": 1},
        {"map": []},
        {"text": "ä"},
    ):
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


@check
async def definitions_are_described(talk: Conversation) -> None:
    columns = [
        {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
        {"name": "Text", "type": "string", "jsonPath": ".spec.text", "priority": 1},
        {"name": "Made", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
        {"name": "All", "type": "string", "jsonPath": ".spec.list[*]"},
    ]
    selectable = [{"jsonPath": ".spec.text"}]
    found = version("v1", schema(**RULES), additionalPrinterColumns=columns, selectableFields=selectable)
    path = await serve(talk, definition(talk, found))
    await talk.post(path, widget(talk, "w", size=4, text="abc", list=["a", "b"]))
    await talk.get(path, accept=TABLE, includeObject="None")
    for selector in ("spec.text=abc", "spec.text!=abc", "spec.size=4", "metadata.name=w"):
        heard = await talk.ask("GET", path, fieldSelector=selector)
        talk.note(selector, heard.status, len(heard.body.get("items") or []))
    await talk.get(f"/apis/{talk.group}")
    found = (await talk.ask("GET", f"/apis/{talk.group}/v1")).body
    for resource in found["resources"]:
        talk.note(resource["name"], resource["kind"], resource.get("shortNames"), sorted(resource["verbs"]))
    document = (await talk.ask("GET", f"/openapi/v3/apis/{talk.group}/v1")).body
    kind = f"{'.'.join(reversed(talk.group.split('.')))}.v1.Widget"
    talk.note(document["components"]["schemas"][kind]["properties"]["spec"])


@check
async def versions_share_their_objects(talk: Conversation) -> None:
    path = await serve(
        talk,
        definition(
            talk, version("v1", schema(n={"type": "integer"})), version("v2", schema(n={"type": "integer"}))
        ),
    )
    await talk.post(path, widget(talk, "a", "v1", n=1))
    other = talk.at("widgets", api=f"{talk.group}/v2")
    await talk.post(other, widget(talk, "b", "v2", n=1))
    await talk.post(other, widget(talk, "c", "v1"))
    for place in (path, other):
        await talk.get(place)
        await talk.get(f"{place}/b")
        await talk.apply(
            f"{place}/b", widget(talk, "b", place.split("/")[3], n=2), manager=place.split("/")[3]
        )
    await talk.get(f"/apis/{talk.group}")


BAD: list[JSON] = [
    {"scope": "Galaxy"},
    {"scope": ""},
    {"group": ""},
    {"names": {"plural": "Widgets", "kind": "Widget"}},
    {"names": {"plural": "widgets", "kind": "widget kind"}},
    {"names": {"plural": "widgets"}},
    {"names": {"plural": "gadgets", "kind": "Widget"}},
    {"versions": []},
    {"versions": [version("v1", {}), version("v1", {})]},
    {"versions": [{**version("v1", schema()), "storage": False}]},
    {"versions": [{**version("v1", schema()), "served": False}]},
    {"versions": [version("v1", {})]},
    {"versions": [version("1v", schema())]},
    {"versions": [version("v1", {"openAPIV3Schema": {"type": "string"}})]},
    {"versions": [version("v1", {"openAPIV3Schema": {}})]},
    {"versions": [version("v1", schema(a={}))]},
    {"versions": [version("v1", schema(a={"type": "odd"}))]},
    {"versions": [version("v1", schema(a={"type": "array"}))]},
    {"versions": [version("v1", schema(a={"type": "string", "default": 1}))]},
    {"versions": [version("v1", schema(a={"type": "string", "pattern": "["}))]},
    {
        "versions": [
            version(
                "v1",
                schema(a={"type": "object", "properties": {}, "additionalProperties": {"type": "string"}}),
            )
        ]
    },
    {"versions": [version("v1", schema(a={"type": "string", "$ref": "#/x"}))]},
    {
        "versions": [
            version("v1", schema(a={"type": "array", "uniqueItems": True, "items": {"type": "string"}}))
        ]
    },
    {
        "versions": [
            version(
                "v1",
                schema(a={"type": "array", "x-kubernetes-list-type": "map", "items": {"type": "object"}}),
            )
        ]
    },
    {
        "versions": [
            version(
                "v1",
                schema(a={"type": "array", "x-kubernetes-list-type": "odd", "items": {"type": "string"}}),
            )
        ]
    },
    {
        "versions": [
            version("v1", schema(a={"type": "string", "x-kubernetes-preserve-unknown-fields": False}))
        ]
    },
    {
        "versions": [
            version("v1", schema(a={"type": "string", "x-kubernetes-validations": [{"rule": "self ="}]}))
        ]
    },
    {
        "versions": [
            version(
                "v1", schema(a={"type": "string", "x-kubernetes-validations": [{"rule": "nothing == 1"}]})
            )
        ]
    },
    {
        "versions": [
            version("v1", schema(a={"type": "object", "oneOf": [{"properties": {"b": {"type": "string"}}}]}))
        ]
    },
    {
        "versions": [
            version("v1", schema(), additionalPrinterColumns=[{"name": "a", "type": "odd", "jsonPath": "x"}])
        ]
    },
    {"versions": [version("v1", schema(), subresources={"scale": {"specReplicasPath": "spec"}})]},
    {"versions": [version("v1", schema(), selectableFields=[{"jsonPath": ".spec.none"}])]},
    {"preserveUnknownFields": True},
]


@check
async def definitions_are_validated(talk: Conversation) -> None:
    for change in BAD:
        body = definition(talk, version("v1", schema()), **change)
        heard = await talk.ask("POST", DEFINITIONS, body, dryRun="All")
        talk.judged(change, heard)


RULED: JSON = {
    "n": {
        "type": "integer",
        "x-kubernetes-validations": [
            {"rule": "self >= oldSelf", "message": "may only grow"},
            {"rule": "self < 100", "message": "too large", "reason": "FieldValueForbidden"},
        ],
    },
    "list": {
        "type": "array",
        "maxItems": 5,
        "items": {"type": "string", "maxLength": 9},
        "x-kubernetes-validations": [
            {"rule": "self.all(x, x.startsWith('a'))"},
            {"rule": "size(self) == 0 || self[0] != 'ab'"},
        ],
    },
    "q": {
        "type": "string",
        "maxLength": 20,
        "x-kubernetes-validations": [{"rule": "self == '' || self.matches('^[0-9]+Gi$')"}],
    },
}


@check
async def rules_in_cel_are_enforced(talk: Conversation) -> None:
    path = await serve(talk, definition(talk, version("v1", schema(**RULED))))
    for spec in (
        {"n": 1},
        {"n": 100},
        {"list": ["a", "b"]},
        {"list": ["ab"]},
        {"list": []},
        {"q": "5Gi"},
        {"q": "5"},
    ):
        await talk.post(path, widget(talk, "w", **spec), dryRun="All")
    await talk.post(path, widget(talk, "w", n=5))
    for value in (4, 5, 6, None):
        await talk.patch(f"{path}/w", {"spec": {"n": value}})

"""Definitions of custom resources: what is refused, what they describe, versions and rules."""

from tests.e2e.conformance.check_custom import DEFINITIONS, RULES, definition, schema, serve, version, widget
from tests.e2e.conformance.conversation import JSON, TABLE, Conversation, asked, check

ASKED = asked("definitions")


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
    *({"versions": [version("v1", schema(a=field))]} for field in ASKED["fields"]),
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
    for spec in ASKED["rules_in_cel_are_enforced"]:
        await talk.post(path, widget(talk, "w", **spec), dryRun="All")
    await talk.post(path, widget(talk, "w", n=5))
    for value in (4, 5, 6, None):
        await talk.patch(f"{path}/w", {"spec": {"n": value}})

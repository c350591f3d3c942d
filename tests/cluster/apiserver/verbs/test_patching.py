from tests.cluster.apiserver.calling import (
    APPLY,
    CONFIGS,
    DEFINITIONS,
    WIDGETS,
    Answer,
    Caller,
    config,
    definition,
    widget,
)

METADATA_UNKNOWN = ['299 - "unknown field \\"metadata\\""']


def warnings_of(answer: Answer) -> list[str]:
    return [value for name, value in answer.response.headers if name == "warning"]


def applied(name: str, **data: str) -> dict[str, object]:
    return {"kind": "ConfigMap", "apiVersion": "v1", **config(name, dict(data))}


def test_an_apply_creates_and_then_changes(api: Caller) -> None:
    made = api.patch(f"{CONFIGS}/a", applied("a", x="1"), APPLY, fieldManager="one")
    (entry,) = made.body["metadata"]["managedFields"]
    assert (made.status, entry["manager"], entry["operation"]) == (201, "one", "Apply")
    assert made.body["metadata"]["uid"]
    again = api.patch(f"{CONFIGS}/a", applied("a", x="1"), APPLY, fieldManager="one")
    assert (again.status, again.body) == (200, made.body)
    text = b"kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\ndata: {x: '2'}\n"
    assert api.patch(f"{CONFIGS}/a", text, APPLY, fieldManager="one").body["data"] == {"x": "2"}


def test_an_apply_writes_only_what_its_path_writes(api: Caller) -> None:
    api.make(DEFINITIONS, definition(subresources={"status": {}}))
    body = widget("a", size=1) | {"status": {"phase": "Early"}}
    assert "status" not in api.patch(f"{WIDGETS}/a", body, APPLY, fieldManager="one").body
    missing = widget("none") | {"status": {"phase": "Ready"}}
    report = widget("a", size=5) | {"status": {"phase": "Ready"}}
    seen = api.patch(f"{WIDGETS}/a/status", report, APPLY, fieldManager="two").body
    assert (seen["spec"], seen["status"]) == ({"size": 1}, {"phase": "Ready"})
    assert api.patch(f"{WIDGETS}/a/status", missing, APPLY, fieldManager="two").status == 400
    assert api.patch(f"{WIDGETS}/none/status", missing, APPLY, fieldManager="two").status == 404

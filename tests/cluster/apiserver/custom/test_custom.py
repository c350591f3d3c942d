from tests.cluster.apiserver.calling import DEFINITIONS, WIDGETS, Caller, definition, seen, widget

DEFINITION = f"{DEFINITIONS}/widgets.example.com"


def test_a_definition_is_served_at_once(api: Caller) -> None:
    assert api.get(WIDGETS).status == 404
    told = list[tuple[str, str]]()
    api.server.when_served(lambda plural, path: told.append((plural, path)))
    made = api.make(DEFINITIONS, definition())
    conditions = {item["type"]: item["status"] for item in made["status"]["conditions"]}
    assert conditions == {"NamesAccepted": "True", "Established": "True"}
    assert api.make(WIDGETS, widget("a", size=1))["metadata"]["generation"] == 1
    listing = api.get(WIDGETS).body
    assert (listing["kind"], listing["items"][0]["kind"]) == ("WidgetList", "Widget")
    assert told == [("widgets.example.com", "/apis/example.com/v1/widgets")]
    assert api.server.collections()["widgets.example.com"] == "/apis/example.com/v1/widgets"


def test_a_changed_definition_is_followed(api: Caller) -> None:
    api.make(DEFINITIONS, definition())
    assert api.get(f"{WIDGETS}/a/status").status == 404
    assert api.put(DEFINITION, definition(subresources={"status": {}})).status == 200
    api.make(WIDGETS, widget("a"))
    assert api.get(f"{WIDGETS}/a/status").status == 200


def test_a_definition_goes_after_its_objects_and_ends_watches(api: Caller) -> None:
    api.make(DEFINITIONS, definition())
    api.make(WIDGETS, widget("a"))
    watch = api.watch(WIDGETS, resourceVersion=str(api.server.revision))
    body = api.delete(DEFINITION).body
    assert body["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
    assert (seen(watch), watch.closed) == ([("DELETED", "a")], True)
    assert (api.get(DEFINITION).status, api.get(WIDGETS).status) == (404, 404)


def test_a_held_object_holds_its_definition(api: Caller) -> None:
    api.make(DEFINITIONS, definition())
    held = widget("a")
    held["metadata"]["finalizers"] = ["example.com/x"]
    api.make(WIDGETS, held)
    api.delete(DEFINITION)
    assert api.get(DEFINITION).status == 200
    api.patch(f"{WIDGETS}/a", {"metadata": {"finalizers": None}})
    assert api.get(DEFINITION).status == 404

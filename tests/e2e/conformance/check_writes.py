"""Creating, replacing and deleting objects."""

from tests.e2e.conformance.conversation import Conversation, asked, check

ASKED = asked("writes")


@check
async def bodies_are_taken_or_refused_field_by_field(talk: Conversation) -> None:
    for body in ASKED["bodies"]:
        for validation in ("Strict", "Warn"):
            await talk.post(talk.at("configmaps"), body, dryRun="All", fieldValidation=validation)


@check
async def malformed_bodies_are_refused(talk: Conversation) -> None:
    path = talk.at("configmaps")
    for body in (b"", b"{", b"null", b"[]", b'"text"', b"1", b"{}", b"\xff", b"--- a"):
        await talk.post(path, body)
        await talk.post(path, body, kind="application/yaml")
    twice = b'{"metadata":{"name":"a"},"data":{"k":"1","k":"2"}}'
    for validation in ("Strict", "Warn", "Ignore", "Other"):
        await talk.post(path, twice, dryRun="All", fieldValidation=validation)
    for kind in ("text/plain", "application/json;charset=utf-8", "application/merge-patch+json", "nonsense"):
        await talk.post(path, {"metadata": {"name": "a"}}, kind=kind, dryRun="All")


@check
async def options_of_writes_are_checked(talk: Conversation) -> None:
    path, body = talk.at("configmaps"), {"metadata": {"name": "a"}}
    for query in (
        {"dryRun": "Some"},
        {"dryRun": ""},
        {"fieldManager": "x" * 129},
        {"fieldManager": "a\tb"},
        {"fieldValidation": "strict"},
        {"pretty": "maybe"},
        {"dryRun": "All", "unknown": "1"},
    ):
        await talk.post(path, body, **query)
    await talk.post(path, body)
    for query in ({"force": "true"}, {"force": "maybe"}, {"dryRun": "No"}):
        await talk.patch(f"{path}/a", {"data": {"k": "v"}}, **query)
        await talk.apply(f"{path}/a", {"kind": "ConfigMap", "apiVersion": "v1", "data": {"k": "v"}}, **query)


@check
async def replacing_is_checked_against_what_is_there(talk: Conversation) -> None:
    path = talk.at("configmaps", "a")
    await talk.put(path, {"metadata": {"name": "a"}})
    made = (await talk.post(talk.at("configmaps"), {"metadata": {"name": "a"}, "data": {"k": "1"}})).body
    for metadata in ASKED["replacing_is_checked_against_what_is_there"]:
        await talk.put(path, {"metadata": metadata, "data": {"k": "1"}})
    await talk.put(path, {**made, "data": {"k": "2"}})
    await talk.put(path, {**made, "data": {"k": "3"}})
    await talk.put(path, {"metadata": {"name": "a"}, "data": {"k": "2"}})
    await talk.put(path, {"metadata": {"name": "a"}, "immutable": True, "data": {"k": "2"}})
    await talk.put(path, {"metadata": {"name": "a"}, "data": {"k": "2"}})
    await talk.put(
        path, {"metadata": {"name": "a", "labels": {"x": "y"}}, "immutable": True, "data": {"k": "2"}}
    )


@check
async def missing_objects_and_resources_are_said(talk: Conversation) -> None:
    await talk.get(talk.at("configmaps", "none"))
    await talk.delete(talk.at("configmaps", "none"))
    await talk.patch(talk.at("configmaps", "none"), {})
    await talk.get(talk.at("nothings"))
    await talk.get(talk.at("nothings", "a"))
    await talk.get("/api/v1/namespaces/conformance-no-such/configmaps")
    await talk.post("/api/v1/namespaces/conformance-no-such/configmaps", {"metadata": {"name": "a"}})
    await talk.get("/apis/none.example.com/v1")
    await talk.get("/apis/apps/v7/deployments")
    await talk.get("/api/v7")
    await talk.get(talk.at("configmaps", "a", "status"))
    await talk.get(talk.at("pods", "a", "nothing"))
    await talk.get("/api/v1/configmaps/a")


@check
async def methods_that_a_path_does_not_have_are_405(talk: Conversation) -> None:
    await talk.post(talk.at("configmaps", "a"), {"metadata": {"name": "a"}})
    await talk.put(talk.at("configmaps"), {"metadata": {"name": "a"}})
    await talk.patch(talk.at("configmaps"), {})
    await talk.post("/api/v1/configmaps", {"metadata": {"name": "a"}})
    await talk.delete("/api/v1/namespaces")
    await talk.get(talk.at("pods", "a", "binding"))
    await talk.get(talk.at("bindings"))
    await talk.get("/apis/authorization.k8s.io/v1/subjectaccessreviews")
    await talk.say("OPTIONS", talk.at("configmaps"))


@check
async def deletion_takes_preconditions_and_options(talk: Conversation) -> None:
    path = talk.at("configmaps", "a")
    made = (await talk.post(talk.at("configmaps"), {"metadata": {"name": "a"}})).body
    for options in ASKED["deletion_takes_preconditions_and_options"]:
        await talk.delete(
            path, {**options, **({} if options.get("unknown") is None else {"dryRun": ["All"]})}
        )
    await talk.delete(path, dryRun="All")
    await talk.delete(path, propagationPolicy="Never")
    await talk.delete(path, {"preconditions": {"uid": made["metadata"]["uid"]}, "gracePeriodSeconds": 5})


@check
async def finalizers_hold_an_object(talk: Conversation) -> None:
    path = talk.at("configmaps", "a")
    await talk.post(
        talk.at("configmaps"), {"metadata": {"name": "a", "finalizers": ["example.com/a", "example.com/b"]}}
    )
    await talk.delete(path)
    await talk.delete(path)
    await talk.post(talk.at("configmaps"), {"metadata": {"name": "a"}})
    await talk.patch(path, {"metadata": {"finalizers": ["example.com/a", "example.com/b", "example.com/c"]}})
    await talk.patch(path, {"metadata": {"finalizers": ["example.com/a"]}, "data": {"k": "v"}})
    await talk.patch(path, {"metadata": {"deletionTimestamp": None}})
    await talk.patch(path, {"metadata": {"finalizers": None}})
    await talk.get(path)


@check
async def deletion_with_a_policy_leaves_its_finalizer(talk: Conversation) -> None:
    for name, policy in (("a", "Foreground"), ("b", "Orphan"), ("c", "Background")):
        held = {"metadata": {"name": name, "finalizers": ["example.com/hold"]}}
        await talk.post(talk.at("configmaps"), held)
        heard = await talk.ask("DELETE", talk.at("configmaps", name), propagationPolicy=policy)
        talk.note(heard.body["metadata"]["finalizers"], "deletionTimestamp" in heard.body["metadata"])
        await talk.ask(
            "PATCH",
            talk.at("configmaps", name),
            {"metadata": {"finalizers": None}},
            "application/merge-patch+json",
        )


@check
async def collections_are_deleted_by_selector(talk: Conversation) -> None:
    for name in ("a", "b", "c"):
        await talk.post(talk.at("configmaps"), {"metadata": {"name": name, "labels": {"n": name}}})
    await talk.delete(talk.at("configmaps"), labelSelector="n in (a,b)", dryRun="All")
    await talk.delete(talk.at("configmaps"), labelSelector="n in (a,b)")
    await talk.get(talk.at("configmaps"), labelSelector="n")
    await talk.delete(talk.at("configmaps"), fieldSelector="metadata.name=c")
    await talk.delete(talk.at("configmaps"), labelSelector="n=a=b")


@check
async def names_are_generated(talk: Conversation) -> None:
    for prefix in ("x-", "x" * 100, "x" * 300, "Bad", "a.b-"):
        heard = await talk.ask(
            "POST", talk.at("configmaps"), {"metadata": {"generateName": prefix}}, dryRun="All"
        )
        talk.note(heard.status, len(heard.body.get("metadata", {}).get("name", "")))
    await talk.post(talk.at("configmaps"), {"metadata": {"generateName": "x-", "name": "y"}})


@check
async def dry_runs_change_nothing(talk: Conversation) -> None:
    path = talk.at("configmaps", "a")
    await talk.post(talk.at("configmaps"), {"metadata": {"name": "a"}}, dryRun="All")
    await talk.get(path)
    await talk.post(talk.at("configmaps"), {"metadata": {"name": "a"}})
    await talk.patch(path, {"data": {"k": "v"}}, dryRun="All")
    await talk.put(path, {"metadata": {"name": "a"}, "data": {"k": "w"}}, dryRun="All")
    await talk.delete(path, dryRun="All")
    await talk.get(path)

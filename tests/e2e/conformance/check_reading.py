"""Lists, selectors, watches and the forms in which objects are shown."""

from tests.e2e.conformance.conversation import JSON, PARTIAL, PARTIAL_LIST, TABLE, Conversation, asked, check

ASKED = asked("reading")

LABELS: dict[str, JSON] = {
    "a": {"app": "x", "n": "1"},
    "b": {"app": "y", "n": "2"},
    "c": {"app": "x"},
    "d": {},
}


async def fill(talk: Conversation) -> None:
    for name, labels in LABELS.items():
        await talk.ask(
            "POST", talk.at("configmaps"), {"metadata": {"name": name, "labels": labels | {"t": "1"}}}
        )


@check
async def label_selectors_choose(talk: Conversation) -> None:
    await fill(talk)
    for text in ASKED["label_selectors"]:
        heard = await talk.ask(
            "GET", talk.at("configmaps"), labelSelector=f"{text}" if "t" in text[:1] else text
        )
        found = heard.body.get("items") or []
        names = [item["metadata"]["name"] for item in found if "t" in (item["metadata"].get("labels") or {})]
        talk.note(text, heard.status, heard.body.get("reason"), names)


@check
async def field_selectors_choose(talk: Conversation) -> None:
    await fill(talk)
    for text in ASKED["field_selectors"]:
        heard = await talk.ask("GET", talk.at("configmaps"), fieldSelector=text, labelSelector="t")
        names = [item["metadata"]["name"] for item in heard.body.get("items") or []]
        talk.note(text, heard.status, heard.body.get("reason"), names)
    for resource, text in ASKED["fields_of_kinds"]:
        heard = await talk.ask("GET", talk.at(resource), fieldSelector=text)
        talk.note(resource, text, heard.status, heard.body.get("reason"))
    for path in ("/api/v1/nodes", "/api/v1/namespaces", "/apis/apps/v1/replicasets", "/apis/batch/v1/jobs"):
        for text in ASKED["field_selectors_choose"]:
            heard = await talk.ask("GET", path, fieldSelector=text)
            talk.note(path, text, heard.status, heard.body.get("reason"))


@check
async def pages_follow_one_another(talk: Conversation) -> None:
    await fill(talk)
    path = talk.at("configmaps")
    first = await talk.get(path, limit="3", labelSelector="t")
    more = first.body["metadata"]["continue"]
    await talk.ask("DELETE", talk.at("configmaps", "d"))
    second = await talk.ask("GET", path, limit="3", labelSelector="t", continue_=more)
    talk.note(second.status, [item["metadata"]["name"] for item in second.body["items"]])
    for query in (
        {"limit": "-1"},
        {"limit": "x"},
        {"limit": "0"},
        {"continue_": "nonsense"},
        {"continue_": more, "resourceVersion": "5"},
        {"continue_": more, "resourceVersionMatch": "Exact"},
        {"resourceVersion": "0", "resourceVersionMatch": "Exact"},
        {"resourceVersionMatch": "NotOlderThan"},
        {"resourceVersion": "0", "resourceVersionMatch": "Sometimes"},
        {"resourceVersion": "-1"},
        {"resourceVersion": "x"},
        {"resourceVersion": "0", "resourceVersionMatch": "NotOlderThan"},
        {"sendInitialEvents": "true"},
        {"timeoutSeconds": "x"},
    ):
        heard = await talk.ask("GET", path, labelSelector="t", **query)
        names = [item["metadata"]["name"] for item in heard.body.get("items") or []]
        talk.note(
            query if "continue_" not in query else sorted(query),
            heard.status,
            heard.body.get("reason"),
            names,
        )


@check
async def exact_versions_are_snapshots(talk: Conversation) -> None:
    await fill(talk)
    path = talk.at("configmaps")
    version = (await talk.ask("GET", path)).body["metadata"]["resourceVersion"]
    await talk.ask("DELETE", talk.at("configmaps", "a"))
    for match in ("Exact", "NotOlderThan", ""):
        query = {"resourceVersion": version, "labelSelector": "t"} | (
            {"resourceVersionMatch": match} if match else {}
        )
        for limit in ({}, {"limit": "2"}):
            heard = await talk.ask("GET", path, **query, **limit)
            names = [item["metadata"]["name"] for item in heard.body["items"]]
            talk.note(match, limit, names, heard.body["metadata"]["resourceVersion"] == version)


@check
async def watches_tell_each_change(talk: Conversation) -> None:
    path = talk.at("configmaps")
    version = (await talk.ask("GET", path)).body["metadata"]["resourceVersion"]
    await talk.ask("POST", path, {"metadata": {"name": "w", "labels": {"t": "1"}}})
    await talk.ask("PATCH", f"{path}/w", {"data": {"k": "1"}}, "application/merge-patch+json")
    await talk.ask("PATCH", f"{path}/w", {"data": {"k": "1"}}, "application/merge-patch+json")
    await talk.ask("PATCH", f"{path}/w", {"metadata": {"labels": {"t": "2"}}}, "application/merge-patch+json")
    await talk.ask("PATCH", f"{path}/w", {"metadata": {"labels": {"t": "1"}}}, "application/merge-patch+json")
    await talk.ask("DELETE", f"{path}/w")
    await talk.watch(path, 5, resourceVersion=version, fieldSelector="metadata.name=w")
    await talk.watch(path, 5, resourceVersion=version, labelSelector="t=1")
    await talk.watch(path, 2, resourceVersion=version, labelSelector="t=2")


@check
async def watches_are_opened_in_each_way(talk: Conversation) -> None:
    await fill(talk)
    path, last = talk.at("configmaps"), {"timeoutSeconds": "1"}
    only = {"labelSelector": "t", **last}
    await talk.watch(path, 4, **only)
    await talk.watch(path, 4, resourceVersion="0", **only)
    initial = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
    await talk.watch(path, 5, allowWatchBookmarks="true", **initial, **only)
    await talk.watch(path, 4, **initial, **only)
    await talk.watch(path, 1, sendInitialEvents="false", resourceVersionMatch="NotOlderThan", **only)
    for query in ASKED["watches_are_opened_in_each_way"]:
        heard = await talk.ask("GET", path, watch="true", **query)
        words = heard.body if isinstance(heard.body, dict) else {}
        talk.note(sorted(query), heard.status, words.get("reason") or words.get("type"))


@check
async def one_object_can_be_watched(talk: Conversation) -> None:
    await fill(talk)
    await talk.watch(talk.at("configmaps", "a"), 1, timeoutSeconds="1")
    await talk.watch(
        "/api/v1/configmaps",
        1,
        fieldSelector=f"metadata.name=a,metadata.namespace={talk.namespace}",
        timeoutSeconds="1",
    )


@check
async def objects_are_shown_as_tables_and_as_metadata(talk: Conversation) -> None:
    await fill(talk)
    path = talk.at("configmaps")
    for accept in (PARTIAL, PARTIAL_LIST):
        await talk.get(f"{path}/a", accept=accept)
        heard = await talk.ask("GET", path, accept=accept, labelSelector="t")
        talk.note(heard.status, heard.body["kind"], heard.body.get("items"))
    for include in ("None", "Metadata", "Object", "Other"):
        table = (await talk.ask("GET", f"{path}/a", accept=TABLE, includeObject=include)).body
        talk.note(include, table.get("columnDefinitions"), [row["object"] for row in table.get("rows") or []])
    for accept in (
        "text/plain",
        "application/json;as=Other;v=v1;g=meta.k8s.io",
        f"{TABLE.replace('v1', 'v7')},application/json",
        "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
        "",
        "application/yaml;q=0.5,application/json",
        "*/*;q=0.1",
    ):
        heard = await talk.ask("GET", f"{path}/a", accept=accept)
        shown = heard.body.get("kind") if isinstance(heard.body, dict) else "text"
        talk.note(accept, heard.status, heard.headers.get("Content-Type", "").partition(";")[0], shown)

"""Discovery, documents, reviews, events: what is beside ordinary objects."""

from typing import Any

from tests.e2e.conformance.conversation import JSON, Conversation, asked, check, path_of

ASKED = asked("server")

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


@check
async def discovery_describes_each_resource(talk: Conversation) -> None:
    for api in ASKED["served"]:
        found = (await talk.ask("GET", path_of(api))).body
        for resource in sorted(found["resources"], key=lambda one: one["name"]):
            if resource["name"].partition("/")[0] in ASKED["embedded"].get(api, ()):
                talk.note(api, {key: value for key, value in resource.items() if key != "storageVersionHash"})
    await talk.get("/apis/apps")


@check
async def aggregated_discovery_says_the_same(talk: Conversation) -> None:
    for root in ("/api", "/apis"):
        found = (await talk.ask("GET", root, accept=AGGREGATED)).body
        talk.note(found["kind"], found["apiVersion"])
        for group in sorted(found["items"], key=lambda item: str(item["metadata"])):
            for one in group["versions"]:
                name = group["metadata"].get("name", "")
                api = f"{name}/{one['version']}" if name else one["version"]
                for resource in one["resources"]:
                    if resource["resource"] in ASKED["embedded"].get(api, ()):
                        talk.note(api, sorted_parts(resource))


def sorted_parts(resource: JSON) -> JSON:
    parts = sorted(resource.get("subresources") or [], key=lambda one: str(one["subresource"]))
    return {**resource, "subresources": parts}


@check
async def openapi_has_every_kind(talk: Conversation) -> None:
    for api in ASKED["served"]:
        heard = await talk.ask("GET", f"/openapi/v3{path_of(api)}")
        schemas: dict[str, Any] = heard.body["components"]["schemas"]
        kinds = [
            [kind["group"], kind["version"], kind["kind"]]
            for found in schemas.values()
            for kind in found.get("x-kubernetes-group-version-kind", [])
        ]
        wanted = [
            kind
            for kind in kinds
            if kind[2] in ("Pod", "Deployment", "Job", "Lease", "ConfigMap", "Node", "Secret")
        ]
        talk.note(api, sorted(wanted))
    pod = (await talk.ask("GET", "/openapi/v3/api/v1")).body["components"]["schemas"][
        "io.k8s.api.core.v1.PodSpec"
    ]
    talk.note(sorted(pod["properties"]))


@check
async def reviews_are_answered(talk: Conversation) -> None:
    root = "/apis/authorization.k8s.io/v1"
    asked = {"namespace": talk.namespace, "verb": "get", "resource": "pods"}
    for kind, spec in (
        ("selfsubjectaccessreviews", {"resourceAttributes": asked}),
        ("selfsubjectaccessreviews", {}),
        ("selfsubjectaccessreviews", {"nonResourceAttributes": {"path": "/x", "verb": "get"}}),
        ("selfsubjectaccessreviews", {"resourceAttributes": asked, "nonResourceAttributes": {"path": "/x"}}),
        ("subjectaccessreviews", {"resourceAttributes": asked}),
    ):
        heard = await talk.ask("POST", f"{root}/{kind}", {"spec": spec})
        talk.judged([kind, spec], heard)
        talk.note(heard.body["status"] == "Failure" or heard.body["status"]["allowed"])


@check
async def events_live_in_two_groups(talk: Conversation) -> None:
    about = {"kind": "Pod", "namespace": talk.namespace, "name": "p"}
    core = {
        "metadata": {"name": "core"},
        "involvedObject": about,
        "reason": "r",
        "message": "m",
        "type": "Normal",
        "firstTimestamp": "2020-01-01T00:00:00Z",
        "count": 2,
        "source": {"component": "c"},
    }
    other = {
        "metadata": {"name": "new"},
        "regarding": about,
        "reason": "r",
        "note": "n",
        "type": "Normal",
        "eventTime": "2020-01-01T00:00:00.000000Z",
        "reportingController": "example.com/c",
        "reportingInstance": "i",
        "action": "a",
    }
    new = talk.at("events", api="events.k8s.io/v1")
    await talk.post(talk.at("events"), core)
    await talk.post(new, other)
    for name in ("core", "new"):
        await talk.get(talk.at("events", name))
        await talk.get(f"{new}/{name}")
    await talk.patch(
        f"{new}/new",
        {"note": "changed", "series": {"count": 2, "lastObservedTime": "2020-01-01T00:00:01.000000Z"}},
    )
    for missing in ("reportingController", "reportingInstance", "action", "eventTime", "reason", "type"):
        body = {key: value for key, value in other.items() if key != missing} | {"metadata": {"name": "x"}}
        await talk.post(new, body, dryRun="All")
    await talk.get(talk.at("events"), fieldSelector="involvedObject.name=p,reason=r,type=Normal")


@check
async def scale_is_a_view_of_an_object(talk: Conversation) -> None:
    template = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"schedulerName": "none", "containers": [{"name": "c", "image": "i"}]},
    }
    body = {
        "metadata": {"name": "s"},
        "spec": {
            "replicas": 0,
            "serviceName": "s",
            "selector": {"matchLabels": {"a": "b"}},
            "template": template,
        },
    }
    where = talk.at("statefulsets", api="apps/v1")
    await talk.ask("POST", where, body)

    async def shown(heard: Any) -> None:
        kept = {key: heard.body.get(key) for key in ("kind", "apiVersion", "spec", "reason")}
        talk.note(heard.status, kept, heard.body.get("status", {}) if heard.status == 200 else "")

    await shown(await talk.ask("GET", f"{where}/s/scale"))
    for scale in ({"replicas": -1}, {"replicas": "two"}, {}):
        await shown(
            await talk.ask(
                "PATCH", f"{where}/s/scale", {"spec": scale}, "application/merge-patch+json", dryRun="All"
            )
        )
    put = {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {"name": "s"},
        "spec": {"replicas": 0},
    }
    await shown(await talk.ask("PUT", f"{where}/s/scale", put))
    await shown(await talk.ask("PUT", f"{where}/s/scale", {**put, "metadata": {"name": "t"}}))
    await shown(await talk.ask("PUT", f"{where}/s/scale", {**put, "kind": "Other"}))


@check
async def an_eviction_is_admitted_as_itself(talk: Conversation) -> None:
    spec = {"schedulerName": "none", "containers": [{"name": "c", "image": "i"}]}
    for name in ("p", "q"):
        await talk.ask("POST", talk.at("pods"), {"metadata": {"name": name}, "spec": spec})
    evictions = talk.at("pods", "p", "eviction")
    for body in (
        {"metadata": {"name": "q"}},
        {"metadata": {"name": "p"}, "deleteOptions": {"dryRun": ["All"]}},
        {"metadata": {"name": "p"}, "deleteOptions": {"preconditions": {"uid": "x"}}},
    ):
        await talk.post(evictions, {"kind": "Eviction", "apiVersion": "policy/v1", **body})
    await talk.post(evictions, {"kind": "Eviction", "apiVersion": "policy/v1", "metadata": {"name": "p"}})
    await talk.get(talk.at("pods", "p"))
    await talk.post(evictions, {"kind": "Eviction", "apiVersion": "policy/v1", "metadata": {"name": "p"}})
    await talk.post(talk.at("pods", "q", "eviction"), {"kind": "Eviction", "apiVersion": "v1"})


@check
async def namespaces_come_and_go(talk: Conversation) -> None:
    where = f"/api/v1/namespaces/{talk.namespace}"
    await talk.post("/api/v1/namespaces", {"metadata": {"name": talk.namespace}})
    await talk.patch(where, {"metadata": {"labels": {"a": "b", "kubernetes.io/metadata.name": "other"}}})
    await talk.patch(where, {"spec": {"finalizers": []}})
    for name in ("Bad_Name", "x" * 64, "default"):
        await talk.post("/api/v1/namespaces", {"metadata": {"name": name}}, dryRun="All")
    await talk.delete("/api/v1/namespaces/default")
    await talk.delete("/api/v1/namespaces/kube-system", dryRun="All")

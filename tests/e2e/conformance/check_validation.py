"""Which objects of built-in kinds are refused, and for which of their fields."""

from tests.e2e.conformance.check_kinds import CONTAINER, PROBE, SELECTOR, TEMPLATE
from tests.e2e.conformance.conversation import JSON, STRATEGIC, Conversation, check

SPECS: list[JSON] = [
    {},
    {"containers": []},
    {"containers": [{}]},
    {"containers": [{"name": "C", "image": ""}]},
    {"containers": [CONTAINER, CONTAINER]},
    {"containers": [{**CONTAINER, "imagePullPolicy": "Sometimes"}]},
    {"containers": [{**CONTAINER, "resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}}]},
    {"containers": [{**CONTAINER, "resources": {"limits": {"example.com/x": "1.5"}}}]},
    {"containers": [{**CONTAINER, "resources": {"requests": {"example.com/x": "1"}}}]},
    {"containers": [{**CONTAINER, "resources": {"limits": {"unknown": "1"}}}]},
    {"containers": [{**CONTAINER, "resources": {"limits": {"cpu": "-1"}}}]},
    {"containers": [{**CONTAINER, "resources": {"limits": {"cpu": "a"}}}]},
    {"containers": [{**CONTAINER, "env": [{"name": "", "value": "x"}]}]},
    {"containers": [{**CONTAINER, "env": [{"name": "A=B", "value": "x"}]}]},
    {"containers": [{**CONTAINER, "ports": [{"containerPort": 0}]}]},
    {"containers": [{**CONTAINER, "ports": [{"containerPort": 70000, "protocol": "XXX"}]}]},
    {"containers": [{**CONTAINER, "volumeMounts": [{"name": "none", "mountPath": "/a"}]}]},
    {
        "containers": [{**CONTAINER, "volumeMounts": [{"name": "v"}]}],
        "volumes": [{"name": "v"}, {"name": "v"}],
    },
    {"containers": [{**CONTAINER, "livenessProbe": {}}]},
    {"containers": [{**CONTAINER, "livenessProbe": {**PROBE, "periodSeconds": -1}}]},
    {"containers": [CONTAINER], "restartPolicy": "Perhaps"},
    {"containers": [CONTAINER], "dnsPolicy": "Perhaps"},
    {"containers": [CONTAINER], "terminationGracePeriodSeconds": -1},
    {"containers": [CONTAINER], "activeDeadlineSeconds": 0},
    {"containers": [CONTAINER], "nodeSelector": {"a b": "c"}},
    {"containers": [CONTAINER], "nodeName": "Not A Node"},
    {"containers": [CONTAINER], "schedulingGates": [{"name": "a"}, {"name": "a"}]},
    {"containers": [CONTAINER], "schedulingGates": [{"name": "a"}], "nodeName": "n"},
    {"containers": [CONTAINER], "tolerations": [{"key": "a", "operator": "Is"}]},
    {"containers": [CONTAINER], "tolerations": [{"operator": "Equal", "value": "x"}]},
    {"containers": [CONTAINER], "tolerations": [{"key": "a", "operator": "Exists", "value": "x"}]},
    {"containers": [CONTAINER], "tolerations": [{"key": "a", "operator": "Exists", "effect": "Never"}]},
    {"containers": [CONTAINER], "tolerations": [{"key": "a", "operator": "Exists", "tolerationSeconds": 5}]},
    {"containers": [CONTAINER], "priorityClassName": "none-such"},
    {"containers": [CONTAINER], "priority": 7},
    {"containers": [CONTAINER], "hostNetwork": True, "hostname": "Not Valid"},
    {"containers": [CONTAINER], "imagePullSecrets": [{}]},
    {"containers": [CONTAINER], "initContainers": [CONTAINER]},
    {"containers": [CONTAINER], "initContainers": [{**CONTAINER, "name": "i", "restartPolicy": "Never"}]},
    {"containers": [CONTAINER], "preemptionPolicy": "Sometimes"},
    {"containers": [CONTAINER], "topologySpreadConstraints": [{"maxSkew": 0}]},
    {
        "containers": [CONTAINER],
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {}}},
    },
    {
        "containers": [CONTAINER],
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["x"]}]},
                        {"matchExpressions": [{"key": "a", "operator": "In"}]},
                        {"matchExpressions": [{"key": "a b", "operator": "Is"}]},
                        {"matchFields": [{"key": "metadata.uid", "operator": "In", "values": ["x"]}]},
                    ]
                },
                "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 0, "preference": {}}],
            }
        },
    },
    {
        "containers": [CONTAINER],
        "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{}]}},
    },
    {"containers": "text"},
    {"containers": [CONTAINER], "unknown": 1},
]


@check
async def pods_are_validated_field_by_field(talk: Conversation) -> None:
    for number, spec in enumerate(SPECS):
        heard = await talk.ask(
            "POST", talk.at("pods"), {"metadata": {"name": f"p{number}"}, "spec": spec}, dryRun="All"
        )
        talk.judged(spec, heard)


OTHERS: list[tuple[str, str, JSON]] = [
    ("apps/v1", "deployments", {}),
    ("apps/v1", "deployments", {"spec": {"selector": {}, "template": TEMPLATE}}),
    ("apps/v1", "deployments", {"spec": {"selector": {"matchLabels": {"b": "c"}}, "template": TEMPLATE}}),
    ("apps/v1", "deployments", {"spec": {"replicas": -1, "selector": SELECTOR, "template": TEMPLATE}}),
    (
        "apps/v1",
        "deployments",
        {"spec": {"selector": SELECTOR, "template": TEMPLATE, "strategy": {"type": "X"}}},
    ),
    (
        "apps/v1",
        "deployments",
        {
            "spec": {
                "selector": SELECTOR,
                "template": TEMPLATE,
                "strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}},
            }
        },
    ),
    (
        "apps/v1",
        "deployments",
        {"spec": {"selector": SELECTOR, "template": {**TEMPLATE, "spec": {"containers": []}}}},
    ),
    (
        "apps/v1",
        "deployments",
        {
            "spec": {
                "selector": SELECTOR,
                "template": {**TEMPLATE, "spec": {"restartPolicy": "Never", "containers": [CONTAINER]}},
            }
        },
    ),
    ("batch/v1", "jobs", {"spec": {"template": TEMPLATE}}),
    ("batch/v1", "jobs", {"spec": {"parallelism": -1, "template": {"spec": {"containers": [CONTAINER]}}}}),
    (
        "batch/v1",
        "jobs",
        {
            "spec": {
                "completionMode": "Odd",
                "template": {"spec": {"restartPolicy": "Never", "containers": [CONTAINER]}},
            }
        },
    ),
    ("batch/v1", "cronjobs", {"spec": {"schedule": "never", "jobTemplate": {}}}),
    ("policy/v1", "poddisruptionbudgets", {"spec": {"minAvailable": 1, "maxUnavailable": 1}}),
    ("policy/v1", "poddisruptionbudgets", {"spec": {"minAvailable": -1}}),
    ("policy/v1", "poddisruptionbudgets", {"spec": {"minAvailable": "150%"}}),
    ("coordination.k8s.io/v1", "leases", {"spec": {"leaseDurationSeconds": 0}}),
    ("coordination.k8s.io/v1", "leases", {"spec": {"renewTime": "soon"}}),
    ("v1", "secrets", {"data": {"a": "no base64!"}}),
    ("v1", "secrets", {"type": "kubernetes.io/tls"}),
    ("v1", "secrets", {"type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": "e30="}}),
    ("v1", "services", {"spec": {}}),
    ("v1", "services", {"spec": {"ports": [{"port": 0}], "type": "Odd"}}),
    ("discovery.k8s.io/v1", "endpointslices", {"addressType": "IPv9"}),
    ("rbac.authorization.k8s.io/v1", "roles", {"rules": [{}]}),
    ("rbac.authorization.k8s.io/v1", "rolebindings", {"roleRef": {"kind": "Role", "name": "x"}}),
    ("v1", "events", {"involvedObject": {"namespace": "other"}}),
]


@check
async def other_kinds_are_validated_too(talk: Conversation) -> None:
    for number, (api, plural, body) in enumerate(OTHERS):
        path = talk.at(plural, api=api)
        heard = await talk.ask("POST", path, {"metadata": {"name": f"o{number}"}, **body}, dryRun="All")
        talk.judged([plural, body], heard)


SPEC_CHANGES: tuple[JSON, ...] = (
    {"containers": [{**CONTAINER, "image": "other"}]},
    {"containers": [{**CONTAINER, "command": ["x"]}]},
    {"containers": [CONTAINER, {**CONTAINER, "name": "d"}]},
    {"activeDeadlineSeconds": 50},
    {"activeDeadlineSeconds": 60},
    {"activeDeadlineSeconds": 40},
    {"tolerations": [{"key": "a", "operator": "Exists"}]},
    {"nodeSelector": {"a": "b"}},
    {"nodeSelector": {"a": "c"}},
    {"nodeName": "n"},
    {"schedulingGates": [{"name": "a/b"}, {"name": "c/d"}]},
    {"schedulingGates": []},
    {"nodeSelector": {"a": "b", "c": "d"}},
    {"schedulerName": "other"},
    {"priority": 5},
    {"terminationGracePeriodSeconds": 1},
    {"restartPolicy": "Never"},
    {"hostNetwork": True},
)
STATUSES: tuple[JSON, ...] = (
    {"phase": "Odd"},
    {"phase": "Running"},
    {"nominatedNodeName": "n"},
    {"conditions": [{"type": "x"}]},
    {"podIP": "10.0.0.1"},
)


@check
async def pods_change_only_where_they_may(talk: Conversation) -> None:
    path = talk.at("pods", "p")
    spec = {"schedulerName": "none", "containers": [CONTAINER], "terminationGracePeriodSeconds": 5}
    spec["automountServiceAccountToken"] = False
    await talk.post(
        talk.at("pods"), {"metadata": {"name": "p"}, "spec": {**spec, "schedulingGates": [{"name": "a/b"}]}}
    )
    for change in SPEC_CHANGES:
        talk.judged(change, await talk.ask("PATCH", path, {"spec": change}, STRATEGIC))
    for status in STATUSES:
        await talk.patch(
            f"{path}/status", {"status": status, "spec": {"priority": 9}, "metadata": {"labels": {"s": "t"}}}
        )
    binding = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}}
    for change in ({"target": {}}, {"target": {"kind": "Pod", "name": "n"}}, {"metadata": {"name": "q"}}, {}):
        await talk.post(f"{path}/binding", {**binding, **change})
    await talk.post(f"{path}/binding", binding)
    await talk.get(path)
    await talk.delete(path)
    await talk.delete(path, {"gracePeriodSeconds": 3})
    await talk.delete(path, {"gracePeriodSeconds": 0})

"""What kinds look like: defaults, tables, validation."""

from tests.e2e.conformance.conversation import JSON, TABLE, Conversation, check, path_of

LABELS = {"app": "a"}
CONTAINER: JSON = {"name": "c", "image": "busybox"}
TEMPLATE: JSON = {"metadata": {"labels": LABELS}, "spec": {"containers": [CONTAINER]}}
SELECTOR: JSON = {"matchLabels": LABELS}
PROBE: JSON = {"httpGet": {"port": 80}}
MINIMAL: list[tuple[str, str, JSON]] = [
    ("v1", "pods", {"spec": {"automountServiceAccountToken": False, "containers": [CONTAINER]}}),
    (
        "v1",
        "pods",
        {
            "spec": {
                "automountServiceAccountToken": False,
                "restartPolicy": "Never",
                "initContainers": [{**CONTAINER, "name": "i", "restartPolicy": "Always"}],
                "containers": [
                    {
                        **CONTAINER,
                        "image": "busybox:1",
                        "livenessProbe": PROBE,
                        "readinessProbe": {"exec": {"command": ["true"]}, "periodSeconds": 5},
                        "startupProbe": {"grpc": {"port": 1}},
                        "ports": [{"containerPort": 80}],
                        "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
                        "resources": {"limits": {"cpu": "1.5", "memory": "1.5Gi", "example.com/x": "1"}},
                        "lifecycle": {"preStop": {"httpGet": {"port": 1}}},
                        "volumeMounts": [{"name": "v", "mountPath": "/v"}],
                    }
                ],
                "volumes": [
                    {"name": "v"},
                    {"name": "w", "configMap": {"name": "c"}},
                    {"name": "s", "secret": {"secretName": "c"}},
                    {"name": "h", "hostPath": {"path": "/"}},
                    {
                        "name": "d",
                        "downwardAPI": {"items": [{"path": "a", "fieldRef": {"fieldPath": "metadata.name"}}]},
                    },
                    {"name": "p", "projected": {"sources": [{"configMap": {"name": "c"}}]}},
                ],
                "tolerations": [{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}],
                "topologySpreadConstraints": [
                    {
                        "maxSkew": 1,
                        "topologyKey": "z",
                        "whenUnsatisfiable": "DoNotSchedule",
                        "labelSelector": SELECTOR,
                    }
                ],
            }
        },
    ),
    ("v1", "configmaps", {}),
    ("v1", "secrets", {"stringData": {"a": "b"}}),
    ("v1", "serviceaccounts", {}),
    ("v1", "endpoints", {"subsets": [{"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 1}]}]}),
    ("apps/v1", "deployments", {"spec": {"selector": SELECTOR, "template": TEMPLATE}}),
    ("apps/v1", "replicasets", {"spec": {"selector": SELECTOR, "template": TEMPLATE}}),
    ("apps/v1", "statefulsets", {"spec": {"selector": SELECTOR, "serviceName": "s", "template": TEMPLATE}}),
    ("apps/v1", "daemonsets", {"spec": {"selector": SELECTOR, "template": TEMPLATE}}),
    (
        "batch/v1",
        "jobs",
        {"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [CONTAINER]}}}},
    ),
    (
        "batch/v1",
        "jobs",
        {
            "spec": {
                "completions": 3,
                "completionMode": "Indexed",
                "backoffLimitPerIndex": 1,
                "template": {"spec": {"restartPolicy": "Never", "containers": [CONTAINER]}},
            }
        },
    ),
    (
        "batch/v1",
        "cronjobs",
        {
            "spec": {
                "schedule": "* * * * *",
                "jobTemplate": {
                    "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [CONTAINER]}}}
                },
            }
        },
    ),
    ("coordination.k8s.io/v1", "leases", {"spec": {"holderIdentity": "me", "leaseDurationSeconds": 5}}),
    (
        "discovery.k8s.io/v1",
        "endpointslices",
        {"addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"]}], "ports": [{"port": 1}]},
    ),
    ("policy/v1", "poddisruptionbudgets", {"spec": {"minAvailable": 1, "selector": SELECTOR}}),
    ("policy/v1", "poddisruptionbudgets", {"spec": {"maxUnavailable": "50%", "selector": SELECTOR}}),
    (
        "rbac.authorization.k8s.io/v1",
        "roles",
        {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]},
    ),
    (
        "rbac.authorization.k8s.io/v1",
        "rolebindings",
        {
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
            "subjects": [{"kind": "ServiceAccount", "name": "s"}, {"kind": "User", "name": "u"}],
        },
    ),
]
CLUSTER: list[tuple[str, str, JSON]] = [
    (
        "v1",
        "nodes",
        {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}, "status": {"capacity": {"cpu": "4"}}},
    ),
    ("scheduling.k8s.io/v1", "priorityclasses", {"value": 5}),
    ("storage.k8s.io/v1", "storageclasses", {"provisioner": "example.com/x"}),
    (
        "rbac.authorization.k8s.io/v1",
        "clusterroles",
        {"rules": [{"nonResourceURLs": ["/x"], "verbs": ["get"]}]},
    ),
    (
        "admissionregistration.k8s.io/v1",
        "validatingadmissionpolicies",
        {
            "spec": {
                "matchConstraints": {
                    "resourceRules": [
                        {
                            "apiGroups": ["x.example.com"],
                            "apiVersions": ["v1"],
                            "operations": ["CREATE"],
                            "resources": ["y"],
                        }
                    ]
                },
                "validations": [{"expression": "true"}],
            }
        },
    ),
    (
        "admissionregistration.k8s.io/v1",
        "validatingadmissionpolicybindings",
        {"spec": {"policyName": "p", "validationActions": ["Deny"]}},
    ),
    (
        "admissionregistration.k8s.io/v1",
        "mutatingwebhookconfigurations",
        {
            "webhooks": [
                {
                    "name": "a.b.example.com",
                    "clientConfig": {"service": {"name": "s", "namespace": "n"}},
                    "sideEffects": "None",
                    "admissionReviewVersions": ["v1"],
                    "rules": [
                        {
                            "apiGroups": ["x.example.com"],
                            "apiVersions": ["v1"],
                            "operations": ["CREATE"],
                            "resources": ["y"],
                        }
                    ],
                }
            ]
        },
    ),
    (
        "admissionregistration.k8s.io/v1",
        "validatingwebhookconfigurations",
        {
            "webhooks": [
                {"name": "a", "clientConfig": {"url": "ftp://x"}, "rules": [{"operations": ["LOOK"]}]}
            ]
        },
    ),
]


@check
async def every_kind_gets_its_defaults(talk: Conversation) -> None:
    for number, (api, plural, body) in enumerate(MINIMAL):
        path = talk.at(plural, api=api)
        await talk.post(
            path, {"metadata": {"name": f"k{number}"}, **body}, dryRun="All", fieldValidation="Strict"
        )
    for api, plural, body in CLUSTER:
        path = f"{path_of(api)}/{plural}"
        await talk.post(
            path, {"metadata": {"name": talk.namespace}, **body}, dryRun="All", fieldValidation="Strict"
        )


@check
async def every_kind_is_shown_as_a_table(talk: Conversation) -> None:
    for api, plural in dict.fromkeys((api, plural) for api, plural, _ in MINIMAL):
        heard = await talk.ask("GET", talk.at(plural, api=api), accept=TABLE)
        columns = heard.body.get("columnDefinitions", [])
        talk.note(plural, [[c["name"], c["type"], c["format"], c["priority"]] for c in columns])
    names = dict.fromkeys((api, plural) for api, plural, _ in CLUSTER)
    for api, plural in names:
        heard = await talk.ask(
            "GET", f"{path_of(api)}/{plural}", accept=TABLE, fieldSelector="metadata.name=none"
        )
        columns = heard.body.get("columnDefinitions", [])
        talk.note(plural, [[c["name"], c["type"], c["format"], c["priority"]] for c in columns])

"""Field numbers of the messages that kubectl's typed commands send.

From the `generated.proto` files of `k8s.io/api` and `k8s.io/apimachinery` 1.36; field numbers never change.
"""

Message = dict[int, tuple[str, str]]
"""Number -> name and type: a scalar, a message, `[]` before what a list holds, `{}` before a map's values."""

KINDS = frozenset(
    {
        "ConfigMap",
        "DeleteOptions",
        "Eviction",
        "Namespace",
        "PodDisruptionBudget",
        "PriorityClass",
        "Secret",
        "SelfSubjectAccessReview",
        "SelfSubjectReview",
        "SelfSubjectRulesReview",
        "ServiceAccount",
    }
)
"""Messages that may be a whole body."""

_META: tuple[str, str] = ("metadata", "ObjectMeta")

MESSAGES: dict[str, Message] = {
    "ObjectMeta": {
        1: ("name", "string"),
        2: ("generateName", "string"),
        3: ("namespace", "string"),
        4: ("selfLink", "string"),
        5: ("uid", "string"),
        6: ("resourceVersion", "string"),
        7: ("generation", "int"),
        8: ("creationTimestamp", "time"),
        9: ("deletionTimestamp", "time"),
        10: ("deletionGracePeriodSeconds", "int"),
        11: ("labels", "{}string"),
        12: ("annotations", "{}string"),
        14: ("finalizers", "[]string"),
    },
    "ConfigMap": {
        1: _META,
        2: ("data", "{}string"),
        3: ("binaryData", "{}bytes"),
        4: ("immutable", "bool"),
    },
    "DeleteOptions": {
        1: ("gracePeriodSeconds", "int"),
        2: ("preconditions", "Preconditions"),
        3: ("orphanDependents", "bool"),
        4: ("propagationPolicy", "string"),
        5: ("dryRun", "[]string"),
    },
    "Preconditions": {1: ("uid", "string"), 2: ("resourceVersion", "string")},
    "Eviction": {1: _META, 2: ("deleteOptions", "DeleteOptions")},
    "Namespace": {1: _META, 2: ("spec", "NamespaceSpec"), 3: ("status", "NamespaceStatus")},
    "NamespaceSpec": {1: ("finalizers", "[]string")},
    "NamespaceStatus": {1: ("phase", "string")},
    "PodDisruptionBudget": {1: _META, 2: ("spec", "BudgetSpec"), 3: ("status", "BudgetStatus")},
    "BudgetSpec": {
        1: ("minAvailable", "number or text"),
        2: ("selector", "LabelSelector"),
        3: ("maxUnavailable", "number or text"),
        4: ("unhealthyPodEvictionPolicy", "string"),
    },
    "BudgetStatus": {
        1: ("observedGeneration", "int"),
        3: ("disruptionsAllowed", "int"),
        4: ("currentHealthy", "int"),
        5: ("desiredHealthy", "int"),
        6: ("expectedPods", "int"),
    },
    "LabelSelector": {1: ("matchLabels", "{}string"), 2: ("matchExpressions", "[]Requirement")},
    "Requirement": {1: ("key", "string"), 2: ("operator", "string"), 3: ("values", "[]string")},
    "PriorityClass": {
        1: _META,
        2: ("value", "int"),
        3: ("globalDefault", "bool"),
        4: ("description", "string"),
        5: ("preemptionPolicy", "string"),
    },
    "Secret": {
        1: _META,
        2: ("data", "{}bytes"),
        3: ("type", "string"),
        4: ("stringData", "{}string"),
        5: ("immutable", "bool"),
    },
    "SelfSubjectAccessReview": {1: _META, 2: ("spec", "AccessSpec"), 3: ("status", "AccessStatus")},
    "AccessSpec": {
        1: ("resourceAttributes", "ResourceAttributes"),
        2: ("nonResourceAttributes", "NonResourceAttributes"),
    },
    "AccessStatus": {
        1: ("allowed", "bool"),
        2: ("reason", "string"),
        3: ("evaluationError", "string"),
        4: ("denied", "bool"),
    },
    "ResourceAttributes": {
        1: ("namespace", "string"),
        2: ("verb", "string"),
        3: ("group", "string"),
        4: ("version", "string"),
        5: ("resource", "string"),
        6: ("subresource", "string"),
        7: ("name", "string"),
    },
    "NonResourceAttributes": {1: ("path", "string"), 2: ("verb", "string")},
    "SelfSubjectReview": {1: _META, 2: ("status", "IdentityStatus")},
    "IdentityStatus": {1: ("userInfo", "UserInfo")},
    "UserInfo": {1: ("username", "string"), 2: ("uid", "string"), 3: ("groups", "[]string")},
    "SelfSubjectRulesReview": {1: _META, 2: ("spec", "RulesSpec"), 3: ("status", "RulesStatus")},
    "RulesSpec": {1: ("namespace", "string")},
    "RulesStatus": {3: ("incomplete", "bool"), 4: ("evaluationError", "string")},
    "ServiceAccount": {
        1: _META,
        3: ("imagePullSecrets", "[]LocalObjectReference"),
        4: ("automountServiceAccountToken", "bool"),
    },
    "LocalObjectReference": {1: ("name", "string")},
}

"""What kube-apiserver 1.36 serves and this server does not (yet).

Asking for one of these is answered with 501: a 404 would look like an older cluster, and an empty list like one
where the thing works. Of `NEVER_ANY` only the making is: operators that follow them would else not start.
"""

_PLURALS = {
    "": "componentstatuses persistentvolumeclaims persistentvolumes podtemplates "
    "replicationcontrollers resourcequotas",
    "apiregistration.k8s.io": "apiservices",
    "apps": "controllerrevisions",
    "autoscaling": "horizontalpodautoscalers",
    "certificates.k8s.io": "certificatesigningrequests",
    "flowcontrol.apiserver.k8s.io": "flowschemas prioritylevelconfigurations",
    "networking.k8s.io": "ingresses ingressclasses ipaddresses networkpolicies servicecidrs",
    "resource.k8s.io": "deviceclasses resourceclaims resourceclaimtemplates resourceslices",
    "storage.k8s.io": "csidrivers csistoragecapacities volumeattachments volumeattributesclasses",
}

UNSERVED: dict[str, frozenset[str]] = {group: frozenset(text.split()) for group, text in _PLURALS.items()}
"""By group (empty for core): plurals of resources."""

UNSERVED_PATHS = frozenset(
    {"", "/openapi/v2", "/logs", "/openid/v1/jwks", "/.well-known/openid-configuration"}
)
"""Paths beside the API, without a slash at the end."""

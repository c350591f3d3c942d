"""Reviews: questions in the form of an object.

Stands for TokenReview and the access reviews of kube-apiserver. This server authenticates nobody and allows
everything: whoever reaches it is an administrator.
"""

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import Cause, invalid
from gpuyard_cluster.apiserver.kinds.resources import Resource

USER: JSON = {"username": "kubernetes-admin", "groups": ["system:masters", "system:authenticated"]}
"""Who every caller is."""


def answer(resource: Resource, review: JSON) -> JSON:
    """The review with its status; 422 when the question makes no sense."""
    spec = review.get("spec") or {}
    causes = _causes(resource.kind, spec)
    if causes:
        raise invalid(resource.qualified_kind, "", causes)
    answered = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": {}, "spec": spec}
    return {**answered, "status": _status(resource.kind, spec)}


def _status(kind: str, spec: JSON) -> JSON:
    if kind == "TokenReview":
        return {"user": {}, "error": "this server issues no tokens"}
    if kind == "SelfSubjectReview":
        return {"userInfo": USER}
    if kind == "SelfSubjectRulesReview":
        everything = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
        paths = {"verbs": ["*"], "nonResourceURLs": ["*"]}
        return {"resourceRules": [everything], "nonResourceRules": [paths], "incomplete": False}
    return {"allowed": True}


def _causes(kind: str, spec: JSON) -> list[Cause]:
    if kind not in ("SubjectAccessReview", "LocalSubjectAccessReview", "SelfSubjectAccessReview"):
        return []
    causes = []
    resource, other = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if resource is not None and other is not None:
        message = "Invalid value: cannot be specified in combination with resourceAttributes"
        causes.append(Cause("spec.nonResourceAttributes", "FieldValueInvalid", message))
    if resource is None and other is None:
        message = (
            "Invalid value: exactly one of nonResourceAttributes or resourceAttributes must be specified"
        )
        causes.append(Cause("spec.resourceAttributes", "FieldValueInvalid", message))
    if kind != "SelfSubjectAccessReview" and not spec.get("user") and not spec.get("groups"):
        message = 'Invalid value: "": at least one of user or group must be specified'
        causes.append(Cause("spec.user", "FieldValueInvalid", message))
    return causes

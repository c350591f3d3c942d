"""Reviews: questions in the form of an object.

Stands for TokenReview and the access reviews of kube-apiserver. Law: the answer is what would really happen, so it
comes from where requests are judged (`auth`).
"""

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.auth import authorization
from gpuyard_cluster.apiserver.auth.authentication import Authentication
from gpuyard_cluster.apiserver.auth.users import ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED, User
from gpuyard_cluster.apiserver.errors import Cause, invalid
from gpuyard_cluster.apiserver.kinds.resources import Resource


def answer(resource: Resource, review: JSON, user: User, authentication: Authentication) -> JSON:
    """The review that `user` asks for, with its status; 422 when the question makes no sense."""
    spec = review.get("spec") or {}
    causes = _causes(resource.kind, spec)
    if causes:
        raise invalid(resource.qualified_kind, "", causes)
    answered = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": {}, "spec": spec}
    return {**answered, "status": _status(resource.kind, spec, user, authentication)}


def _status(kind: str, spec: JSON, user: User, authentication: Authentication) -> JSON:
    if kind == "TokenReview":
        return _token_status(spec, authentication)
    if kind == "SelfSubjectReview":
        return {"userInfo": user.info()}
    if kind == "SelfSubjectRulesReview":
        return _rules(user)
    asked = user if kind == "SelfSubjectAccessReview" else _named(spec)
    return _access(asked, (spec.get("nonResourceAttributes") or {}).get("path", ""))


def _token_status(spec: JSON, authentication: Authentication) -> JSON:
    user = authentication.bearer(str(spec.get("token", "")))
    if user is None:
        return {"user": {}, "error": "invalid bearer token"}
    audiences = {"audiences": spec["audiences"]} if spec.get("audiences") else {}
    return {"authenticated": True, "user": user.info(), **audiences}


def _named(spec: JSON) -> User:
    """Whom a review names: authenticated, unless it says otherwise."""
    name, groups = spec.get("user", ""), tuple(spec.get("groups") or ())
    nobody = name == ANONYMOUS.name or UNAUTHENTICATED in groups
    return User(name, groups if nobody else (*groups, AUTHENTICATED))


def _access(user: User, path: str) -> JSON:
    reason = authorization.why(user, path)
    return {"allowed": authorization.may(user, path), **({"reason": reason} if reason else {})}


def _rules(user: User) -> JSON:
    """Everything, or what is open to all."""
    everything = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
    paths = {"verbs": ["*"], "nonResourceURLs": ["*"]}
    if authorization.may(user):
        return {"resourceRules": [everything], "nonResourceRules": [paths], "incomplete": False}
    opened = {"verbs": ["get"], "nonResourceURLs": list(authorization.OPEN)}
    return {"resourceRules": [], "nonResourceRules": [opened], "incomplete": False}


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

"""The options of a DELETE, from its query and its body.

Stands for DeleteOptions of `k8s.io/apimachinery/pkg/apis/meta/v1` and its validation.
"""

from dataclasses import dataclass, field
from typing import Any

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.auth.users import ADMIN, User
from gpuyard_cluster.apiserver.errors import Cause, invalid
from gpuyard_cluster.apiserver.requests import Request
from gpuyard_cluster.apiserver.wire.options import dry_run_causes

_POLICIES = ("Background", "Foreground", "Orphan")
_KIND = "DeleteOptions.meta.k8s.io"


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """`grace` in seconds; `propagation` is Background, Foreground, Orphan, or empty for the default; `user` asks."""

    grace: int | None = None
    propagation: str = ""
    preconditions: JSON = field(default_factory=dict)
    dry_run: bool = False
    user: User = ADMIN


def delete_options(request: Request, body: JSON) -> DeleteOptions:
    """The options of a request; `body` is its decoded body, or empty. The query wins where both speak."""
    grace: Any = request.number("gracePeriodSeconds")
    if grace is None:
        grace = body.get("gracePeriodSeconds")
    policy = request.query.get("propagationPolicy") or body.get("propagationPolicy") or ""
    orphan = request.flag("orphanDependents")
    orphan = body.get("orphanDependents") if orphan is None else orphan
    dry_run = [*([request.query["dryRun"]] if "dryRun" in request.query else []), *_texts(body.get("dryRun"))]
    causes = _policy_causes(policy, orphan)
    causes += [cause for value in dry_run for cause in dry_run_causes(value)]
    if causes:
        raise invalid(_KIND, "", causes)
    if orphan is not None:
        policy = "Orphan" if orphan else "Background"
    return DeleteOptions(grace, policy, body.get("preconditions") or {}, "All" in dry_run, request.user)


def _texts(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


def _policy_causes(policy: str, orphan: bool | None) -> list[Cause]:
    if policy and orphan is not None:
        message = "Invalid value: orphanDependents and deletionPropagation cannot be both set"
        return [Cause("propagationPolicy", "FieldValueInvalid", message)]
    if policy in ("", *_POLICIES):
        return []
    supported = ", ".join(f'"{name}"' for name in _POLICIES)
    message = f'Unsupported value: "{policy}": supported values: {supported}'
    return [Cause("propagationPolicy", "FieldValueNotSupported", message)]

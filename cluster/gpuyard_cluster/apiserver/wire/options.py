"""The options of a write that come in its query.

Stands for CreateOptions, UpdateOptions and PatchOptions of `k8s.io/apimachinery/pkg/apis/meta/v1`.
"""

from dataclasses import dataclass

from gpuyard_cluster.apiserver.auth.users import ADMIN, User
from gpuyard_cluster.apiserver.errors import Cause, invalid
from gpuyard_cluster.apiserver.requests import Request

_LONGEST_MANAGER = 128
_VALIDATIONS = ("Ignore", "Warn", "Strict")


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """`manager` owns the fields that are set, `user` sets them; `validation` says what to do about unknown fields;
    `applied` is whether the object comes out of a server-side apply, which has recorded the manager already."""

    manager: str = "unknown"
    dry_run: bool = False
    validation: str = "Warn"
    force: bool = False
    applied: bool = False
    user: User = ADMIN


def write_options(request: Request) -> WriteOptions:
    """The options of a POST or PUT, or of a PATCH that is no apply."""
    kind = {"POST": "CreateOptions", "PUT": "UpdateOptions"}.get(request.method, "PatchOptions")
    causes = [*dry_run_causes(request.query.get("dryRun", "All")), *_validation_causes(request)]
    causes += _manager_causes(request.query.get("fieldManager", ""))
    force = request.flag("force")
    if force is not None and request.method == "PATCH" and not is_apply(request):
        causes.append(
            Cause("force", "FieldValueForbidden", "Forbidden: may not be specified for non-apply patch")
        )
    if is_apply(request) and not request.query.get("fieldManager"):
        causes.append(
            Cause("fieldManager", "FieldValueRequired", "Required value: is required for apply patch")
        )
    if causes:
        raise invalid(f"{kind}.meta.k8s.io", "", causes)
    return WriteOptions(
        manager=request.query.get("fieldManager") or _agent(request),
        dry_run=request.query.get("dryRun") == "All",
        validation=request.query.get("fieldValidation") or "Warn",
        force=bool(force),
        applied=is_apply(request),
        user=request.user,
    )


def is_apply(request: Request) -> bool:
    """Whether this is a server-side apply."""
    return request.method == "PATCH" and request.content_type in (
        "application/apply-patch+yaml",
        "application/apply-patch+cbor",
    )


def dry_run_causes(value: str) -> list[Cause]:
    """What is wrong with a dryRun option."""
    if value == "All":
        return []
    return [
        Cause("dryRun", "FieldValueNotSupported", f'Unsupported value: "{value}": supported values: "All"')
    ]


def _manager_causes(name: str) -> list[Cause]:
    found = []
    if len(name) > _LONGEST_MANAGER:
        message = f"Too long: may not be more than {_LONGEST_MANAGER} bytes"
        found.append(Cause("fieldManager", "FieldValueTooLong", message))
    if not name.isprintable():
        message = f"Invalid value: {name!r}: should only contain printable characters"
        found.append(Cause("fieldManager", "FieldValueInvalid", message))
    return found


def _validation_causes(request: Request) -> list[Cause]:
    value = request.query.get("fieldValidation", "")
    if value == "" or value in _VALIDATIONS:
        return []
    supported = ", ".join(f'"{name}"' for name in _VALIDATIONS)
    message = f'Unsupported value: "{value}": supported values: {supported}'
    return [Cause("fieldValidation", "FieldValueNotSupported", message)]


def _agent(request: Request) -> str:
    """The manager of a client that names none: the first part of its user agent."""
    return request.headers.get("user-agent", "").partition("/")[0] or "unknown"

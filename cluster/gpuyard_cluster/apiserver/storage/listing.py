"""Reading a list, or a page of it.

Stands for the `List` handler of kube-apiserver. Law: the pages of one list are one snapshot. A continue token names
its revision; once that is forgotten the answer is 410 with a token that goes on from the state of now.
"""

import base64
import binascii
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import orjson

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import ApiError, Cause, bad_request, invalid
from gpuyard_cluster.apiserver.requests import Request
from gpuyard_cluster.apiserver.routing import Target
from gpuyard_cluster.apiserver.selection import selection
from gpuyard_cluster.apiserver.selection.label_syntax import Operator
from gpuyard_cluster.apiserver.storage.storage import Store, Stored, expired
from gpuyard_cluster.apiserver.storage.subscribers import Interest

NOW = -1
"""The revision in a token that goes on from whatever is there now."""
_LIST_OPTIONS = "ListOptions.meta.k8s.io"


@dataclass(frozen=True, slots=True)
class Page:
    """Some objects and their list's metadata."""

    items: list[Stored]
    metadata: JSON


@dataclass(frozen=True, slots=True)
class _Start:
    """Where a page starts: behind the key `after`, in the state at `revision` (NOW: of now)."""

    revision: int = NOW
    after: str = ""

    def token(self) -> str:
        fields = {"v": "meta.k8s.io/v1", "rv": self.revision, "start": self.after}
        return base64.urlsafe_b64encode(orjson.dumps(fields)).decode().rstrip("=")


def matcher(request: Request, target: Target) -> Callable[[Stored], bool]:
    """Which objects the request's selectors and its path choose."""
    labels, fields = request.query.get("labelSelector", ""), request.query.get("fieldSelector", "")
    by_label = selection.labels(labels) if labels else None
    by_field = selection.fields(fields, target.resource) if fields else None
    prefix, only = target.prefix, target.key if target.name else ""

    def matches(stored: Stored) -> bool:
        return (
            stored.key.startswith(prefix)
            and only in ("", stored.key)
            and (by_label is None or by_label.matches(stored.obj))
            and (by_field is None or by_field.matches(stored.obj))
        )

    return matches


def interest(request: Request, target: Target) -> Interest | None:
    """The one field whose value the request's selector fixes, if it fixes any: by it watches are found."""
    fields = selection.fields(request.query.get("fieldSelector", ""), target.resource)
    fixed = (term for term in fields.requirements if term.operator is Operator.IN and len(term.values) == 1)
    return next((Interest(term.key, *term.values) for term in fixed), None)


def page(request: Request, target: Target, store: Store) -> Page:
    """The page of the list that the request asks for."""
    start = _start(request, store)
    at = store.revision if start.revision == NOW else start.revision
    matches = matcher(request, target)
    found = [stored for stored in _state(target, store, start) if matches(stored)]
    limit = request.number("limit") or 0
    limit = limit if limit > 0 else len(found)
    metadata: JSON = {"resourceVersion": str(at)}
    if len(found) > limit:
        metadata["continue"] = _Start(at, found[limit - 1].key).token()
        # With a selector the real server does not know how many are left, and says nothing.
        if not request.query.get("labelSelector") and not request.query.get("fieldSelector"):
            metadata["remainingItemCount"] = len(found) - limit
    return Page(found[:limit], metadata)


def _state(target: Target, store: Store, start: _Start) -> Iterable[Stored]:
    collection = target.resource.store
    if start.revision in (NOW, store.revision):
        return store.scan(collection, target.prefix, start.after)
    try:
        state = store.snapshot(collection, start.revision)
    except ApiError as error:
        if not start.after:
            raise
        metadata = {"continue": _Start(NOW, start.after).token()}
        raise expired("The provided continue parameter is too old", metadata) from error
    return [stored for stored in state if stored.key > start.after]


def _start(request: Request, store: Store) -> _Start:
    token, match = request.query.get("continue", ""), request.query.get("resourceVersionMatch", "")
    revision = request.number("resourceVersion")
    request.number("timeoutSeconds")
    if causes := [*_match_causes(match, revision), *_initial_causes(request)]:
        raise invalid(_LIST_OPTIONS, "", causes)
    if revision is not None and revision < 0:
        raise bad_request(f"invalid resource version {revision}: it is a whole number")
    if token:
        if revision:
            raise bad_request("specifying resource version is not allowed when using continue")
        return _decoded(token)
    if not revision:
        return _Start()
    check_not_future(revision, store)
    # A limit without a match means the exact revision, since before resourceVersionMatch there was.
    exact = match == "Exact" or (not match and bool(request.number("limit")))
    return _Start(revision if exact else NOW)


def _match_causes(match: str, revision: int | None) -> list[Cause]:
    field, forbidden = "resourceVersionMatch", "FieldValueForbidden"
    if match and revision is None:
        return [
            Cause(field, forbidden, f"Forbidden: {field} is forbidden unless resourceVersion is provided")
        ]
    if match == "Exact" and revision == 0:
        return [Cause(field, forbidden, f'Forbidden: {field} "Exact" is forbidden for resourceVersion "0"')]
    if match not in ("", "Exact", "NotOlderThan"):
        message = f'Unsupported value: "{match}": supported values: "Exact", "NotOlderThan", ""'
        return [Cause(field, "FieldValueNotSupported", message)]
    return []


def _initial_causes(request: Request) -> list[Cause]:
    if request.flag("sendInitialEvents") is None:
        return []
    message = "Forbidden: sendInitialEvents is forbidden for list"
    return [Cause("sendInitialEvents", "FieldValueForbidden", message)]


def _decoded(token: str) -> _Start:
    try:
        fields = orjson.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
        return _Start(int(fields["rv"]), str(fields["start"]))
    except (binascii.Error, ValueError, TypeError, KeyError) as error:
        raise bad_request("continue key is not valid: it is not one that this server gave out") from error


def check_not_future(revision: int, store: Store) -> None:
    """504 for a revision that is still to come, as the watch cache answers after waiting for it."""
    if revision > store.revision:
        message = f"Timeout: Too large resource version: {revision}, current: {store.revision}"
        cause = Cause("", "ResourceVersionTooLarge", "Too large resource version")
        raise ApiError(504, "Timeout", message, {"causes": [cause.document()], "retryAfterSeconds": 1})

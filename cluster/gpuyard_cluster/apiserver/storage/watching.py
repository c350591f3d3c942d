"""Opening a watch: from which state, with which events.

Stands for the `Watch` handler of kube-apiserver and the list-watch semantics of its cacher.
"""

from gpuyard_cluster.apiserver.backend import Backend
from gpuyard_cluster.apiserver.errors import ApiError, Cause, invalid
from gpuyard_cluster.apiserver.requests import Request
from gpuyard_cluster.apiserver.routing import Target
from gpuyard_cluster.apiserver.storage.listing import interest, matcher
from gpuyard_cluster.apiserver.storage.storage import Store, expired
from gpuyard_cluster.apiserver.storage.watches import Selection, Watch
from gpuyard_cluster.apiserver.wire.rendering import Renderer

LONGEST = 45 * 60.0
"""Seconds a watch may last when its request names no time (the real server takes 30 to 60 minutes at random)."""


def open_watch(request: Request, target: Target, backend: Backend, renderer: Renderer) -> Watch:
    """A watch with what the request wants to see of the past already in it."""
    store, initial = backend.store, request.flag("sendInitialEvents")
    _check(request, initial)
    revision = request.number("resourceVersion") or 0
    allowed = bool(request.flag("allowWatchBookmarks"))
    watch = Watch(
        Selection(matcher(request, target), renderer.encoded),
        float(request.number("timeoutSeconds") or LONGEST),
        renderer.bookmark if allowed else None,
    )
    from_now = initial or (revision == 0 and initial is None)
    try:
        _catch_up(watch, target, store, None if from_now else revision)
    except ApiError as error:
        watch.fail(error)
        return watch
    if initial:
        watch.mark(store.revision, initial_end=True)
    watch.unsubscribe = store.subscribe(target.resource.store, watch.see, interest(request, target))
    backend.watches.add(target.resource.store, watch)
    return watch


def _catch_up(watch: Watch, target: Target, store: Store, revision: int | None) -> None:
    """Show the changes since `revision`; None: show everything that is there."""
    collection = target.resource.store
    if revision is None:
        for stored in store.scan(collection, target.prefix):
            watch.show(stored)
        return
    if revision > store.revision:
        # This server forgets everything when it ends: the version is from before its start.
        raise expired(f"too old resource version: {revision} (from before this server's start)")
    for change in store.since(collection, revision or store.revision):
        watch.see(change)


def _check(request: Request, initial: bool | None) -> None:
    field, match = "resourceVersionMatch", request.query.get("resourceVersionMatch", "")
    why = ""
    if initial is None and match:
        why = f"{field} is forbidden for watch unless sendInitialEvents is provided"
    elif initial is not None and match != "NotOlderThan":
        why = f'sendInitialEvents requires setting {field} to "NotOlderThan"'
    if why:
        raise invalid(
            "ListOptions.meta.k8s.io", "", [Cause(field, "FieldValueForbidden", f"Forbidden: {why}")]
        )

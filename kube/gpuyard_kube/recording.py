"""Events for people, as `kubectl describe` and `kubectl events` show them.

Stands for client-go's EventRecorder and its correlator. Events are best effort: one that is not taken is lost. The
same words about the same object are one event with a count.
"""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gpuyard.writes import JSON, PatchType, Write
from gpuyard_kube.api import Api
from gpuyard_kube.runtime import Runtime
from gpuyard_kube.timestamps import rfc3339

REMEMBERED = 4096
"""So many events are known to be there already (maxLruCacheEntries)."""
LONGEST = 1024
"""The API server takes so many characters of text."""
SIMILAR = 10
"""Of more events with one reason about one object, all others become one (defaultAggregateMaxEvents)."""
BURST, REFILL_SECONDS = 25, 300.0
"""So many events one component may write about one object at once; each takes so long to be allowed again."""


@dataclass(frozen=True, slots=True)
class Source:
    """Who tells: a component, and the node that it runs on (empty for those of the control plane)."""

    component: str
    host: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """What happened to an object. `part` is a path within it, such as `spec.containers{main}`."""

    about: JSON
    reason: str
    text: str
    warning: bool = False
    part: str = ""


@dataclass(slots=True)
class _Account:
    """What one component has written about one object."""

    tokens: float = BURST
    since: float = 0.0
    texts: dict[str, set[str]] = field(default_factory=dict)
    seen: dict[str, tuple[str, int]] = field(default_factory=dict)
    """What was told -> the name of the event, and how often."""


class Recorder:
    """Writes events beside the caller's other work."""

    def __init__(self, api: Api, runtime: Runtime) -> None:
        self._api, self._runtime = api, runtime
        self._accounts: dict[tuple[Source, str], _Account] = {}

    def record(self, source: Source, told: Told) -> None:
        """Tell once more, or for the first time."""
        key, now = (source, told.about["metadata"]["uid"]), self._runtime.now()
        account = self._accounts[key] = self._accounts.pop(key, _Account(since=now))
        if len(self._accounts) > REMEMBERED:
            del self._accounts[next(iter(self._accounts))]
        if not _pays(account, now):
            return
        gathered = _gathered(account, told)
        name, count = _count(account, source, gathered, now)
        post = self._post(source, gathered, name, count, now)
        self._runtime.spawn(post, f"event {told.reason} {told.about['metadata']['name']}")

    async def _post(self, source: Source, told: Told, name: str, count: int, now: float) -> None:
        """Events do not live long: one that is counted on may have gone, after an hour as a rule."""
        if count == 1 or (await self._api.send(_again(told, name, count, now))).status == 404:
            await self._api.send(event(source, told, name, now, count))


def _pays(account: _Account, now: float) -> bool:
    account.tokens = min(BURST, account.tokens + (now - account.since) / REFILL_SECONDS)
    account.since = now
    if account.tokens < 1:
        return False
    account.tokens -= 1
    return True


def _gathered(account: _Account, told: Told) -> Told:
    """The event, or the one that stands for all further ones of its kind."""
    texts = account.texts.setdefault(f"{told.reason} {told.part}", set())
    if told.text not in texts and len(texts) >= SIMILAR:
        return replace(told, text=f"(combined from similar events): {told.text}")
    texts.add(told.text)
    return told


def _count(account: _Account, source: Source, told: Told, now: float) -> tuple[str, int]:
    """The name of the event, and how often it has been told with this time."""
    combined = told.text.startswith("(combined")
    key = f"{told.reason} {told.part} {'' if combined else told.text}"
    name, count = account.seen.get(key) or (_name(source, told, now), 0)
    account.seen[key] = name, count + 1
    return account.seen[key]


def event(source: Source, told: Told, name: str, now: float, count: int = 1) -> Write:
    """Create the event under this name."""
    namespace = told.about["metadata"].get("namespace") or "default"
    body: JSON = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": namespace},
        "involvedObject": _reference(told),
        "type": "Warning" if told.warning else "Normal",
        "reason": told.reason,
        "message": told.text[:LONGEST],
        "source": {"component": source.component, **({"host": source.host} if source.host else {})},
        "reportingComponent": source.component,
        "reportingInstance": source.host,
        "firstTimestamp": rfc3339(now),
        "lastTimestamp": rfc3339(now),
        "count": count,
    }
    return Write("POST", f"/api/v1/namespaces/{namespace}/events", body)


def _name(source: Source, told: Told, now: float) -> str:
    """The time as client-go writes it, and what else tells two events of one moment apart."""
    words = " ".join((source.component, told.reason, told.text, told.part))
    return f"{told.about['metadata']['name']}.{int(now * 1e9):x}{zlib.crc32(words.encode()) & 0xFFFF:04x}"


def _again(told: Told, name: str, count: int, now: float) -> Write:
    namespace = told.about["metadata"].get("namespace") or "default"
    change = {"count": count, "message": told.text[:LONGEST], "lastTimestamp": rfc3339(now)}
    return Write("PATCH", f"/api/v1/namespaces/{namespace}/events/{name}", change, PatchType.STRATEGIC)


def _reference(told: Told) -> Mapping[str, str]:
    metadata = told.about["metadata"]
    found = {
        "apiVersion": told.about["apiVersion"],
        "kind": told.about["kind"],
        "namespace": metadata.get("namespace", ""),
        "name": metadata["name"],
        "uid": metadata["uid"],
        "resourceVersion": metadata.get("resourceVersion", ""),
        "fieldPath": told.part,
    }
    return {key: value for key, value in found.items() if value}

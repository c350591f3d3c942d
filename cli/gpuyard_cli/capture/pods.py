"""A pod as a trace will have it, from its object at one moment.

Law: a pod that cannot be read is one ValueError that says why; an amount that is no quantity counts as nothing, as it
does to kube-scheduler.
"""

import datetime
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gpuyard import vocabulary
from gpuyard.pods import amounts, memberships, requests
from gpuyard.pods.amounts import CPU, MEMORY, MIB
from gpuyard.pods.wishes import Wishes
from gpuyard.verdicts import Rejection
from gpuyard.writes import JSON
from gpuyard_cli.scenarios.observation import is_live


@dataclass(frozen=True, slots=True)
class PodRecord:
    """Times are seconds since the epoch. `devices`: what it asks for, by resource; `node` is empty until bound."""

    namespace: str
    name: str
    cpu: int
    memory: int
    devices: Mapping[str, int]
    wishes: Wishes
    product: str
    """The GPU model that its nodeSelector names, if any."""
    node: str
    gang: str
    priority: int
    qos: str
    phase: str
    created: int
    scheduled: int | None
    ended: int | None
    gone: bool = False
    """Whether it is known to have ended, if not when."""


def recorded(pod: JSON, now: int) -> PodRecord:
    """The pod as it is. `now` stands for times that the object lacks. ValueError: it cannot be read."""
    try:
        request = requests.parse(pod)
        if isinstance(request, Rejection):
            raise ValueError(request.detail)
        metadata, spec, status = pod["metadata"], pod["spec"], pod.get("status") or {}
        booked = amounts.requests_of(pod)
        phase, node = str(status.get("phase") or "Pending"), str(spec.get("nodeName") or "")
        created = _seconds(metadata.get("creationTimestamp"), now)
        return PodRecord(
            namespace=request.namespace,
            name=str(metadata["name"]),
            cpu=booked.get(CPU, 0),
            memory=-(-booked.get(MEMORY, 0) // MIB),
            devices=request.totals,
            wishes=request.wishes,
            product=str((spec.get("nodeSelector") or {}).get(vocabulary.PRODUCT_LABEL) or ""),
            node=node,
            gang=memberships.claimed(pod) or "",
            priority=int(spec.get("priority") or 0),
            qos=str(status.get("qosClass") or ""),
            phase=phase,
            created=created,
            scheduled=max(created, _scheduled(status, created)) if node else None,
            ended=None if is_live(pod) else _ended(status, now),
        )
    except (AttributeError, KeyError, TypeError, OverflowError) as error:
        raise ValueError(f"no pod that can be read: {error!r}") from error


def _scheduled(status: Mapping[str, Any], created: int) -> int:
    found = (each for each in status.get("conditions") or () if each.get("type") == "PodScheduled")
    return max((_seconds(each.get("lastTransitionTime"), created) for each in found), default=created)


def _ended(status: Mapping[str, Any], now: int) -> int:
    """When its last container ended; `now` where none says so."""
    return max((_seconds(text, now) for text in _finishes(status)), default=now)


def _finishes(status: Mapping[str, Any]) -> Iterator[Any]:
    kinds = (status.get("containerStatuses") or (), status.get("initContainerStatuses") or ())
    for container in itertools.chain(*kinds):
        if ended := (container.get("state") or {}).get("terminated"):
            yield ended.get("finishedAt")


def _seconds(text: Any, otherwise: int) -> int:
    """Of a timestamp; what is none counts as `otherwise`."""
    try:
        found = datetime.datetime.fromisoformat(str(text))
        return int(found.timestamp()) if found.tzinfo else otherwise
    except (ValueError, OverflowError):
        return otherwise

"""A queue: how much of which resource the pods of one tenant may hold at one time.

Stands for the ClusterQueue of Kueue without borrowing: a resource without a quota is not limited. Who waits is served
by priority, then by age. A quota may be of a model too, such as H100 or NVIDIA-H100-80GB-HBM3: whole GPUs of it. A
pod whose model is not known yet counts against each model that it might get, so that no quota is ever exceeded.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from gpuyard import vocabulary
from gpuyard.pods import amounts
from gpuyard.pods.amounts import Amounts
from gpuyard.pods.quantities import NANO, Quantity
from gpuyard.pods.requests import is_device_resource, parse
from gpuyard.pods.wishes import Wishes
from gpuyard.verdicts import Reason, Rejection
from gpuyard.writes import JSON

PLURAL: Final = "queues"
PATH: Final = f"/apis/{vocabulary.GROUP}/{vocabulary.VERSION}/{PLURAL}"


@dataclass(frozen=True, slots=True)
class Queue:
    """`quota` and `used` by resource, in the units of `amounts.Amounts`, and by model, in GPUs."""

    name: str
    quota: Mapping[str, int] = field(default_factory=dict)
    used: Mapping[str, int] = field(default_factory=dict)
    models: tuple[str, ...] = ()
    """The names in `quota` that are models."""

    def with_usage(self, requests: Amounts) -> "Queue":
        """This queue with a pod or gang of these requests admitted."""
        return dataclasses.replace(self, used=self._moved(requests, 1))

    def without_usage(self, requests: Amounts) -> "Queue":
        """This queue after that pod or gang ended; never below zero."""
        return dataclasses.replace(self, used=self._moved(requests, -1))

    def left(self, resource: str) -> int:
        """What may still be admitted of a resource with a quota; 0 when it is over its quota."""
        return max(0, self.quota[resource] - self.used.get(resource, 0))

    @property
    def share(self) -> int:
        """How much of the quota is used, in thousandths, where most is."""
        parts = (self.used.get(name, 0) * 1000 // max(1, quota) for name, quota in self.quota.items())
        return max(parts, default=0)

    def _moved(self, requests: Amounts, sign: int) -> dict[str, int]:
        moved = {
            resource: max(0, self.used.get(resource, 0) + sign * requests.get(resource, 0))
            for resource in {*self.used, *requests}
        }
        return {resource: amount for resource, amount in moved.items() if amount}


def turn(priority: int, since: int) -> tuple[int, int]:
    """The place in a line, the lowest first: by priority, then by age."""
    return -priority, since


def admits(queue: Queue, requests: Amounts) -> Rejection | None:
    """Why the queue does not admit these requests, of one pod or of a whole gang; None when it does."""
    short = [
        f"{resource}: needs {requests[resource]}, {queue.left(resource)} left of {quota}"
        for resource, quota in sorted(queue.quota.items())
        if requests.get(resource, 0) > queue.left(resource)
    ]
    if not short:
        return None
    return Rejection("", Reason.QUOTA_EXCEEDED, f"queue {queue.name}: {'; '.join(short)}")


def from_object(obj: JSON) -> Queue | None:
    """The queue in an API object, without usage; None when its content cannot be used."""
    try:
        spec = obj["spec"]
        models = amounts.read(spec.get("models"))
        quota = {**amounts.read(spec.get("quota")), **models}
        return Queue(str(obj["metadata"]["name"]), quota, models=tuple(sorted(models)))
    except (AttributeError, KeyError, TypeError):
        return None


def queue_of(group: JSON, pods: Sequence[JSON]) -> str:
    """The name of the queue of a PodGroup with these pods; empty where there is none."""
    pods_say = [(str((pod.get("metadata") or {}).get("name")), name) for pod in pods if (name := _said(pod))]
    return _said(group) or min(pods_say, default=("", ""))[1]


def _said(obj: JSON) -> str:
    metadata = obj.get("metadata") or {}
    found = ((metadata.get(part) or {}).get(vocabulary.QUEUE) for part in ("annotations", "labels"))
    return str(next(filter(None, found), ""))


def text(name: str, amount: int) -> str:
    """An amount of `Queue.used` as a quantity."""
    return str(Quantity(amount * (10**6 if name == amounts.CPU else NANO)))


def demand(pod: JSON, models: tuple[str, ...], product: str | None = None) -> dict[str, int]:
    """What a pod counts for: its requests, and its GPUs for each model that they are, or may turn out to be.

    `product` is the model of the node that it is on, or has a place on, where that says it.
    """
    found = amounts.requests_of(pod)
    gpus = found.get(vocabulary.GPU, 0)
    wished = _wished(pod, product) if models and gpus else ()
    return found | {model: gpus for model in models if gpus and _may_be(model, wished)}


def kinds(pod: JSON) -> frozenset[tuple[str, str]]:
    """Which GPUs a pod wants, as far as it may be in another's way: whole or MIG, and of which model."""
    families = {
        "mig" if resource.startswith(vocabulary.MIG_PREFIX) else "gpu"
        for resource in amounts.requests_of(pod)
        if is_device_resource(resource)
    }
    models = _wished(pod, None) if families else ()
    return frozenset((family, model) for family in families for model in models or ("",))


def compete(one: Iterable[tuple[str, str]], other: Iterable[tuple[str, str]]) -> bool:
    """Whether pods of these kinds might want the same GPU."""
    others = list(other)
    return any(
        family == another and (not model or not name or _may_be(model, (name,)))
        for family, model in one
        for another, name in others
    )


def _wished(pod: JSON, product: str | None) -> tuple[str, ...]:
    """The models of which the pod's GPUs must be; empty where they can be of any."""
    selected = product or ((pod.get("spec") or {}).get("nodeSelector") or {}).get(vocabulary.PRODUCT_LABEL)
    if selected:
        return (str(selected).lower(),)
    request = parse(pod)
    return () if isinstance(request, Rejection) else request.wishes.models


def _may_be(model: str, wished: tuple[str, ...]) -> bool:
    """A100 stands for any A100, on either side."""
    return not wished or any(
        Wishes((model.lower(),)).likes(name) or Wishes((name,)).likes(model) for name in wished
    )

"""The ReplicaSets of a Deployment, and how many pods it may have more or less than wanted.

Stands for FindNewReplicaSet, ComputeHash and ResolveFenceposts of kube-controller-manager.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor

import orjson

from gpuyard.writes import JSON

HASH = "pod-template-hash"
"""The label that tells the pods of one version of a template from those of another."""
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"


@dataclass(frozen=True, slots=True)
class Family:
    """`new` has the present template; `old` are sorted by age, oldest first."""

    new: JSON | None
    old: tuple[JSON, ...]

    @property
    def all(self) -> tuple[JSON, ...]:
        return (*self.old, self.new) if self.new is not None else self.old


def family(found: JSON, replica_sets: Sequence[JSON]) -> Family:
    """Tell the new ReplicaSet from the old ones: of several with the present template the oldest is the new one."""
    by_age = sorted(
        replica_sets, key=lambda each: (each["metadata"]["creationTimestamp"], each["metadata"]["name"])
    )
    wanted = _bare(found["spec"]["template"])
    new = next((each for each in by_age if _bare(each["spec"]["template"]) == wanted), None)
    return Family(new, tuple(each for each in by_age if each is not new))


def hash_of(template: JSON) -> str:
    """What follows from a template, in letters that make no words."""
    text = orjson.dumps([_bare(template), 0], option=orjson.OPT_SORT_KEYS)
    return "".join(_LETTERS[int(digit)] for digit in str(zlib.crc32(text)))


def surge(found: JSON) -> int:
    """How many pods more than wanted there may be."""
    return _limits(found)[0]


def unavailable(found: JSON) -> int:
    """How many of the wanted pods may be missing. With no surge either, one: else nothing could ever move."""
    return _limits(found)[1]


def share(amount: int | str, whole: int, *, up: bool) -> int:
    """An IntOrString such as 2 or "25%" of `whole`."""
    if isinstance(amount, int):
        return amount
    part = int(amount.rstrip("%")) * whole / 100
    return ceil(part) if up else floor(part)


def _limits(found: JSON) -> tuple[int, int]:
    rolling = found["spec"]["strategy"].get("rollingUpdate") or {}
    if found["spec"]["strategy"]["type"] != "RollingUpdate":
        return 0, 0
    wanted = found["spec"]["replicas"]
    more = share(rolling.get("maxSurge", 0), wanted, up=True)
    fewer = min(share(rolling.get("maxUnavailable", 0), wanted, up=False), wanted)
    return more, fewer if more or fewer else 1


def _bare(template: JSON) -> JSON:
    """A template without the hash."""
    metadata = template.get("metadata") or {}
    labels = {key: value for key, value in (metadata.get("labels") or {}).items() if key != HASH}
    kept = {key: value for key, value in metadata.items() if value and key != "creationTimestamp"}
    return {**template, "metadata": {**kept, "labels": labels}}

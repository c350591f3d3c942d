"""Which nodes a pod may and would rather run on: node selector terms, taints and tolerations; and label selectors.

Stands for `k8s.io/component-helpers/scheduling/corev1/nodeaffinity` and the helpers for tolerations.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpuyard.writes import JSON


@dataclass(frozen=True, slots=True)
class Requirement:
    """`key operator values`, as in matchExpressions."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """An absent key meets NotIn and DoesNotExist and nothing else; an unknown operator is never met."""
        label = labels.get(self.key)
        match self.operator:
            case "In":
                return label is not None and label in self.values
            case "NotIn":
                return label is None or label not in self.values
            case "Exists":
                return label is not None
            case "DoesNotExist":
                return label is None
            case "Gt" | "Lt":
                return self._compares(label)
        return False

    def _compares(self, label: str | None) -> bool:
        try:
            have, (bound,) = int(label or ""), map(int, self.values)
        except ValueError:  # no label, not numbers, or not exactly one value
            return False
        return have > bound if self.operator == "Gt" else have < bound


@dataclass(frozen=True, slots=True)
class Term:
    """A node selector term: every requirement must hold; `fields` look at metadata.name. Empty: no node."""

    labels: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()

    @classmethod
    def of(cls, found: JSON | None) -> "Term":
        found = found or {}
        return cls(_requirements(found.get("matchExpressions")), _requirements(found.get("matchFields")))

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        if not self.labels and not self.fields:
            return False
        named = {"metadata.name": name}
        return all(wish.matches(labels) for wish in self.labels) and all(
            wish.matches(named) for wish in self.fields
        )


@dataclass(frozen=True, slots=True)
class Taint:
    """A taint of a node; `effect` is NoSchedule, PreferNoSchedule or NoExecute."""

    key: str
    value: str = ""
    effect: str = "NoSchedule"

    @classmethod
    def of(cls, found: JSON) -> "Taint":
        return cls(
            str(found.get("key", "")), str(found.get("value") or ""), str(found.get("effect", "NoSchedule"))
        )

    @property
    def repels(self) -> bool:
        """Whether it keeps pods away, rather than only being disliked."""
        return self.effect in ("NoSchedule", "NoExecute")


@dataclass(frozen=True, slots=True)
class Toleration:
    """A toleration of a pod: an empty `effect` means every effect, an empty key with Exists every taint."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""

    @classmethod
    def of(cls, found: JSON) -> "Toleration":
        return cls(
            str(found.get("key") or ""),
            str(found.get("operator") or "Equal"),
            str(found.get("value") or ""),
            str(found.get("effect") or ""),
        )

    def tolerates(self, taint: Taint) -> bool:
        if self.effect not in ("", taint.effect):
            return False
        if not self.key:
            return self.operator == "Exists"
        if self.key != taint.key:
            return False
        return self.operator == "Exists" or (self.operator == "Equal" and self.value == taint.value)


def selected(selector: JSON) -> tuple[Requirement, ...]:
    """What a label selector demands: all of it; nothing where it selects every pod."""
    labels = (selector.get("matchLabels") or {}).items()
    named = (Requirement(key, "In", (str(value),)) for key, value in labels)
    return (*named, *_requirements(selector.get("matchExpressions")))


def _requirements(found: Any) -> tuple[Requirement, ...]:
    return tuple(
        Requirement(
            str(wish.get("key", "")), str(wish.get("operator", "")), tuple(map(str, wish.get("values") or ()))
        )
        for wish in found or ()
    )

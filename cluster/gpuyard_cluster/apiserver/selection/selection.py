"""Label and field selectors.

Stands for `k8s.io/apimachinery/pkg/labels` and `pkg/fields`. Laws: a selector is a conjunction; a field
selector knows only the fields that its resource offers.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import bad_request
from gpuyard_cluster.apiserver.kinds.resources import Resource
from gpuyard_cluster.apiserver.selection import label_syntax
from gpuyard_cluster.apiserver.selection.label_syntax import Operator, Requirement

_FIELD_TERM = re.compile(r"((?:\\.|[^\\=!])*)(==|!=|=)((?:\\.|[^\\=])*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Selector:
    """All of the requirements, on values that `read` takes from an object."""

    requirements: tuple[Requirement, ...]
    read: Callable[[JSON, str], str | None]

    def matches(self, obj: JSON) -> bool:
        """Whether the object meets every requirement."""
        return all(requirement.holds(self.read(obj, requirement.key)) for requirement in self.requirements)


def labels(text: str) -> Selector:
    """The selector of a labelSelector parameter, such as `app=x,tier in (web,db),!old`. Raises ApiError 400."""
    try:
        return Selector(tuple(label_syntax.parse(text)), _label)
    except label_syntax.SelectorError as error:
        raise bad_request(f"unable to parse requirement: {error} in '{text}'") from error


def fields(text: str, resource: Resource) -> Selector:
    """The selector of a fieldSelector parameter, such as `spec.nodeName=n,status.phase!=Failed`.

    Raises ApiError 400 for a field that the resource does not offer.
    """
    terms = [term for term in re.split(r"(?<!\\),", text) if term.strip()]
    return Selector(tuple(_field_requirement(term, resource) for term in terms), field_value)


def _label(obj: JSON, key: str) -> str | None:
    found: str | None = (obj["metadata"].get("labels") or {}).get(key)
    return found


# Fields whose selector name is not their path; the right side lists paths, the first that is set counts.
_ALIASES: Mapping[str, tuple[str, ...]] = {
    "source": ("source.component", "reportingComponent"),
    "reportingComponent": ("reportingComponent", "source.component"),
}
_ABSENT = {"spec.hostNetwork": "false", "spec.unschedulable": "false"}
"""What a boolean that is not set reads as."""


def field_value(obj: JSON, field: str) -> str:
    """The value of a field as selectors compare it: text, empty where it is not set."""
    for path in _ALIASES.get(field, (field,)):
        value: Any = obj
        for name in path.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        if value is not None and value != "":
            return str(value).lower() if isinstance(value, bool) else str(value)
    return _ABSENT.get(field, "")


def _field_requirement(term: str, resource: Resource) -> Requirement:
    found = _FIELD_TERM.fullmatch(term.strip())
    if found is None:
        raise bad_request(f"invalid selector: '{term}'; can't understand '{term}'")
    field, value = found[1], re.sub(r"\\([\\,=])", r"\1", found[3])
    offered = (
        "metadata.name",
        *(("metadata.namespace",) if resource.namespaced else ()),
        *resource.selectable,
    )
    if field not in offered:
        raise bad_request(
            f"field label not supported: {field}; {resource.qualified} offers: {', '.join(offered)}"
        )
    operator = Operator.NOT_IN if found[2] == "!=" else Operator.IN
    return Requirement(field, operator, frozenset({value}))

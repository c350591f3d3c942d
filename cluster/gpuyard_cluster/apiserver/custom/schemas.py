"""The structural schema of one version of a custom resource: what it drops, fills in and demands.

Stands for the custom resource handler's strategy in apiextensions-apiserver.
"""

from dataclasses import dataclass, field

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.custom import schema_rules, schema_validation, schema_values
from gpuyard_cluster.apiserver.errors import Cause
from gpuyard_cluster.apiserver.rules import causes

_BLOCKING = frozenset(
    {"FieldValueRequired", "FieldValueTypeInvalid", "FieldValueTooLong", "FieldValueTooMany"}
)
_UNCHECKED = (
    "some validation rules were not checked because the object was invalid; correct the existing errors to complete "
    "validation"
)


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema that was checked when its definition was created. `document` is the openAPIV3Schema."""

    document: JSON
    _has_rules: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_has_rules", schema_rules.has_rules(self.document))

    def prune(self, obj: JSON) -> list[str]:
        """Drop the fields that the schema does not know, in place; their paths, such as `spec.bogus`."""
        return schema_values.prune(obj, self.document, "", resource=True)

    def default(self, obj: JSON) -> None:
        """Fill in defaults, in place."""
        schema_values.default(obj, self.document)

    def validate(self, obj: JSON, old: JSON | None = None) -> list[Cause]:
        """Every violation of a new object, or of a change from `old`; empty when there is none."""
        found = list(schema_validation.violations(obj, self.document, ""))
        if not self._has_rules:
            return found
        if any(cause.reason in _BLOCKING for cause in found):
            return [*found, causes.invalid("<nil>", None, _UNCHECKED)]
        before = schema_rules.ABSENT if old is None else old
        return found + list(schema_rules.broken_rules(obj, before, self.document, ""))

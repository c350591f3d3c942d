"""Causes of a 422 in kube-apiserver's words.

Stands for `k8s.io/apimachinery/pkg/util/validation/field`: one function for each error type.
"""

import json
from collections.abc import Iterable
from typing import Any

from gpuyard_cluster.apiserver.errors import Cause


def required(field: str, detail: str = "") -> Cause:
    """A value that must be there."""
    return Cause(field, "FieldValueRequired", f"Required value: {detail}" if detail else "Required value")


def invalid(field: str, value: Any, detail: str) -> Cause:
    """A value that breaks a rule."""
    return Cause(field, "FieldValueInvalid", f"Invalid value: {shown(value)}: {detail}")


def mistyped(field: str, value: Any, detail: str) -> Cause:
    """A value of another JSON type than the schema says."""
    return Cause(field, "FieldValueTypeInvalid", f"Invalid value: {shown(value)}: {detail}")


def duplicate(field: str, value: Any) -> Cause:
    """A second one of what must be unique."""
    return Cause(field, "FieldValueDuplicate", f"Duplicate value: {shown(value)}")


def unsupported(field: str, value: Any, supported: Iterable[Any]) -> Cause:
    """A value outside a closed list."""
    choices = ", ".join(shown(choice) for choice in supported)
    return Cause(
        field, "FieldValueNotSupported", f"Unsupported value: {shown(value)}: supported values: {choices}"
    )


def forbidden(field: str, detail: str) -> Cause:
    """A value that may not be set, or not now."""
    return Cause(field, "FieldValueForbidden", f"Forbidden: {detail}")


def too_long(field: str, limit: int) -> Cause:
    """A text over its limit."""
    return Cause(field, "FieldValueTooLong", f"Too long: may not be more than {limit} bytes")


def too_many(field: str, count: int, limit: int) -> Cause:
    """A list over its limit."""
    return Cause(field, "FieldValueTooMany", f"Too many: {count}: must have at most {limit} items")


def shown(value: Any) -> str:
    """A value as messages show it: strings in quotes, objects as JSON with sorted keys."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

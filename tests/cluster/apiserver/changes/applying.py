"""Objects to apply, and who owns what of them, for the tests beside this file."""

import copy
from typing import Any

from hypothesis import strategies as st

from gpuyard_cluster.apiserver.changes.apply import apply

NOW, LATER = "2026-01-02T03:04:05Z", "2026-01-02T03:05:00Z"
DATA = st.dictionaries(st.sampled_from("abc"), st.sampled_from("12"), max_size=3)


def config(data: dict[str, Any] | None = None, **metadata: Any) -> dict[str, Any]:
    found = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", **metadata}}
    return found if data is None else {**found, "data": data}


def deployment(*containers: dict[str, Any]) -> dict[str, Any]:
    spec = {"template": {"spec": {"containers": list(containers)}}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec}


def applied(
    live: dict[str, Any] | None, wanted: dict[str, Any], manager: str, force: bool = False
) -> dict[str, Any]:
    before = copy.deepcopy((live, wanted))
    result = apply(live, wanted, manager, force, now=NOW)
    assert (live, wanted) == before, "neither argument may change"
    return result


def owners(obj: dict[str, Any]) -> dict[str, Any]:
    """The fields of each manager."""
    return {entry["manager"]: entry["fieldsV1"] for entry in obj["metadata"].get("managedFields", [])}

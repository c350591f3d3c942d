"""Definitions of a custom resource, with defaults for what a test does not care about."""

from typing import Any

from gpuyard_cluster.apiserver.kinds.defaults import apply_defaults

FREE = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def version(name: str = "v1", schema: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    return {
        "name": name,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema or FREE},
        **fields,
    }


def definition(*versions: dict[str, Any], name: str = "widgets.example.com", **spec: Any) -> dict[str, Any]:
    names = {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]}
    body = {
        "metadata": {"name": name},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": names,
            "versions": list(versions) or [version()],
            **spec,
        },
    }
    apply_defaults("CustomResourceDefinition", body)
    return body

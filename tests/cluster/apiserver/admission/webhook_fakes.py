"""Webhooks that a test answers for, without a network."""

import base64
from collections.abc import Callable
from typing import Any

import orjson

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.admission.consultation import Answer, Call
from tests.cluster.apiserver.calling import Caller

GROUP = "/apis/admissionregistration.k8s.io/v1"
MUTATING, VALIDATING = f"{GROUP}/mutatingwebhookconfigurations", f"{GROUP}/validatingwebhookconfigurations"
YES: JSON = {"allowed": True}

Reply = Callable[[JSON], JSON | Answer]
"""The `request` of a review -> the `response`, or an answer as it is."""


class Hooks(Caller):
    """An API server whose webhooks are functions, by the last part of their URL's path; it remembers every call."""

    def __init__(self, **replies: Reply) -> None:
        super().__init__(webhooks=self._call)
        self.replies, self.calls = replies, list[tuple[str, JSON]]()

    @property
    def called(self) -> list[str]:
        return [name for name, _ in self.calls]

    async def _call(self, call: Call) -> Answer:
        name = call.url.rpartition("/")[2]
        request = orjson.loads(call.review)["request"]
        self.calls.append((name, request))
        reply = self.replies[name](request)
        if not isinstance(reply, dict):
            return reply
        response = {"uid": request["uid"], **reply}
        review = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "response": response}
        return orjson.dumps(review)

    def configure(self, path: str, *hooks: JSON, name: str = "hooks") -> None:
        self.make(path, {"metadata": {"name": name}, "webhooks": list(hooks)})


def hook(name: str, *resources: str, operations: tuple[str, ...] = ("*",), **fields: Any) -> JSON:
    """A webhook about some resources (ConfigMaps without a word) that is found by its name."""
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": list(operations)}
    return {
        "name": f"{name}.hooks.example.com",
        "clientConfig": {"url": f"https://hooks.example.com/{name}"},
        "rules": [{**rule, "resources": list(resources or ("configmaps",))}],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        **fields,
    }


def patching(*operations: JSON) -> JSON:
    """A response that allows with a JSON patch."""
    encoded = base64.b64encode(orjson.dumps(operations)).decode()
    return {"allowed": True, "patchType": "JSONPatch", "patch": encoded}


def setting(key: str, value: str) -> JSON:
    """A response that sets one entry of a ConfigMap that has some."""
    return patching({"op": "add", "path": f"/data/{key}", "value": value})


def selecting(**labels: str) -> JSON:
    return {"matchLabels": labels}

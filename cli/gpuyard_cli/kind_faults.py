"""Faults that a scenario injects into a real API server.

A ValidatingAdmissionPolicy refuses the Bindings of the pods that a ConfigMap names. The policy stays for the whole
scenario, because a new one takes effect only after a moment; the ConfigMap's content takes effect at once.
"""

from typing import Final

from gpuyard import vocabulary
from gpuyard.writes import JSON, PatchType, Write
from gpuyard_cli.inputs import InvalidInputError
from gpuyard_cli.kind_yard import KindYard
from gpuyard_cli.scenario import RefusedBinding

MESSAGE: Final = "the scenario refuses its Binding"

_NAME: Final = "refused-bindings.gpuyard.io"
_POLICIES: Final = "/apis/admissionregistration.k8s.io/v1"
_CONFIG: Final = f"/api/v1/namespaces/{vocabulary.NAMESPACE}/configmaps"
_PROBE: Final = "probe"


class Refusals:
    """The Bindings that are refused now."""

    def __init__(self, yard: KindYard) -> None:
        self._yard = yard
        self._once: set[str] = set()
        self._ready = False

    async def refuse(self, namespace: str, fault: RefusedBinding) -> None:
        """From now on. InvalidInputError for a count that a real cluster cannot be made to keep."""
        if fault.times not in (None, 1):
            problem = f"a real API server cannot refuse {fault.times} times"
            raise InvalidInputError(
                "scenario.yaml", "fault.refuse-binding.times", problem, "use 1, or leave it out"
            )
        if not self._ready:
            await self._start()
        key = f"{namespace}.{fault.pod}"
        if fault.times == 1:
            self._once.add(key)
        await self._set(key, "refused")

    async def watch(self, pods: tuple[JSON, ...]) -> None:
        """Let those through that were refused once: kube-scheduler tries again after a second or more."""
        for pod in pods:
            key = f"{pod['metadata']['namespace']}.{pod['metadata']['name']}"
            conditions = (pod.get("status") or {}).get("conditions") or ()
            if key in self._once and any(MESSAGE in c.get("message", "") for c in conditions):
                self._once.discard(key)
                await self._set(key, None)

    async def end(self) -> None:
        """Refuse nothing any more."""
        if self._ready:
            for kind, _ in _policy():
                await self._yard.api.send(Write("DELETE", f"{_POLICIES}/{kind}/{_NAME}"))
            await self._yard.api.send(Write("DELETE", f"{_CONFIG}/{_NAME}"))

    async def _start(self) -> None:
        self._ready = True
        metadata = {"name": _NAME, "namespace": vocabulary.NAMESPACE}
        content = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {}}
        await self._yard.api.send(Write("POST", _CONFIG, content))
        for kind, obj in _policy():
            await self._yard.api.send(Write("POST", f"{_POLICIES}/{kind}", obj))
        await self._set(f"{vocabulary.NAMESPACE}.{_PROBE}", "refused")
        await self._yard.until(self._refuses, "the policy for refused Bindings is in force")

    async def _refuses(self) -> bool:
        """A dry run with a pod that does not exist: 404 as long as no policy speaks first."""
        path = f"/api/v1/namespaces/{vocabulary.NAMESPACE}/pods/{_PROBE}/binding"
        target = {"apiVersion": "v1", "kind": "Node", "name": _PROBE}
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": _PROBE}, "target": target}
        reply = await self._yard.api.send(Write("POST", path, body, query={"dryRun": "All"}))
        return MESSAGE in reply.reason

    async def _set(self, key: str, value: str | None) -> None:
        body = {"data": {key: value}}
        await self._yard.api.send(Write("PATCH", f"{_CONFIG}/{_NAME}", body, PatchType.MERGE))


def _policy() -> list[tuple[str, JSON]]:
    api, metadata = "admissionregistration.k8s.io/v1", {"name": _NAME}
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods/binding"]}
    listed = "has(params.data) && (request.namespace + '.' + request.name) in params.data"
    policy = {
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": f"!({listed})", "message": MESSAGE}],
    }
    parameters = {
        "name": _NAME,
        "namespace": vocabulary.NAMESPACE,
        "parameterNotFoundAction": "Allow",
    }
    binding = {"policyName": _NAME, "paramRef": parameters, "validationActions": ["Deny"]}
    return [
        (
            "validatingadmissionpolicies",
            {"apiVersion": api, "kind": "ValidatingAdmissionPolicy", "metadata": metadata, "spec": policy},
        ),
        (
            "validatingadmissionpolicybindings",
            {
                "apiVersion": api,
                "kind": "ValidatingAdmissionPolicyBinding",
                "metadata": metadata,
                "spec": binding,
            },
        ),
    ]

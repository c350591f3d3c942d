"""Faults that a scenario injects into a real API server.

A ValidatingAdmissionPolicy refuses the Bindings of the pods that annotations of their namespace name: a new policy
takes effect after a moment only, a changed annotation at once. (Not parameters: 1.36 reads none for a policy that was
deleted and made anew.)
"""

from collections import defaultdict
from typing import Final

from gpuyard import vocabulary
from gpuyard.writes import JSON, PatchType, Write
from gpuyard_cli.backends.kind_yard import KindYard
from gpuyard_cli.inputs import InvalidInputError
from gpuyard_cli.scenarios.injections import RefusedBinding

MESSAGE: Final = "the scenario refuses its Binding"

_NAME: Final = "refused-bindings.gpuyard.io"
_API: Final = "admissionregistration.k8s.io/v1"
_PROBE: Final = "refused-bindings-probe"


class Refusals:
    """The Bindings that are refused now."""

    def __init__(self, yard: KindYard) -> None:
        self._yard = yard
        self._refused: defaultdict[str, set[str]] = defaultdict(set)
        """namespace -> annotations."""
        self._once: set[tuple[str, str]] = set()

    async def refuse(self, namespace: str, fault: RefusedBinding) -> None:
        """From now on. InvalidInputError for a count that a real cluster cannot be made to keep."""
        if fault.times not in (None, 1):
            problem = f"a real API server cannot refuse {fault.times} times"
            raise InvalidInputError(
                "scenario.yaml", "fault.refuse-binding.times", problem, "use 1, or leave it out"
            )
        if not self._refused:
            await self._start()
        self._refused[namespace].add(_annotation(fault.pod))
        if fault.times == 1:
            self._once.add((namespace, fault.pod))
        await self._annotate(namespace, {_annotation(fault.pod): ""})

    def marked(self, obj: JSON) -> JSON:
        """An object as it is to be applied: a namespace comes with what is refused in it."""
        marks = self._refused.get(obj["metadata"]["name"]) if obj["kind"] == "Namespace" else None
        if not marks:
            return obj
        kept = obj["metadata"].get("annotations") or {}
        return {**obj, "metadata": {**obj["metadata"], "annotations": {**kept, **dict.fromkeys(marks, "")}}}

    async def watch(self, pods: tuple[JSON, ...]) -> None:
        """Let those through that were refused once: kube-scheduler tries again after a second or more."""
        for pod in pods:
            key = (pod["metadata"]["namespace"], pod["metadata"]["name"])
            conditions = (pod.get("status") or {}).get("conditions") or ()
            if key in self._once and any(MESSAGE in c.get("message", "") for c in conditions):
                self._once.discard(key)
                await self._annotate(key[0], {_annotation(key[1]): None})

    async def end(self) -> None:
        """Refuse nothing any more."""
        for plural, _ in _policy() if self._refused else ():
            await self._yard.api.send(Write("DELETE", f"/apis/{_API}/{plural}/{_NAME}"))

    async def _start(self) -> None:
        for plural, obj in _policy():
            await self._yard.api.send(Write("POST", f"/apis/{_API}/{plural}", obj))
        await self._yard.until(self._refuses, "the policy for refused Bindings is in force")

    async def _refuses(self) -> bool:
        """A dry run with a pod that does not exist: 404 as long as no policy speaks first."""
        path = f"/api/v1/namespaces/{vocabulary.NAMESPACE}/pods/{_PROBE}/binding"
        target = {"apiVersion": "v1", "kind": "Node", "name": _PROBE}
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": _PROBE}, "target": target}
        reply = await self._yard.api.send(Write("POST", path, body, query={"dryRun": "All"}))
        return MESSAGE in reply.reason

    async def _annotate(self, namespace: str, changed: dict[str, str | None]) -> None:
        """A namespace that is not there yet gets its annotations with `marked`."""
        body = {"metadata": {"annotations": changed}}
        await self._yard.api.send(Write("PATCH", f"/api/v1/namespaces/{namespace}", body, PatchType.MERGE))


def _annotation(pod: str) -> str:
    return f"{_NAME}/{pod}"


def _policy() -> list[tuple[str, JSON]]:
    """The policy and its binding, each with the plural of its kind."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods/binding"]}
    named = f"('{_NAME}/' + request.name) in namespaceObject.metadata.annotations"
    refused = f"request.name == '{_PROBE}' || (has(namespaceObject.metadata.annotations) && {named})"
    policy = {
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": f"!({refused})", "message": MESSAGE}],
    }
    binding = {"policyName": _NAME, "validationActions": ["Deny"]}
    kinds = {"ValidatingAdmissionPolicy": policy, "ValidatingAdmissionPolicyBinding": binding}
    plurals = ("validatingadmissionpolicies", "validatingadmissionpolicybindings")
    return [
        (plural, {"apiVersion": _API, "kind": kind, "metadata": {"name": _NAME}, "spec": spec})
        for plural, (kind, spec) in zip(plurals, kinds.items(), strict=True)
    ]

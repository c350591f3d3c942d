"""A stepped cluster in a storm: what users, time and faults do to it, one deed at a time, and what must hold."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gpuyard import vocabulary, yard
from gpuyard.writes import JSON
from gpuyard_cli.scenarios import requests
from gpuyard_cli.scenarios.injections import gpu_fault
from gpuyard_cluster.apiserver.errors import ApiError
from gpuyard_cluster.apiserver.requests import Request
from gpuyard_cluster.wiring.parts import Options
from gpuyard_cluster.wiring.steps import StepsYard

A100 = "NVIDIA-A100-SXM4-40GB"
URGENT, PRIORITIES = "urgent", "scheduling.k8s.io/v1"
"""Pods of this class preempt others."""
NAMESPACE = "default"
KINDS = {"pods": "/api/v1/pods", "nodes": "/api/v1/nodes"} | {
    "podgroups": f"/apis/{vocabulary.POD_GROUP_API}/podgroups",
    "reservations": f"/apis/{vocabulary.GROUP}/{vocabulary.VERSION}/reservations",
}
YARDS: Mapping[str, JSON] = {
    "whole": {
        "nodes": [
            {"name": "node-1", "gpus": {"model": A100, "count": 4, "topology": "numa-halves"}},
            {"name": "node-2", "gpus": {"model": A100, "count": 2}, "capacity": {"cpu": "4"}},
        ]
    },
    "mig": {
        "nodes": [
            {
                "name": "node-1",
                "gpus": {"model": A100, "count": 2},
                "mig": [{"gpus": [0], "instances": {"1g.5gb": 3, "2g.10gb": 1}}],
                "plugin": {"version": "v1", "flags": {"migStrategy": "mixed"}},
            },
            {"name": "node-2", "gpus": {"model": A100, "count": 1}},
        ]
    },
    "dynamic": {
        "nodes": [
            {
                "name": "node-1",
                "gpus": {"model": A100, "count": 2},
                "plugin": {"version": "v1", "flags": {"migStrategy": "dynamic"}},
            },
            {"name": "node-2", "gpus": {"model": A100, "count": 1}, "capacity": {"cpu": "2"}},
        ]
    },
    "shares": {
        "nodes": [
            {
                "name": "node-1",
                "gpus": {"model": A100, "count": 2},
                "plugin": {
                    "version": "v1",
                    "sharing": {
                        "timeSlicing": {
                            "renameByDefault": True,
                            "resources": [{"name": "nvidia.com/gpu", "replicas": 2}],
                        }
                    },
                },
            },
            {"name": "node-2", "gpus": {"model": A100, "count": 1}, "capacity": {"cpu": "2"}},
        ]
    },
}
RESOURCES = {
    "whole": ("nvidia.com/gpu",),
    "mig": ("nvidia.com/mig-1g.5gb", "nvidia.com/mig-2g.10gb", "nvidia.com/gpu"),
    "dynamic": ("nvidia.com/mig-1g.5gb", "nvidia.com/mig-3g.20gb", "nvidia.com/gpu"),
    "shares": ("nvidia.com/gpu.shared", "nvidia.com/gpu"),
}


def container(name: str, resource: str, count: int, **more: Any) -> JSON:
    amounts = {"cpu": "1"} | ({resource: str(count)} if count else {})
    resources = {"limits": amounts}
    return {"name": name, "image": "busybox:1.36", "command": ["sleep"], "resources": resources, **more}


def pod(name: str, containers: Sequence[JSON], init: Sequence[JSON] = (), **wishes: Any) -> JSON:
    """A pod; wishes are `group`, `node`, `seconds` after which it ends (0: never), and whether it is `urgent`."""
    group, node, seconds = (wishes.get(wish) for wish in ("group", "node", "seconds"))
    marks = {vocabulary.RUN_SECONDS: str(seconds)} if seconds else {}
    labels = {vocabulary.POD_GROUP: group} if group else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": NAMESPACE, "annotations": marks, "labels": labels},
        "spec": {
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 1,
            "containers": list(containers),
            **({"initContainers": list(init)} if init else {}),
            **({"nodeSelector": {"kubernetes.io/hostname": node}} if node else {}),
            **({"priorityClassName": URGENT} if wishes.get("urgent") else {}),
        },
    }


def pod_group(name: str, needed: int) -> JSON:
    return {
        "apiVersion": vocabulary.POD_GROUP_API,
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"minMember": needed},
    }


class Storm:
    """The cluster of YARDS[kind], or of `document`. `calm` until something was done that no healthy cluster does."""

    def __init__(self, kind: str, seed: int = 0, document: JSON | None = None) -> None:
        self.nodes = yard.parse(document or YARDS[kind])
        self.yard = StepsYard(self.nodes, Options(seed=seed))
        self.calm = True
        self.failed_at = 0.0
        """When a write last failed."""
        self.refused: dict[str, int] = {}
        """Pods whose Bindings the server refuses, each with the status."""
        self._failures = 0
        self.create(
            {"apiVersion": PRIORITIES, "kind": "PriorityClass", "metadata": {"name": URGENT}, "value": 1}
        )
        self.yard.server.faults.append(self._fail)

    @property
    def now(self) -> float:
        return self.yard.clock.now()

    def objects(self, kind: str) -> list[JSON]:
        items: list[JSON] = self.yard.clock.complete(self.yard.api.read(KINDS[kind])).body["items"]
        return items

    def pods(self) -> list[JSON]:
        return self.objects("pods")

    def create(self, obj: JSON) -> None:
        self.yard.clock.complete(requests.create(self.yard.api, obj))

    def delete(self, kind: str, name: str) -> None:
        self.yard.clock.complete(requests.delete(self.yard.api, kind, NAMESPACE, name))

    def restart(self, part: str) -> None:
        self.calm = False
        self.yard.restart(part)

    def injure(self, node: str, gpu: int, *, healthy: bool) -> None:
        self.calm = False
        fault = gpu_fault(node, gpu, None if healthy else 79)
        self.yard.clock.complete(requests.hurt(self.yard.api, fault))

    def fail_writes(self, count: int) -> None:
        """The next writes of the parts fail, as when etcd is away for a moment."""
        self.calm = False
        self._failures = count

    def steps(self, count: int) -> Iterator[str]:
        """Let things happen that are due now, at most `count`; their names."""
        while count and (happened := self.yard.step()) is not None:
            yield happened
            count -= 1

    def until(self, when: float) -> Iterator[str]:
        """Let everything happen up to a moment."""
        while True:
            while (happened := self.yard.step()) is not None:
                yield happened
            following = self.yard.clock.next_at()
            if following is None or following > when:
                break
            self.yard.clock.advance_to(following)
        self.yard.clock.advance_to(when)

    def close(self) -> None:
        with contextlib.closing(self.yard):
            pass

    def _fail(self, request: Request) -> ApiError | None:
        *_, name, verb = request.path.split("/")
        if verb == "binding" and name in self.refused:
            return ApiError(self.refused[name], "Refused", "no Binding now")
        if not self._failures or request.headers.get("user-agent") == "kubectl":
            return None
        self._failures -= 1
        self.failed_at = self.now
        return ApiError(500, "InternalError", "etcdserver: request timed out")

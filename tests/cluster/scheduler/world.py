"""A cluster with nothing but a scheduler in it, and what tests of it say and ask."""

import copy
from dataclasses import replace
from typing import Any

from gpuyard.narration import Beat
from gpuyard.writes import JSON, Write
from gpuyard_cluster.clock import Steps
from gpuyard_cluster.scheduler.extenders import Extender, ExtenderConfig
from gpuyard_cluster.scheduler.service import Scheduler
from tests.cluster.scheduler.scripted_extender import ScriptedExtender
from tests.cluster.small_api import SmallApi, node, pod
from tests.stepping import settle

GPU = "nvidia.com/gpu"
_PLURALS = {"Pod": "pods", "Node": "nodes", "PodDisruptionBudget": "poddisruptionbudgets"}


class World:
    """A cluster with nothing but a scheduler in it."""

    def __init__(self, *, seed: int = 1) -> None:
        self.steps = Steps()
        self.api = SmallApi(self.steps)
        self.extender = ScriptedExtender(self.api, self.steps)
        self.config = ExtenderConfig(frozenset({GPU}))
        self.beats: list[Beat] = []
        self.scheduler = self.new_scheduler(seed)

    def new_scheduler(self, seed: int = 1) -> Scheduler:
        extender = Extender(self.config, self.extender, "http://gpuyard")
        made = Scheduler(self.api, self.steps, [extender], seed=seed, narrate=self.beats.append)
        made.start()
        self.api.attach(made)
        return made

    def restart(self, **config: Any) -> None:
        """Begin anew with nothing in memory, perhaps with another configuration of the extender."""
        self.config = replace(self.config, **config)
        self.api.detach(self.scheduler)
        self.scheduler.stop()
        self.scheduler = self.new_scheduler()

    def add(self, *objects: JSON) -> None:
        for obj in objects:
            self.api.put(_PLURALS[obj["kind"]], obj)
        settle(self.steps)

    def linger(self) -> None:
        """From now on pods that are deleted take their time: they go when they are removed."""

        def delete(write: Write) -> int | None:
            if write.method != "DELETE":
                return None
            leaving = copy.deepcopy(self.api.pod(write.path.rsplit("/", 1)[1]))
            leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
            self.api.put("pods", leaving)
            return 200

        self.api.refuse = delete

    def pods(self) -> list[str]:
        return sorted(name for kind, _, name in self.api.objects if kind == "pods")

    def later(self, seconds: float) -> None:
        settle(self.steps, self.steps.now() + seconds)

    def node_of(self, name: str) -> Any:
        return self.api.pod(name)["spec"].get("nodeName")

    def reason(self, name: str) -> tuple[str, str]:
        conditions = self.api.pod(name)["status"].get("conditions", ())
        found: JSON = next((found for found in conditions if found["type"] == "PodScheduled"), {})
        return found.get("reason", ""), found.get("message", "")

    def nominated(self, name: str) -> str:
        return str(self.api.pod(name)["status"].get("nominatedNodeName") or "")

    def told(self, reason: str) -> list[str]:
        """The texts of events, and about whom they are."""
        found = [event for event in self.api.events if event["reason"] == reason]
        return [f"{event['involvedObject']['name']}: {event['message']}" for event in found]

    def filters(self) -> int:
        return self.extender.verbs().count("filter")


def taken() -> World:
    """One node with one GPU, which a pod of priority 0 holds."""
    made = World()
    made.add(node("a", nvidia_com__gpu=1), pod("low", {GPU: "1"}))
    assert made.node_of("low") == "a"
    made.extender.calls.clear()
    return made


def nobody(nodes: int, why: str = "Preemption is not helpful for scheduling") -> str:
    """What is added to a condition when no pod is removed."""
    return f"no new claims to deallocate, preemption: 0/{nodes} nodes are available: {nodes} {why}."


def rejecting(args: JSON) -> JSON:
    names = args["NodeNames"]
    return {
        "NodeNames": [],
        "FailedAndUnresolvableNodes": dict.fromkeys(names, "InsufficientGPUs: not enough"),
    }


def budget(name: str, allowed: int, **labels: str) -> JSON:
    """A disruption budget that lets so many pods with these labels go."""
    return {
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": labels}},
        "status": {"disruptionsAllowed": allowed},
    }

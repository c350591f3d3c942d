"""What a cluster's pods asked for over time: follows nodes and pods, and keeps what a trace needs of each.

Law: whatever object comes, recording goes on; what cannot be read is noted and left out. A pod is known by its UID:
one that is created again under its name is another pod.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final

from gpuyard.writes import JSON
from gpuyard_cli.capture import nodes as capture_nodes
from gpuyard_cli.capture import pods as capture_pods
from gpuyard_cli.capture.nodes import NodeRecord
from gpuyard_cli.capture.pods import PodRecord
from gpuyard_cli.imported.notes import Notes

_UNREADABLE: Final = "left out, for it cannot be read"


class Recording:
    """`gpuyard_kube.api.Observer` of `watched.PATHS`. `now` tells seconds since the epoch."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self.nodes: dict[str, NodeRecord] = {}
        """Also those that have gone."""
        self.pods: dict[str, PodRecord] = {}
        """By UID, also those that have gone."""
        self.notes = Notes()
        self.listed = set[str]()
        """Of which resources a list has come."""
        self._noted = set[str]()

    def replace(self, resource: str, objects: Iterable[JSON]) -> None:
        self.listed.add(resource)
        uids = {self._keep(resource, obj) for obj in objects}
        if resource == "pods":
            for uid in self.pods.keys() - uids:
                self._end(uid)

    def observe(self, resource: str, event: str, obj: JSON) -> None:
        key = self._keep(resource, obj)
        if resource == "pods" and event == "DELETED":
            self._end(key)

    def _keep(self, resource: str, obj: Any) -> str:
        """Its UID, or its name; empty for what is no object."""
        metadata = obj.get("metadata") if isinstance(obj, dict) else None
        metadata = metadata if isinstance(metadata, dict) else {}
        name = str(metadata.get("name") or "?")
        key = str(metadata.get("uid") or name)
        try:
            if resource == "nodes":
                self._keep_node(name, obj)
            else:
                self._keep_pod(key, obj)
        except ValueError as error:
            self._note(f"{_UNREADABLE} ({error})", name)
        return key

    def _keep_node(self, name: str, node: Any) -> None:
        # A kubelet writes its node's status again and again: what is noted of it is noted once.
        notes = Notes() if name in self.nodes else self.notes
        self.nodes[name] = capture_nodes.recorded(node, notes)

    def _keep_pod(self, uid: str, pod: Any) -> None:
        found, before = capture_pods.recorded(pod, int(self._now())), self.pods.get(uid)
        if before is not None and before.ended is not None:
            found = replace(found, ended=before.ended)
        self.pods[uid] = found

    def _end(self, uid: str) -> None:
        pod = self.pods.get(uid)
        if pod is not None and pod.ended is None:
            self.pods[uid] = replace(pod, ended=max(pod.scheduled or pod.created, int(self._now())))

    def _note(self, text: str, name: str) -> None:
        if f"{text} {name}" not in self._noted:
            self._noted.add(f"{text} {name}")
            self.notes.add(text, name)

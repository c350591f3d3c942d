"""What became of one pod: why it waits, what was decided of it, and what it got.

Law: devices are told by their places on their node, as far as the ledger knows them; all others keep their ids.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from gpuyard.annotations import ids
from gpuyard.verdicts import Reason
from gpuyard.writes import JSON
from gpuyard_extender.service import Extender
from gpuyard_extender.settings import SCORE_STEP
from gpuyard_extender.web.ui import boards


def of_pod(extender: Extender, namespace: str, name: str, now: float) -> JSON | None:
    """{"why", "decisions", "given", "change"?}; None when there is no such pod.

    `why` is the answer of explain, `given` what the kubelet gave, `change` what would have to change.
    """
    why, pod = extender.explain(namespace, name), extender.ledger.pods.named(namespace, name)
    if why is None or pod is None:
        return None
    decisions = [orjson.loads(found) for found in extender.reports.history.of(pod.uid)]
    nodes = {pod.node, *(str(found.get("node", "")) for found in decisions)}
    known = {identity: place for node in nodes for identity, place in _places(extender, node, now).items()}
    for found in decisions:
        found["devices"] = _placed(found.get("devices", ()), known)
        best = found["candidates"]
        found["ranks"] = {name: (best - place) * SCORE_STEP for place, name in enumerate(found["order"])}
    change = {"change": Reason(why["code"]).change} if why["code"] else {}
    return {
        "uid": pod.uid,
        "why": why,
        "decisions": decisions,
        "given": _placed(ids(pod.truth), known),
    } | change


def _placed(devices: Iterable[str], known: Mapping[str, str]) -> list[str]:
    return sorted(known.get(identity, identity) for identity in devices)


def _places(extender: Extender, node: str, now: float) -> dict[str, Any]:
    found = extender.ledger.node(node, now)
    devices = found.inventory.devices() if found and found.inventory else ()
    return {device.id: boards.place(device) for device in devices}

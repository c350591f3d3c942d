"""What each part says of who holds which devices: the accounts that an audit compares (`gpuyard.auditing.audit`).

Two parts are asked for theirs, and answer in JSON: a device plugin for its own and for that of its kubelet, the
extender for its ledger. The others are written on the pods: what the kubelet put into a status, what was planned.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gpuyard.annotations import Allocation, allocation_of
from gpuyard.pods.fit import Amounts
from gpuyard.pods.requests import is_device_resource
from gpuyard.writes import JSON

PLUGIN_PATH = "/v1/accounts"
"""Where a device plugin says what `NodeAccounts` holds."""
LEDGER_PATH = "/v1/ledger"
"""Where an extender says what `LedgerAccount` holds."""

Holders = Mapping[str, Allocation]
"""Pod UID -> container -> resource -> device ids."""


@dataclass(frozen=True, slots=True)
class NodeAccounts:
    """One node as its plugin and its kubelet tell it. `kubelet` None: it does not answer, and `problem` is why.

    The kubelet can only be asked for a pod by its name: it has an entry, maybe an empty one, for each that the plugin
    knows.
    """

    plugin: Holders = field(default_factory=dict)
    kubelet: Holders | None = field(default_factory=dict)
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Stake:
    """What the extender counts on for one pod on one node: its devices, and how many of each GPU resource."""

    devices: frozenset[str] = frozenset()
    booked: Amounts = field(default_factory=dict)


LedgerAccount = Mapping[str, Mapping[str, Stake]]
"""Node -> pod UID -> stake."""


def truth(pod: JSON) -> Allocation:
    """What the kubelet says in the pod's own status: app containers only, and only those that hold GPU devices.

    AttributeError, KeyError or TypeError for a status that is none.
    """
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    told = {str(s["name"]): _told(s.get("allocatedResourcesStatus") or ()) for s in statuses}
    return {container: held for container, held in told.items() if held}


def node_to_json(accounts: NodeAccounts) -> JSON:
    return {"v": 1, "plugin": accounts.plugin, "kubelet": accounts.kubelet, "problem": accounts.problem}


def node_from_json(body: Any) -> NodeAccounts:
    """ValueError when it is malformed, or of a version that is not known."""
    document = _document(body)
    plugin, kubelet = document.get("plugin"), document.get("kubelet")
    told = None if kubelet is None else _holders(kubelet)
    return NodeAccounts(_holders(plugin), told, str(document.get("problem", "")))


def ledger_to_json(ledger: LedgerAccount) -> JSON:
    return {
        "v": 1,
        "nodes": {
            node: {
                uid: {"devices": sorted(stake.devices), "booked": dict(stake.booked)}
                for uid, stake in stakes.items()
            }
            for node, stakes in ledger.items()
        },
    }


def ledger_from_json(body: Any) -> LedgerAccount:
    """ValueError when it is malformed, or of a version that is not known."""
    try:
        return {
            str(node): {str(uid): _stake(found) for uid, found in stakes.items()}
            for node, stakes in _document(body)["nodes"].items()
        }
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"not a ledger: {error!r}") from error


def _told(entries: Any) -> Mapping[str, tuple[str, ...]]:
    return {
        str(entry["name"]): tuple(str(device["resourceID"]) for device in entry["resources"])
        for entry in entries
        if is_device_resource(str(entry["name"])) and entry.get("resources")
    }


def _document(body: Any) -> Mapping[str, Any]:
    if not isinstance(body, Mapping) or body.get("v") != 1:
        raise ValueError("not an account of version 1")
    return body


def _holders(found: Any) -> Holders:
    if not isinstance(found, Mapping):
        raise ValueError("not an account: holders by pod UID are needed")
    read = {str(uid): allocation_of(containers) for uid, containers in found.items()}
    if None in read.values():
        raise ValueError("not an account: container -> resource -> device ids are needed")
    return {uid: allocation for uid, allocation in read.items() if allocation is not None}


def _stake(found: Any) -> Stake:
    booked = {str(resource): int(amount) for resource, amount in found["booked"].items()}
    return Stake(frozenset(map(str, found["devices"])), booked)

"""The ledger as an audit is told it: by node and pod, what decisions are made with.

Law: owners are taken from the very nodes that pods are judged on, not from the claims that these were built from, so
that an audit sees what a decision sees.
"""

from collections import defaultdict

from gpuyard.auditing.accounts import LedgerAccount, Stake
from gpuyard.placing.cluster import Node
from gpuyard_extender.ledger.ledger import Ledger


def account(ledger: Ledger, now: float) -> LedgerAccount:
    """The stakes of all pods that are bound, seated or assumed, on every node."""
    nodes = ledger.cluster(now).nodes
    booked = {name: ledger.holdings.booked(name) for name in nodes}
    return {
        name: {
            uid: Stake(frozenset(devices[uid]), booked[name].get(uid, {}))
            for devices in [_devices(node)]
            for uid in {*devices, *booked[name]}
        }
        for name, node in nodes.items()
    }


def _devices(node: Node) -> defaultdict[str, set[str]]:
    """Pod UID -> ids, also those that it waits for because another pod owns them."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for device, uid in node.owners.items():
        for claimant in (uid, *node.contested.get(device, ())):
            found[claimant].add(device)
    return found

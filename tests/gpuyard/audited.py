"""Pods that hold devices, and five accounts of them that agree until a test makes one wrong."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field

from gpuyard import annotations, vocabulary
from gpuyard.annotations import Allocation, ids
from gpuyard.auditing.accounts import LedgerAccount, NodeAccounts, Stake
from gpuyard.auditing.audit import audit
from gpuyard.auditing.evidence import Objects, evidence
from gpuyard.auditing.findings import Finding, Flaw
from gpuyard.hardware.inventory import Inventory
from gpuyard.writes import JSON
from tests.gpuyard.builders import GPU_RESOURCE, gpus

NODE = "node-1"
GPUS = tuple(gpu.uuid for gpu in gpus(4, node=NODE))
NOTHING: Allocation = {}


def holding(*places: int, container: str = "main") -> Allocation:
    """What a container holds: the GPUs with these indices."""
    return {container: {GPU_RESOURCE: tuple(GPUS[place] for place in places)}}


@dataclass(frozen=True)
class Tenant:
    """A pod and what it really holds, `init` containers and `sidecars` too; all else follows from that.

    `plan` and `told` (its own status) are as they should be where they are not given. `phase` Pending with `node`:
    the kubelet has not said anything yet.
    """

    name: str
    held: Allocation = field(default_factory=dict)
    init: Sequence[str] = ()
    sidecars: Sequence[str] = ()
    node: str = NODE
    phase: str = "Running"
    plan: Allocation | None = None
    told: Allocation | None = None
    planned: bool = True
    group: str = ""
    terminating: bool = False
    milli: int = 0
    """The thousandths that its share may use; 0: it does not say."""

    @property
    def uid(self) -> str:
        return f"uid-{self.name}"

    @property
    def early(self) -> tuple[str, ...]:
        return (*self.init, *self.sidecars)

    @property
    def status(self) -> Allocation:
        if self.told is not None:
            return self.told
        return {name: given for name, given in self.held.items() if name not in self.early}

    def to_object(self) -> JSON:
        plan = self.held if self.plan is None else self.plan
        notes = {vocabulary.ALLOCATION: annotations.write_allocation(plan)} if self.planned else {}
        metadata: JSON = {"uid": self.uid, "namespace": "default", "name": self.name, "annotations": notes}
        notes |= {vocabulary.GPU_MILLI: str(self.milli)} if self.milli else {}
        metadata["labels"] = {vocabulary.POD_GROUP: self.group} if self.group else {}
        if self.terminating:
            metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        wanted = {name: self._wants(name) for name in {**self.held, **plan}}
        early = [wanted[name] for name in self.early]
        apps = [container for name, container in wanted.items() if name not in self.early]
        spec: JSON = {"containers": apps, "initContainers": early}
        if self.node:
            spec["nodeName"] = self.node
        return {"metadata": metadata, "spec": spec, "status": self._status(apps)}

    def _wants(self, name: str) -> JSON:
        given = self.held.get(name) or (self.plan or {})[name]
        limits = {resource: str(len(found)) for resource, found in given.items()}
        always = {"restartPolicy": "Always"} if name in self.sidecars else {}
        return {"name": name, "resources": {"limits": limits}, **always}

    def _status(self, apps: Sequence[JSON]) -> JSON:
        if self.phase == "Pending":
            return {"phase": "Pending"}
        told = [
            {
                "name": app["name"],
                "allocatedResourcesStatus": [
                    {"name": resource, "resources": [{"resourceID": found} for found in given]}
                    for resource, given in self.status.get(app["name"], {}).items()
                ],
            }
            for app in apps
        ]
        return {"phase": self.phase, "containerStatuses": told}


def node(inventory: Inventory | None = Inventory(gpus(4, node=NODE)), capacity: int = 4) -> JSON:  # noqa: B008
    notes = {} if inventory is None else {vocabulary.INVENTORY: annotations.write_inventory(inventory)}
    labels = {vocabulary.FAKE_GPUS: "true"}
    metadata = {"name": NODE, "annotations": notes, "labels": labels}
    return {"metadata": metadata, "status": {"capacity": {GPU_RESOURCE: str(capacity)}}}


@dataclass(frozen=True)
class Books:
    """What an audit is given. `kept` makes it of tenants, with accounts that agree."""

    objects: Objects
    ledger: LedgerAccount | None
    told: NodeAccounts | None

    @staticmethod
    def kept(*tenants: Tenant, node: JSON = node(), **more: Sequence[JSON]) -> "Books":  # noqa: B008
        pods = tuple(tenant.to_object() for tenant in tenants)
        here = [t for t in tenants if t.node and t.phase not in ("Succeeded", "Failed")]
        served = [tenant for tenant in here if tenant.phase == "Running"]
        hidden = {t.uid: {n: h for n, h in t.held.items() if n not in t.init} for t in served}
        return Books(
            Objects((node,), pods, **{kind: tuple(found) for kind, found in more.items()}),
            {NODE: {tenant.uid: _stake(tenant) for tenant in here}},
            NodeAccounts({tenant.uid: tenant.held for tenant in served}, hidden),
        )

    def but(self, **changes: object) -> "Books":
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]

    def stating(self, tenant: Tenant, stake: Stake | None) -> "Books":
        """The ledger says this of a pod; None: nothing."""
        assert self.ledger is not None
        others = {uid: found for uid, found in self.ledger[NODE].items() if uid != tenant.uid}
        return self.but(ledger={NODE: others if stake is None else {**others, tenant.uid: stake}})

    def telling(self, tenant: Tenant, *, plugin: Allocation | None, kubelet: Allocation | None) -> "Books":
        """Plugin and kubelet say this of a pod; None: as before."""
        assert self.told is not None
        told = NodeAccounts(
            self.told.plugin if plugin is None else {**self.told.plugin, tenant.uid: plugin},
            self.told.kubelet if kubelet is None else {**(self.told.kubelet or {}), tenant.uid: kubelet},
        )
        return self.but(told=told)

    def findings(self) -> tuple[Finding, ...]:
        plugins = {} if self.told is None else {NODE: self.told}
        return audit(evidence(self.objects, self.ledger, plugins))


def _stake(tenant: Tenant) -> Stake:
    plan = (tenant.held if tenant.plan is None else tenant.plan) if tenant.planned else {}
    status = {} if tenant.phase == "Pending" else tenant.status
    pod = tenant.to_object()
    asked = evidence(Objects(pods=(pod,)), None, {}).pods[tenant.uid].asked
    return Stake(ids({**plan, **{name: given for name, given in status.items() if given}}), asked)


def flaws(books: Books) -> list[tuple[Flaw, str]]:
    return [(finding.flaw, finding.subject) for finding in books.findings()]


def the(books: Books) -> Finding:
    """The only finding."""
    (finding,) = books.findings()
    return finding

"""Admissions of one node: what to prefer, what to give, and to whom.

Stands for the stateful half of NVIDIA's internal/plugin/server.go. It remembers whose admission is under way; all
else that it knows can be read again from the API and the kubelet.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from gpuyard import vocabulary
from gpuyard.narration import Beat
from gpuyard.pods import limits
from gpuyard.writes import JSON
from gpuyard_device_plugin.allocating import allocations, choice, identity, node_pods, wire
from gpuyard_device_plugin.allocating.allocations import AllocationRefusedError, Allotment, Refusal
from gpuyard_device_plugin.allocating.choice import Offer
from gpuyard_device_plugin.allocating.identity import Hand
from gpuyard_device_plugin.allocating.pod_devices import Claim, Listed, PodDevices
from gpuyard_device_plugin.allocating.tally import Outcome, Tally
from gpuyard_device_plugin.containers import grants, smi
from gpuyard_device_plugin.containers.grants import Grant
from gpuyard_device_plugin.devices.devices import DeviceTable, Occupied
from gpuyard_device_plugin.ports import PluginSpec, PodResourcesError, Ports


class Admissions:
    """The pods of a node and their devices; `table` gives the devices as of now."""

    def __init__(self, spec: PluginSpec, ports: Ports, table: Callable[[], DeviceTable]) -> None:
        self._spec, self._ports, self._table = spec, ports, table
        self._state = PodDevices()
        self._hand: Hand | None = None
        self._last: str | None = None
        self.tally = Tally()

    @property
    def state(self) -> PodDevices:
        """Who holds what, as of now."""
        return self._state

    def replace(self, pods: Iterable[JSON]) -> None:
        """All pods as of now; those of other nodes are left out."""
        found = (node_pods.read(pod) for pod in pods if self._is_here(pod))
        self._state = self._state.with_pods(pod for pod in found if pod is not None)

    def observe(self, event: str, obj: JSON) -> None:
        """One change of a pod."""
        if self._is_here(obj) and (pod := node_pods.read(obj)) is not None:
            gone = event == "DELETED"
            self._state = self._state.without_pod(pod.uid) if gone else self._state.with_pod(pod)

    async def prefer(self, offer: Offer) -> tuple[str, ...]:
        """The ids that the kubelet should take; it may take others."""
        claim = await self._identify(offer)
        offered = frozenset((*offer.available, *offer.must))
        self._hand = None if claim is None else Hand(claim, offer.size, offered)
        plan = () if claim is None else identity.planned(self._state, claim)
        open_claims = [other for other in identity.open_claims(self._state) if other != claim]
        elsewhere = {device for other in open_claims for device in identity.planned(self._state, other)}
        occupied = Occupied(self._table(), self._state.holders().keys())
        chosen = choice.prefer(self._table(), occupied, offer, plan, elsewhere)
        why = "as planned" if set(plan) == set(chosen) else "not as planned" if plan else "no plan"
        self._tell(f"GetPreferredAllocation for {self._whose(claim)}: {self._where(chosen)}, {why}")
        return chosen

    async def allocate(self, resource: str, asked: Sequence[tuple[str, ...]]) -> list[Grant]:
        """What each container gets with the ids; AllocationRefusedError: nothing has changed."""
        allotments = [self._allotment(resource, ids) for ids in asked]
        while (refusal := self._refusal(allotments)) is not None:
            if not await self._has_left(refusal.holder):
                self.tally.allocations[Outcome.REFUSED] += len(allotments)
                self._tell(f"Allocate for {self._whose(allotments[0].claim)} refused: {refusal.text}")
                raise AllocationRefusedError(refusal)
        return [self._give(allotment) for allotment in allotments]

    def reconfigure(self, spec: PluginSpec) -> None:
        """From now on this configuration counts; what pods hold they keep."""
        self._spec = spec

    def held(self) -> Mapping[str, str]:
        """The ids that pods of the node hold, each with its resource."""
        return {device: next(iter(claims)).resource for device, claims in self._state.holders().items()}

    async def _identify(self, offer: Offer) -> Claim | None:
        try:
            listed = wire.listed(await self._ports.pod_resources.list())
        except PodResourcesError as error:
            self._tell(f"cannot tell whose admission it is: {error}")
            return None
        await self._look_again(listed)
        claim = self._in_hand(listed, offer)
        if claim is None and (doubtful := identity.doubtful(self._state, listed, offer.resource)):
            await self._fetch(doubtful)
            claim = self._in_hand(listed, offer)
        return claim

    def _in_hand(self, listed: Sequence[Listed], offer: Offer) -> Claim | None:
        self._state = self._state.with_listed(listed)
        offered = (*offer.available, *offer.must)
        return identity.in_hand(self._state, listed, offer.resource, offer.size, offered)

    async def _look_again(self, listed: Sequence[Listed]) -> None:
        """GET holders that the kubelet does not list: it knew before the watch told that they are gone."""
        names = {(entry.namespace, entry.name) for entry in listed}
        holders = {claim.uid: claim for claims in self._state.holders().values() for claim in claims}
        for uid, holder in holders.items():
            pod = self._state.pods[uid]
            if (pod.namespace, pod.name) not in names:
                await self._has_left(holder)

    async def _fetch(self, entries: Sequence[Listed]) -> None:
        """GET pods that the kubelet knows before the watch told of them."""
        for entry in entries:
            reply = await self._ports.api.read(node_pods.path(entry.namespace, entry.name))
            if not reply.ok or (pod := node_pods.read(reply.body)) is None:
                continue
            known = self._state.named(entry.namespace, entry.name)
            if known is not None and known.uid != pod.uid:
                self._state = self._state.without_pod(known.uid)
            self._state = self._state.with_pod(pod)

    async def _has_left(self, holder: Claim | None) -> bool:
        """Whether the holder of a device is gone meanwhile: the kubelet can know it before the watch tells."""
        if holder is None:
            return False
        if (known := self._state.pods.get(holder.uid)) is None:
            return True
        reply = await self._ports.api.read(known.path)
        pod = node_pods.read(reply.body) if reply.ok else None
        if reply.status == 404 or (pod is not None and (pod.uid != known.uid or pod.ended)):
            self._state = self._state.without_pod(known.uid)
            return True
        return False

    def _allotment(self, resource: str, ids: tuple[str, ...]) -> Allotment:
        hand, self._hand = self._hand, None
        if hand is not None and hand.explains(resource, ids) and hand.claim.uid in self._state.pods:
            claim: Claim | None = hand.claim
        else:
            claim = identity.claimant(self._state, self._last, resource, ids)
        return Allotment(resource, ids, claim, self._spec.config.fail_requests_greater_than_one)

    def _refusal(self, allotments: Sequence[Allotment]) -> Refusal | None:
        return allocations.check_all(self._table(), self._state, allotments)

    def _give(self, allotment: Allotment) -> Grant:
        if allotment.claim is not None:
            self._state = self._state.with_given(allotment.claim, allotment.ids)
            self._last = allotment.claim.uid
        plan = () if allotment.claim is None else identity.planned(self._state, allotment.claim)
        self.tally.allocations[Outcome.of(allotment.ids, plan)] += 1
        whose = self._whose(allotment.claim)
        self._tell(f"Allocate for {whose}: {allotment.resource} {self._where(allotment.ids)}")
        devices = self._table().find(allotment.resource, allotment.ids)
        inventory = self._table().inventory
        limited = limits.NONE if allotment.claim is None else self._state.pods[allotment.claim.uid].limits
        given = grants.grant(inventory, self._spec.config, devices, limited)
        return smi.with_smi(given, smi.variables(inventory, devices, limited), self._ports.smi)

    def _is_here(self, pod: JSON) -> bool:
        return (pod.get("spec") or {}).get("nodeName") == self._spec.node

    def _where(self, ids: Collection[str]) -> str:
        gpus = sorted({self._table().by_id[found].gpu for found in ids if found in self._table().by_id})
        return f"{len(ids)} on GPU {', '.join(map(str, gpus))}" if gpus else "nothing"

    def _whose(self, claim: Claim | None) -> str:
        pod = None if claim is None else self._state.pods.get(claim.uid)
        return "an unknown pod" if pod is None or claim is None else f"{pod.label} {claim.container}"

    def _tell(self, text: str) -> None:
        self._ports.narrate(Beat(vocabulary.DEVICE_PLUGIN, f"{self._spec.node}: {text}"))

"""Which shares of a GPU are worth what a pod needs, by thousandths and MiB (`limits`).

Stands for the books that a scheduler for fractions of GPUs keeps, beside the kubelet's count of devices. Laws:
- thousandths and memory both hold; where no pod limits its share, the count of shares decides alone;
- a limited share lies on the GPU with the least left that suffices, so that larger parts stay free elsewhere.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from gpuyard.hardware.gpus import GPU
from gpuyard.hardware.inventory import Device
from gpuyard.placing import parts, shortages
from gpuyard.placing.occupancy import Occupancy
from gpuyard.pods import limits
from gpuyard.pods.limits import Limits
from gpuyard.verdicts import Reason, Rejection


def narrowed(limited: Limits, occupancy: Occupancy, totals: Mapping[str, int]) -> Occupancy | Rejection:
    """The same devices, of which only those are idle that are worth it to a pod that is `limited` like this."""
    if limited:
        [resource] = totals
        return _for_one(limited, occupancy, resource)
    return _for_plain(occupancy, totals)


def open_to_all(occupancy: Occupancy) -> Occupancy:
    """The same devices as a pod finds them that says nothing: of each GPU so many shares as there is room for."""
    return occupancy.only(_worth(occupancy)) if occupancy.limits else occupancy


def suffices(occupancy: Occupancy, devices: Iterable[Device], limited: Limits) -> bool:
    """Whether a pod that is `limited` like this can get these idle devices without using what others have."""
    if not (limited or occupancy.limits):
        return True
    gpus, rest, needed = _gpus(occupancy), parts.left(occupancy), defaultdict[int, Limits](Limits)
    for device in filter(parts.is_handle, devices):
        needed[device.gpu] += parts.used(device, gpus[device.gpu], occupancy.inventory, limited)
    return all(need.within(rest[gpu]) for gpu, need in needed.items())


def _for_one(limited: Limits, occupancy: Occupancy, resource: str) -> Occupancy | Rejection:
    offered, idle = occupancy.offered(resource), occupancy.unowned(resource)
    if offered and not all(map(parts.is_handle, offered)):
        return Rejection("", Reason.INVALID_REQUEST, limits.no_share(limited, resource))
    gpus, rest = _gpus(occupancy), parts.left(occupancy)
    most = max((gpus[device.gpu].memory_mib for device in offered), default=limited.mib)
    if limited.mib > most:
        detail = f"needs {limited.mib} MiB of a GPU, the most that one has is {most}"
        return Rejection("", Reason.GPU_MEMORY_TOO_SMALL, detail)
    if not idle:
        # Handles have run out, or there are none: that is said by count.
        return occupancy
    roomy = [device for device in idle if limited.on(gpus[device.gpu]).within(rest[device.gpu])]
    well = [device for device in roomy if device.healthy]
    if not well:
        reason = Reason.GPU_UNHEALTHY if roomy else Reason.SHARES_EXHAUSTED
        return Rejection("", reason, f"needs {limited.asked} of a GPU; {_told(rest, idle)}")
    best = min(well, key=lambda device: (rest[device.gpu].milli, rest[device.gpu].mib, device.gpu)).gpu
    return occupancy.only(device for device in well if device.gpu == best)


def _for_plain(occupancy: Occupancy, totals: Mapping[str, int]) -> Occupancy | Rejection:
    open_now = open_to_all(occupancy)
    if open_now is occupancy:
        return occupancy
    for resource, needed in sorted(totals.items()):
        idle = occupancy.free(resource)
        if len(open_now.free(resource)) < needed <= len(idle):
            text = shortages.needs(resource, needed, occupancy.offered(resource))
            return Rejection("", Reason.SHARES_EXHAUSTED, f"{text}; {_told(parts.left(occupancy), idle)}")
    return open_now


def _worth(occupancy: Occupancy) -> Iterator[Device]:
    gpus, rest, given = _gpus(occupancy), parts.left(occupancy), Counter[int]()
    for device in (occupancy.devices[i] for i in occupancy.idle):
        if parts.is_handle(device):
            part = parts.used(device, gpus[device.gpu], occupancy.inventory, limits.NONE)
            given[device.gpu] += 1
            times = given[device.gpu]
            if not Limits(part.milli * times, part.mib * times).within(rest[device.gpu]):
                continue
        yield device


def _gpus(occupancy: Occupancy) -> dict[int, GPU]:
    return {gpu.index: gpu for gpu in occupancy.inventory.gpus}


def _told(rest: Mapping[int, Limits], devices: Collection[Device]) -> str:
    return ", ".join(f"GPU {gpu} has {rest[gpu]} left" for gpu in sorted({device.gpu for device in devices}))

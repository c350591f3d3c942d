"""Devices with several owners."""

import dataclasses

from gpuyard.auditing.findings import Flaw
from gpuyard.hardware.gpus import Instance
from gpuyard.hardware.inventory import Inventory, MigStrategy
from tests.gpuyard.audited import GPUS, NODE, Books, Tenant, flaws, holding, node, the
from tests.gpuyard.builders import gpus


def test_a_device_with_two_owners_is_found_once_with_all_who_say_so() -> None:
    books = Books.kept(Tenant("one", holding(0)), Tenant("two", holding(0)))
    finding = the(books)
    assert (finding.flaw, finding.subject) == (Flaw.SEVERAL_OWNERS, GPUS[0])
    assert finding.says["default/one main"] == ("kubelet", "status")
    assert finding.says["default/two"] == ("ledger", "plugin")


def test_devices_that_lie_on_the_same_slices_of_a_gpu_are_one_device_to_their_owners() -> None:
    halves = (Instance("4g.20gb", 0, 4, "MIG-a"), Instance("2g.10gb", 2, 2, "MIG-b"))
    (gpu,) = gpus(1, node=NODE)
    overlapping = Inventory(
        (dataclasses.replace(gpu, mig_enabled=True, instances=halves),), mig_strategy=MigStrategy.MIXED
    )
    first = Tenant("one", {"main": {"nvidia.com/mig-4g.20gb": ("MIG-a",)}})
    second = Tenant("two", {"main": {"nvidia.com/mig-2g.10gb": ("MIG-b",)}})
    finding = the(Books.kept(first, second, node=node(overlapping)))
    assert (finding.flaw, finding.subject) == (Flaw.SEVERAL_OWNERS, "MIG-a and MIG-b")


def test_two_containers_of_a_pod_that_run_together_are_two_owners() -> None:
    tenant = Tenant("one", {**holding(0, container="a"), **holding(0, container="b")})
    assert (Flaw.SEVERAL_OWNERS, GPUS[0]) in flaws(Books.kept(tenant))

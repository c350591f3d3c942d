"""Nodes and GPUs of which more is asked than there is."""

import pytest

from gpuyard.auditing.findings import Flaw
from gpuyard.hardware.inventory import Inventory, Sharing, SharingMode
from tests.gpuyard.audited import NODE, Books, Tenant, holding, node, the
from tests.gpuyard.builders import GPU_RESOURCE, gpus


def test_a_node_of_which_more_is_asked_than_it_has_is_found() -> None:
    tenants = [Tenant(f"pod-{n}", holding(n), planned=False) for n in range(4)]
    finding = the(Books.kept(*tenants, node=node(None, capacity=3)).but(told=None))
    assert (finding.flaw, finding.subject) == (Flaw.OVER_COMMITTED, GPU_RESOURCE)
    assert finding.says == {"asked": ("4",), "offered": ("3",)}


@pytest.mark.parametrize(("parts", "over"), [((500, 500), False), ((500, 501), True), ((950, 0), True)])
def test_a_gpu_of_which_shares_use_more_than_there_is_is_found(parts: tuple[int, ...], over: bool) -> None:
    shared = Inventory(gpus(1, node=NODE), Sharing(SharingMode.MPS, 10))
    handles = [device.id for device in shared.devices()]
    tenants = [
        Tenant(f"pod-{n}", {"main": {GPU_RESOURCE: (handles[n],)}}, milli=milli)
        for n, milli in enumerate(parts)
    ]
    books = Books.kept(*tenants, node=node(shared, capacity=10))
    assert [(found.flaw, found.subject) for found in books.findings()] == (
        [(Flaw.OVER_COMMITTED, "GPU 0")] if over else []
    )

"""Where the Service leads: to one address, whatever was written there before."""

import pytest

from gpuyard.writes import JSON
from gpuyard_extender.leadership.endpoints import SLICES, Address, endpoint_slice, leads_to, publication

POD, LAPTOP, SIX = Address("10.244.1.7", 8081), Address("172.18.0.1", 9000), Address("fd00::7", 8081)


def stored(address: Address) -> JSON:
    found = endpoint_slice(address)
    return {**found, "metadata": {**found["metadata"], "resourceVersion": "41", "uid": "u"}}


@pytest.mark.parametrize(("address", "text"), [(POD, "10.244.1.7:8081"), (SIX, "[fd00::7]:8081")])
def test_an_address_is_written_as_in_a_url(address: Address, text: str) -> None:
    assert str(address) == text


def test_without_a_slice_one_is_made_that_belongs_to_the_service() -> None:
    write = publication(POD, None)
    assert write is not None
    assert (write.method, write.path, write.body) == ("POST", SLICES, endpoint_slice(POD))
    assert endpoint_slice(POD)["metadata"]["labels"]["kubernetes.io/service-name"] == "gpuyard-extender"


def test_a_slice_that_leads_here_is_left_alone_whatever_the_server_added() -> None:
    found = stored(POD)
    found["endpoints"][0]["conditions"] |= {"serving": True}
    found["endpoints"][0]["nodeName"] = "worker"
    assert publication(POD, found) is None


def test_a_slice_that_leads_elsewhere_is_replaced_unless_it_changed_meanwhile() -> None:
    write = publication(LAPTOP, stored(POD))
    assert write is not None
    assert isinstance(write.body, dict)
    assert (write.method, write.path) == ("PUT", f"{SLICES}/gpuyard-extender")
    assert write.body["metadata"]["resourceVersion"] == "41"
    assert leads_to(write.body) == [("172.18.0.1", 9000)]


def test_a_slice_of_the_other_family_is_deleted_first() -> None:
    write = publication(SIX, stored(POD))
    assert write is not None
    assert (write.method, write.path) == ("DELETE", f"{SLICES}/gpuyard-extender")


def test_an_endpoint_that_is_not_ready_leads_nowhere() -> None:
    found = stored(POD)
    found["endpoints"][0]["conditions"]["ready"] = False
    assert leads_to(found) == []
    assert publication(POD, found) is not None

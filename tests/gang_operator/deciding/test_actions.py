"""The operator's writes, as the API server gets them."""

from gpuyard import vocabulary
from gpuyard.groups.reservations import Reservation, Seat
from gpuyard.writes import PatchType
from gpuyard_operator.deciding.actions import admit, evict, let_go, report, reserve, unreserve, withdraw
from gpuyard_operator.objects.groups import Group
from gpuyard_operator.objects.members import Member

GROUP = Group("blue", "ring", "uid-ring", 2)
A, B = (Member("blue", name, f"uid-{name}", gated=True) for name in "ab")


def test_a_reservation_is_owned_by_its_group() -> None:
    write = reserve(Reservation("blue", "ring", 2, 1e9, (Seat("uid-a", "a", "node-1", {}),)), GROUP)
    assert (write.method, write.path) == ("POST", "/apis/gpuyard.io/v1alpha1/namespaces/blue/reservations")
    assert isinstance(write.body, dict)
    assert write.body["metadata"]["ownerReferences"][0]["uid"] == "uid-ring"


def test_only_the_reservation_that_was_seen_is_deleted() -> None:
    write = unreserve(GROUP, {"metadata": {"uid": "uid-places"}})
    assert isinstance(write.body, dict)
    assert (write.method, write.body["preconditions"]) == ("DELETE", {"uid": "uid-places"})


def test_an_un_gating_names_our_gate_and_the_pod_by_uid() -> None:
    _, _, first, _ = admit([(A, "node-1"), (B, "node-2")])
    assert first.patch is PatchType.STRATEGIC
    assert first.body == {
        "metadata": {"uid": "uid-a"},
        "spec": {"schedulingGates": [{"$patch": "delete", "name": vocabulary.GANG_GATE}]},
    }


def test_what_is_done_already_is_not_done_again() -> None:
    nominated = Member("blue", "a", "uid-a", gated=True, nominated="node-1")
    through = Member("blue", "b", "uid-b")
    writes = admit([(nominated, "node-1"), (through, "node-2")])
    assert [write.path for write in writes] == ["/api/v1/namespaces/blue/pods/a"]
    assert let_go([Member("blue", "c", "uid-c", guarded=False)]) == ()


def test_an_eviction_means_one_very_pod() -> None:
    write = evict(A)
    assert isinstance(write.body, dict)
    assert write.path == "/api/v1/namespaces/blue/pods/a/eviction"
    assert write.body["deleteOptions"] == {"preconditions": {"uid": "uid-a"}}


def test_a_report_goes_to_the_status_alone() -> None:
    [write] = report(GROUP, {"phase": "Running"})
    assert write.path.endswith("/podgroups/ring/status")
    assert write.body == {"status": {"phase": "Running"}}


def test_only_what_a_gated_pod_was_promised_is_withdrawn() -> None:
    promised = Member("blue", "a", "uid-a", gated=True, nominated="node-1")
    through = Member("blue", "b", "uid-b", nominated="node-2")
    (write,) = withdraw([promised, through, B])
    assert write.path == "/api/v1/namespaces/blue/pods/a/status"
    assert write.body == {"metadata": {"uid": "uid-a"}, "status": {"nominatedNodeName": None}}

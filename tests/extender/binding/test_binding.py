"""What one Bind is answered, from one state of the ledger."""

from gpuyard import annotations, vocabulary
from gpuyard.placing.cluster import Placement
from gpuyard.verdicts import Reason
from gpuyard.writes import JSON
from gpuyard_extender.binding import binding
from gpuyard_extender.binding.binding import BindRequest, Bound, Commit, Gate, Held, Refused
from gpuyard_extender.ledger.claims import Grade
from gpuyard_extender.ledger.ledger import Ledger
from tests.extender.builders import device, gpu_node, gpu_pod, reservation

NOBODY = Gate((), 0.0)


def decide(pod: JSON, gate: Gate = NOBODY, now: float = 0.0, seated: bool = False) -> binding.Answer:
    """The answer to a Bind of `pod` to node-1; `seated`: its gang of two holds a seat there."""
    ledger = Ledger()
    ledger.replace("nodes", [gpu_node("node-1", 1)])
    ledger.replace("pods", [pod])
    if seated:
        seats = {"a": ("node-1", [device("node-1", 0)]), "b": ("node-2", [device("node-2", 0)])}
        ledger.replace("reservations", [reservation("g", seats, expires=60.0, needed=2)])
    return binding.decide(BindRequest("default", "a", "uid-a", "node-1"), ledger, gate, now)


def test_the_binding_names_pod_uid_node_and_plan() -> None:
    answer = decide(gpu_pod("a"))
    assert isinstance(answer, Commit)
    assert (answer.write.method, answer.write.path) == (
        "POST",
        "/api/v1/namespaces/default/pods/a/binding",
    )
    plan = annotations.write_allocation({"train": {vocabulary.GPU: (device("node-1", 0),)}})
    assert answer.write.body == {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {
            "name": "a",
            "namespace": "default",
            "uid": "uid-a",
            "annotations": {vocabulary.ALLOCATION: plan},
        },
        "target": {"apiVersion": "v1", "kind": "Node", "name": "node-1"},
    }


def test_a_pod_that_is_there_already_is_bound() -> None:
    assert decide(gpu_pod("a", node="node-1")) == Bound()
    assert isinstance(decide(gpu_pod("a", node="node-2")), Refused)


def test_a_pod_that_is_ending_or_another_is_refused() -> None:
    assert isinstance(decide(gpu_pod("a", terminating=True)), Refused)
    assert isinstance(decide(gpu_pod("a", uid="another")), Refused)


def test_a_member_without_a_seat_is_refused() -> None:
    assert decide(gpu_pod("a", group="g")) == Refused(Reason.RESERVATION_MISSING.text)


def test_a_member_is_held_until_its_gang_is_there_or_the_time_is_up() -> None:
    member = gpu_pod("a", group="g")
    assert decide(member, seated=True) == Held(3.0)
    assert isinstance(decide(member, Gate(("uid-b",), 0.0), seated=True), Commit)
    assert decide(member, now=3.0, seated=True) == Refused(Reason.GANG_WAITING.text)


def test_a_plan_that_others_have_gone_by_is_kept_while_it_is_good() -> None:
    """Bind judges anew; another choice, good as it may be by itself, would spoil what was assumed since."""
    ledger = Ledger()
    ledger.replace("nodes", [gpu_node("node-1", 4)])
    ledger.replace("pods", [gpu_pod("a")])
    planned = {"train": {vocabulary.GPU: (device("node-1", 2),)}}
    ledger.assume(Placement("uid-a", "node-1", planned, {vocabulary.GPU: 1}), Grade.TENTATIVE, 0.0)
    asked = BindRequest("default", "a", "uid-a", "node-1")
    kept = binding.decide(asked, ledger, NOBODY, 0.0)
    assert isinstance(kept, Commit)
    assert kept.placement.allocation == planned
    ledger.observe("pods", "ADDED", gpu_pod("b", node="node-1", plan=[device("node-1", 2)]))
    other = binding.decide(asked, ledger, NOBODY, 0.0)
    assert isinstance(other, Commit)
    assert other.placement.ids == (device("node-1", 0),)

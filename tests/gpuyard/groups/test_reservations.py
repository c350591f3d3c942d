import copy
import dataclasses
from typing import Any

import pytest

from gpuyard.groups import reservations
from gpuyard.groups.reservations import Reservation, Seat, Victim, from_object, path, to_object
from gpuyard.pods.memberships import alone
from tests.gpuyard.builders import GPU_RESOURCE

SEATS = (
    Seat("uid-0", "worker-0", "node-1", {"train": {GPU_RESOURCE: ("GPU-a", "GPU-b")}}),
    Seat("uid-1", "worker-1", "node-2", {}),
)
RESERVATION = Reservation("team", "ring", 2, 1_800_000_000.25, SEATS)


def test_a_reservation_is_read_as_it_was_written() -> None:
    assert from_object(to_object(RESERVATION, "uid-ring")) == RESERVATION
    victims = (Victim("uid-x", "other", "x"), Victim("uid-y", "team", "y", "small"))
    found = dataclasses.replace(RESERVATION, victims=victims)
    assert from_object(to_object(found, "uid-ring")) == found


def test_the_object_is_named_after_its_pod_group_which_owns_it() -> None:
    metadata = to_object(RESERVATION, "uid-ring")["metadata"]
    assert (metadata["name"], metadata["namespace"]) == ("ring", "team")
    (owner,) = metadata["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["uid"]) == ("PodGroup", "ring", "uid-ring")


def test_that_of_a_pod_alone_goes_with_the_pod() -> None:
    found = Reservation("team", alone("uid-0"), 1, 1_800_000_000.0, SEATS[:1])
    (owner,) = to_object(found, "")["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["uid"]) == ("Pod", "worker-0", "uid-0")


def test_expiry_is_written_as_a_time_that_people_read() -> None:
    assert reservations.to_spec(RESERVATION)["expires"] == "2027-01-15T08:00:00.250000Z"


def test_paths_name_the_collection_and_the_object() -> None:
    collection = "/apis/gpuyard.io/v1alpha1/namespaces/team/reservations"
    assert (path("team"), path("team", "ring")) == (collection, f"{collection}/ring")


@pytest.mark.parametrize(
    ("field", "bad"),
    [
        ("podGroup", None),
        ("needed", "many"),
        ("needed", None),
        ("expires", "soon"),
        ("expires", 5),
        ("seats", None),
        ("seats", [5]),
        ("seats", [{"uid": "a"}]),
        ("victims", 5),
        ("victims", [{"uid": "a", "pod": "b"}]),
        ("seats", [{"uid": "a", "pod": "b", "node": "c", "containers": []}]),
        ("seats", [{"uid": "a", "pod": "b", "node": "c", "containers": {"d": 5}}]),
    ],
)
def test_a_malformed_reservation_is_nothing(field: str, bad: Any) -> None:
    found = copy.deepcopy(to_object(RESERVATION, "uid-ring"))
    if bad is None:
        del found["spec"][field]
    else:
        found["spec"][field] = bad
    assert from_object(found) is None


@pytest.mark.parametrize("found", [{}, {"metadata": {}, "spec": {}}, {"metadata": None, "spec": None}])
def test_an_object_without_content_is_nothing(found: dict[str, Any]) -> None:
    assert from_object(found) is None

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.kinds.conditions import condition, with_condition


def test_a_condition_is_stamped_when_its_status_changes() -> None:
    status: JSON = with_condition({"phase": "Pending"}, {"type": "A", "status": "False"}, "1")
    status = with_condition(status, {"type": "B", "status": "True"}, "2")
    status = with_condition(status, {"type": "A", "status": "False", "reason": "Why"}, "3")
    assert status["phase"] == "Pending"
    assert [(item["type"], item["lastTransitionTime"]) for item in status["conditions"]] == [
        ("A", "1"),
        ("B", "2"),
    ]
    status = with_condition(status, {"type": "A", "status": "True"}, "4")
    assert condition({"status": status}, "A") == {"type": "A", "status": "True", "lastTransitionTime": "4"}
    assert condition({"status": status}, "C") is None

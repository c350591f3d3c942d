from typing import Any

from gpuyard.writes import JSON
from gpuyard_cluster.scheduler import reports
from gpuyard_cluster.scheduler.pods import PodInfo
from tests.cluster.small_api import pod

NOW = 1_700_000_000.0


def info(condition: JSON | None = None, nominated: str = "") -> PodInfo:
    made = pod("p")
    made["metadata"]["uid"] = "uid"
    made["status"] |= {"conditions": [condition] if condition else [], "nominatedNodeName": nominated}
    return PodInfo.of(made)


def written(found: PodInfo, message: str = "no", nominated: str | None = None) -> Any:
    write = reports.condition(found, "Unschedulable", message, NOW, nominated=nominated)
    assert write is not None
    assert isinstance(write.body, dict)
    assert write.body["metadata"] == {"uid": "uid"}
    return write.body["status"]


def test_a_condition_is_written_once() -> None:
    (condition,) = written(info())["conditions"]
    assert condition["lastTransitionTime"] == "2023-11-14T22:13:20Z"
    assert reports.condition(info(condition), "Unschedulable", "no", NOW + 60, nominated="") is None


def test_another_text_is_written_and_the_time_of_the_change_to_false_stays() -> None:
    (condition,) = written(info())["conditions"]
    condition["lastTransitionTime"] = "2020-01-01T00:00:00Z"
    (changed,) = written(info(condition), "still not")["conditions"]
    assert (changed["message"], changed["lastTransitionTime"]) == ("still not", "2020-01-01T00:00:00Z")


def test_a_nomination_is_written_and_ends_even_where_the_text_stays() -> None:
    (condition,) = written(info())["conditions"]
    assert written(info(condition), nominated="node-1")["nominatedNodeName"] == "node-1"
    assert written(info(condition, "node-1"), nominated="")["nominatedNodeName"] is None
    assert "nominatedNodeName" not in written(info(condition, "node-1"), "another text")


def test_a_binding_and_its_event_name_the_pod_by_uid() -> None:
    binding = reports.binding(info(), "node-1")
    assert binding.path == "/api/v1/namespaces/default/pods/p/binding"
    assert isinstance(binding.body, dict)
    assert (binding.body["metadata"]["uid"], binding.body["target"]["name"]) == ("uid", "node-1")
    told = reports.scheduled(info(), "node-1")
    assert (told.reason, told.text) == ("Scheduled", "Successfully assigned default/p to node-1")
    assert told.about["metadata"]["uid"] == "uid"

from typing import Any

import pytest

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.kinds import defaults


def filled(kind: str, **fields: Any) -> dict[str, Any]:
    obj = {"kind": kind, **fields}
    defaults.apply_defaults(kind, obj)
    return obj


def test_the_texts_of_a_secret_are_kept_as_base64_and_win() -> None:
    secret = filled("Secret", stringData={"x": "hi", "y": "new"}, data={"y": "b2xk", "z": "b2xk"})
    data = {"x": "aGk=", "y": "bmV3", "z": "b2xk"}
    assert secret == {"kind": "Secret", "type": "Opaque", "data": data}


def test_workloads_share_no_default_with_each_other() -> None:
    first, second = filled("Deployment"), filled("Deployment")
    first["spec"]["strategy"]["rollingUpdate"]["maxSurge"] = 1
    assert second["spec"]["strategy"]["rollingUpdate"]["maxSurge"] == "25%"
    assert second["spec"]["replicas"] == 1


@pytest.mark.parametrize("left_out", [{}, {"targetPort": 0}, {"targetPort": ""}])
def test_a_service_port_targets_itself_also_where_a_go_client_writes_its_zero(left_out: JSON) -> None:
    spec = filled("Service", spec={"ports": [{"port": 80, **left_out}]})["spec"]
    assert spec["ports"] == [{"port": 80, "protocol": "TCP", "targetPort": 80}]
    assert spec["type"] == "ClusterIP"


def test_a_priority_class_has_a_value() -> None:
    assert filled("PriorityClass")["value"] == 0


def test_a_strategy_is_filled_in_below_its_own_type() -> None:
    def strategy(given: JSON) -> JSON:
        deployment: JSON = {"spec": {"strategy": given}}
        defaults.apply_defaults("Deployment", deployment)
        found: JSON = deployment["spec"]["strategy"]
        return found

    rolling = {"maxUnavailable": "25%", "maxSurge": "25%"}
    assert strategy({}) == {"type": "RollingUpdate", "rollingUpdate": rolling}
    assert strategy({"rollingUpdate": {"maxSurge": 2}})["rollingUpdate"] == rolling | {"maxSurge": 2}
    assert strategy({"type": "Recreate"}) == {"type": "Recreate"}


def test_completions_follow_from_nothing_where_parallelism_is_given() -> None:
    alone, parallel = {"spec": {}}, {"spec": {"parallelism": 3}}
    defaults.apply_defaults("Job", alone)
    defaults.apply_defaults("Job", parallel)
    assert (alone["spec"].get("completions"), parallel["spec"].get("completions")) == (1, None)

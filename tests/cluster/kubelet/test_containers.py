import pytest

from gpuyard_cluster.kubelet.checkpoint import Started
from gpuyard_cluster.kubelet.containers import blank, environments, printed
from gpuyard_cluster.kubelet.device_manager import Holding
from gpuyard_cluster.kubelet.runs import Run
from gpuyard_cluster.logs import LogLine, NoLogsError
from tests.cluster.small_api import pod


def test_each_container_sees_what_its_plugins_gave_and_its_spec_wins() -> None:
    env = [
        {"name": "MODE", "value": "mine"},
        {"name": "WHERE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
    ]
    wanted = pod("p", nodeName="a", containers=[{"name": "one", "env": env}, {"name": "two"}])
    held = [
        Holding("uid", "one", "r", ("d",), {"IDS": "d", "MODE": "plugin"}),
        Holding("uid", "one", "s", ("e",), {"MORE": "e"}),
    ]
    assert environments(wanted, held) == {
        "one": {"HOSTNAME": "p", "IDS": "d", "MORE": "e", "MODE": "mine", "WHERE": "a"},
        "two": {"HOSTNAME": "p"},
    }


def test_a_source_that_is_not_known_gives_an_empty_value() -> None:
    sources = [{"secretKeyRef": {"name": "x"}}, {"fieldRef": {"fieldPath": "spec.containers"}}, {}]
    env = [{"name": f"V{number}", "valueFrom": source} for number, source in enumerate(sources)]
    (seen,) = environments(pod("p", containers=[{"name": "main", "env": env}]), []).values()
    assert seen == {"HOSTNAME": "p", "V0": "", "V1": "", "V2": ""}


def test_an_entry_of_labels_or_annotations_can_be_a_source() -> None:
    path = "metadata.annotations['example.com/a.b']"
    env = [{"name": "INDEX", "valueFrom": {"fieldRef": {"fieldPath": path}}}]
    wanted = pod("p", annotations={"example.com/a.b": "7"}, containers=[{"name": "main", "env": env}])
    assert environments(wanted, [])["main"]["INDEX"] == "7"


def test_the_log_is_the_sorted_environment_and_the_screen_at_the_start_of_the_run() -> None:
    started = Started(1.0, {"main": {"B": "2", "A": "1"}})
    lines = printed(pod("p"), started, "main", lambda seen: [f"devices: {len(seen)}"], Run(5.0))
    assert lines == [LogLine(5.0, text) for text in ("A=1", "B=2", "devices: 2")]
    with pytest.raises(NoLogsError, match="container other is not valid for pod p"):
        printed(pod("p"), started, "other", blank, Run(5.0))

from gpuyard_cluster.kubelet.containers import environments, printed
from gpuyard_cluster.kubelet.device_manager import Holding
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


def test_the_log_is_sorted() -> None:
    assert printed({"B": "2", "A": "1"}) == "A=1\nB=2\n"

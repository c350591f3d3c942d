from gpuyard_cluster.scheduler.nominator import Nominator
from gpuyard_cluster.scheduler.pods import PodInfo
from tests.cluster.small_api import pod


def info(nominated: str = "") -> PodInfo:
    made = pod("p")
    made["metadata"]["uid"] = "p"
    made["status"]["nominatedNodeName"] = nominated
    return PodInfo.of(made)


def test_a_promise_counts_before_the_api_server_shows_it() -> None:
    nominator = Nominator()
    nominator.nominate(info(), "a")
    nominator.nominate(info())
    assert nominator.node_of("p") == "a", "an older version of the pod is no news"
    nominator.nominate(info("a"))
    nominator.nominate(info())
    assert nominator.node_of("p") == "", "it was shown, and is taken back"


def test_a_new_promise_takes_the_place_of_the_old_one() -> None:
    nominator = Nominator()
    nominator.nominate(info(), "a")
    nominator.nominate(info("b"))
    assert ([*nominator.on("a")], [each.uid for each in nominator.on("b")]) == ([], ["p"])
    nominator.withdraw("p")
    nominator.withdraw("p")
    assert [*nominator.on("b")] == []

"""Any extender will do, and one that can answer is asked first."""

import asyncio
from typing import cast

from gpuyard.writes import JSON, Reply, Write
from gpuyard_cli.connecting.extender_proxy import ExtenderProxy
from gpuyard_kube.http import HttpApi


def extender(name: str, ready: str) -> JSON:
    conditions = [{"type": "Ready", "status": ready}]
    spec = {"containers": [{"name": "extender"}]}
    return {"metadata": {"name": name}, "spec": spec, "status": {"conditions": conditions}}


class Cluster:
    """An API server whose proxy reaches `answering`; `asked` are the pods that it was to ask, in order."""

    def __init__(self, pods: list[JSON], answering: str) -> None:
        self.pods, self.answering = pods, answering
        self.asked: list[str] = []

    def bearing(self, _headers: dict[str, str]) -> "Cluster":
        return self

    async def send(self, write: Write) -> Reply:
        if "/proxy/" not in write.path:
            return Reply(201, {"status": {"token": "x"}})
        self.asked.append(f"{write.path.split('/')[6].partition(':')[0]} {write.body}")
        return Reply(200, {})

    async def read(self, path: str, **_query: str) -> Reply:
        if not path.endswith("/livez"):
            return Reply(200, {"items": self.pods})
        self.asked.append(path.split("/")[6].partition(":")[0])
        return Reply(200 if self.asked[-1] == self.answering else 503, {})


def ask(cluster: Cluster) -> Reply:
    return asyncio.run(ExtenderProxy(cast(HttpApi, cluster)).ask("/livez"))


def test_an_extender_on_a_machine_that_is_off_is_not_waited_for() -> None:
    cluster = Cluster([extender("off", "False"), extender("on", "True")], answering="on")
    assert ask(cluster).ok
    assert cluster.asked == ["on"]


def test_one_that_is_not_ready_is_asked_when_no_other_answers() -> None:
    cluster = Cluster([extender("new", "False"), extender("dead", "True")], answering="new")
    assert ask(cluster).ok
    assert cluster.asked == ["dead", "new"]


def test_without_any_extender_the_remedy_is_named() -> None:
    assert "kubectl apply" in ask(Cluster([], answering="")).reason


def test_a_question_with_a_body_is_posted_to_it() -> None:
    cluster = Cluster([extender("on", "True")], answering="on")
    proxy = ExtenderProxy(cast(HttpApi, cluster))
    assert asyncio.run(proxy.ask("/v1/simulations", {"objects": []})).ok
    assert cluster.asked == ["on {'objects': []}"]

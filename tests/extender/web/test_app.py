"""The extender over ASGI: paths, statuses and bodies."""

import asyncio
import threading
from collections.abc import Collection
from types import ModuleType, SimpleNamespace
from typing import Any

import aiohttp
import orjson
import pytest

from gpuyard.advice import explain
from gpuyard.auditing import accounts
from gpuyard.groups import gangs, plans
from gpuyard.groups.plans import Planned, PlanRequest
from gpuyard.policies.installed import PolicyError
from gpuyard.preempting import clearance
from gpuyard_extender.service import Extender
from gpuyard_extender.settings import Settings
from gpuyard_extender.transport.asgi import App
from gpuyard_extender.web.app import create_app
from tests.extender.builders import Stage, gpu_node, gpu_pod, pod_group
from tests.extender.deciding.test_evicting import full
from tests.extender.served import SECONDS, served


def call(
    stage: Stage, method: str, path: str, body: bytes = b"", *, breaks_off: bool = False
) -> tuple[int, Any]:
    """Status and body (decoded where it is JSON) of one request, whose sender may leave in the middle of it."""
    return asyncio.run(answered(create_app(stage.extender), method, path, body, breaks_off))


async def answered(
    app: App, method: str, path: str, body: bytes = b"", breaks_off: bool = False
) -> tuple[int, Any]:
    sent: list[dict[str, Any]] = []
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(b"content-type", b"application/json")],
    }

    async def receive() -> dict[str, Any]:
        if breaks_off:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    content = b"".join(message.get("body", b"") for message in sent)
    is_json = (b"content-type", b"application/json") in sent[0]["headers"]
    return sent[0]["status"], orjson.loads(content) if is_json else content.decode()


def test_the_three_verbs_answer_in_kube_schedulers_words() -> None:
    stage = Stage(gpu_node("node-1", 1), gpu_node("node-2", 1))
    pod = gpu_pod("a")
    stage.create(pod)
    args = orjson.dumps({"Pod": pod, "Nodes": None, "NodeNames": ["node-2", "node-1"]})
    status, answer = call(stage, "POST", "/filter", args)
    assert (status, answer["NodeNames"]) == (200, ["node-2", "node-1"])
    assert call(stage, "POST", "/prioritize", args) == (
        200,
        [{"Host": "node-1", "Score": 302}, {"Host": "node-2", "Score": 151}],
    )
    binding = {"PodName": "a", "PodNamespace": "default", "PodUID": "uid-a", "Node": "node-1"}
    assert call(stage, "POST", "/bind", orjson.dumps(binding)) == (200, {"Error": ""})
    assert stage.server.bindings == ["a"]


def test_a_verb_answers_200_with_an_error_whatever_it_is_sent() -> None:
    stage = Stage(gpu_node("node-1"))
    for body in (b"", b"{", b"[]", b"null", b'{"Pod":{}}', b'{"Pod":{"metadata":7},"NodeNames":[1]}'):
        status, answer = call(stage, "POST", "/filter", body)
        assert (status, bool(answer["Error"])) == (200, True)
        assert call(stage, "POST", "/prioritize", body) == (200, [])
        assert call(stage, "POST", "/preempt", body) == (200, {"NodeNameToMetaVictims": {}})
        status, answer = call(stage, "POST", "/bind", body)
        assert (status, bool(answer["Error"])) == (200, True)


def test_a_failure_of_our_own_is_an_error_too_and_stands_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise LookupError("a bug")

    stage = Stage(gpu_node("node-1"))
    nothing = {"NodeNameToMetaVictims": {}}
    for verb in ("filter", "prioritize", "preempt", "bind"):
        monkeypatch.setattr(Extender, verb, fail)
        status, answer = call(stage, "POST", f"/{verb}", b"{}")
        assert (status, answer in ([], nothing) or bool(answer["Error"])) == (200, True)
        assert "a bug" in caplog.text
        caplog.clear()


def test_a_policy_of_somebody_else_that_fails_stands_in_the_log_in_one_line(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise PolicyError("policy mine: 3.5 is no score")

    monkeypatch.setattr(Extender, "prioritize", fail)
    assert call(Stage(gpu_node("node-1")), "POST", "/prioritize", b"{}") == (200, [])
    [record] = caplog.records
    assert record.getMessage() == "prioritize failed: policy mine: 3.5 is no score"
    assert record.exc_info is None
    monkeypatch.setattr(Extender, "explanation", fail)
    told = {"error": "policy mine: 3.5 is no score"}
    assert call(Stage(gpu_node("node-1")), "GET", "/v1/pods/default/one/explain") == (500, told)


@pytest.mark.parametrize("path", ["/filter", "/prioritize", "/preempt", "/bind", "/v1/plans"])
def test_a_request_that_breaks_off_is_no_failure_of_ours(path: str, caplog: pytest.LogCaptureFixture) -> None:
    stage = Stage(gpu_node("node-1"))
    assert call(stage, "POST", path, breaks_off=True)[0] in (200, 400)
    assert not caplog.records


def test_plans_are_asked_for_as_json() -> None:
    stage = Stage(gpu_node("node-1"))
    stage.create(gpu_pod("m0", group="g"))
    request = plans.request_to_json(PlanRequest("default", "g", 1, ("uid-m0",)))
    status, answer = call(stage, "POST", "/v1/plans", orjson.dumps(request))
    assert (status, type(plans.answer_from_json(answer))) == (200, Planned)
    for body in (b"", b"[]", b'{"members":[1]}', orjson.dumps({**request, "needed": 1e300})):
        status, answer = call(stage, "POST", "/v1/plans", body)
        assert (status, "not a plan request" in answer["error"]) == (400, True)


def test_a_verb_is_answered_while_a_gang_is_planned_and_keeps_what_it_took(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage, asked, was_asked = Stage(gpu_node("node-1", 1), gpu_node("node-2", 1)), threading.Event(), []
    stage.create(gpu_pod("m0", group="g"), single := gpu_pod("single"))
    request = orjson.dumps(plans.request_to_json(PlanRequest("default", "g", 1, ("uid-m0",))))

    def slow(*given: Any) -> Any:
        was_asked.append(asked.wait(SECONDS))
        return gangs.plan(*given)

    async def both() -> None:
        app = create_app(stage.extender)
        planning = asyncio.create_task(answered(app, "POST", "/v1/plans", request))
        await asyncio.sleep(0)
        await answered(app, "POST", "/filter", orjson.dumps({"Pod": single, "NodeNames": ["node-1"]}))
        asked.set()
        answer = plans.answer_from_json((await planning)[1])
        assert isinstance(answer, Planned)
        assert [seat.node for seat in answer.reservation.seats] == ["node-2"]

    monkeypatch.setattr("gpuyard_extender.deciding.searching.gangs", SimpleNamespace(plan=slow))
    asyncio.run(both())
    assert was_asked[0]


def test_a_verb_is_answered_while_it_is_looked_for_who_has_to_go_and_room_that_comes_then_is_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage, asked, was_asked = full(), threading.Event(), []
    question = PlanRequest("default", "urgent", 2, ("uid-u0", "uid-u1"), preempt=True)
    request = orjson.dumps(plans.request_to_json(question))

    def slow(*given: Any) -> Any:
        was_asked.append(asked.wait(SECONDS))
        return clearance.make_room(*given)

    async def both() -> None:
        app = create_app(stage.extender)
        planning = asyncio.create_task(answered(app, "POST", "/v1/plans", request))
        await asyncio.sleep(0)
        pod = orjson.dumps({"Pod": gpu_pod("other"), "NodeNames": ["n1"]})
        assert (await answered(app, "POST", "/filter", pod))[1]["NodeNames"] == []
        for name in ("r0", "r1"):
            stage.delete(stage.server.pods[name])
        asked.set()
        answer = plans.answer_from_json((await planning)[1])
        assert isinstance(answer, Planned)
        assert answer.reservation.victims == ()

    monkeypatch.setattr("gpuyard_extender.deciding.evicting.clearance", SimpleNamespace(make_room=slow))
    asyncio.run(both())
    assert was_asked == [True]


def test_a_cluster_that_changes_all_the_time_keeps_no_question_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage, looked = full(), list[Any]()
    question = PlanRequest("default", "urgent", 2, ("uid-u0", "uid-u1"), preempt=True)

    def changing(*given: Any) -> Any:
        looked.append(clearance.make_room(*given))
        node = gpu_node("n1")
        node["metadata"]["labels"] = {"checked": str(len(looked))}
        stage.extender.observe("nodes", "MODIFIED", node)
        return looked[-1]

    monkeypatch.setattr("gpuyard_extender.deciding.evicting.clearance", SimpleNamespace(make_room=changing))
    _, answer = call(stage, "POST", "/v1/plans", orjson.dumps(plans.request_to_json(question)))
    told = plans.answer_from_json(answer)
    assert isinstance(told, Planned)
    assert [victim.name for victim in told.reservation.victims] == ["r0", "r1"]
    assert len(looked) == 3


def test_no_places_are_looked_for_once_nobody_waits_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else those who ask again stand behind their own old questions, until nobody is answered in time."""
    stage, go_on, planned = Stage(gpu_node("node-1", 1)), threading.Event(), list[Any]()
    stage.create(*(gpu_pod(f"m-{group}", group=group) for group in "abc"))

    def slow(*given: Any) -> Any:
        planned.append(given)
        assert go_on.wait(SECONDS)
        return gangs.plan(*given)

    async def crowd() -> None:
        async with served(create_app(stage.extender)) as (server, port), aiohttp.ClientSession() as session:

            async def ask(group: str) -> int:
                question = plans.request_to_json(PlanRequest("default", group, 1, (f"uid-m-{group}",)))
                async with session.post(f"http://127.0.0.1:{port}/v1/plans", json=question) as response:
                    return response.status

            async def settled(there: Collection[Any], count: int) -> None:
                async with asyncio.timeout(SECONDS):
                    while len(there) != count:
                        await asyncio.sleep(0.01)

            first = asyncio.create_task(ask("a"))
            await settled(planned, 1)
            impatient = asyncio.create_task(ask("b"))
            await settled(server.server_state.tasks, 2)
            impatient.cancel()
            await settled(server.server_state.connections, 1)
            go_on.set()
            assert (await first, await ask("c")) == (200, 200)

    monkeypatch.setattr("gpuyard_extender.deciding.searching.gangs", SimpleNamespace(plan=slow))
    asyncio.run(crowd())
    assert len(planned) == 2


def test_the_ledger_is_told_to_who_audits_it_once_the_cluster_is_known() -> None:
    stage = Stage(gpu_node("node-1", 1))
    stage.create(gpu_pod("a", node="node-1"))
    status, answer = call(stage, "GET", accounts.LEDGER_PATH)
    assert (status, accounts.ledger_from_json(answer)) == (200, stage.extender.accounts())
    fresh = Stage()
    fresh.extender = Extender(fresh.server, fresh.clock, Settings())
    assert call(fresh, "GET", accounts.LEDGER_PATH)[0] == 503


def test_a_pod_is_explained_by_name() -> None:
    stage = Stage(gpu_node("node-1", 1))
    stage.create(gpu_pod("big", 2))
    status, answer = call(stage, "GET", "/v1/pods/default/big/explain")
    assert (status, answer["code"]) == (200, "InsufficientGPUs")
    assert call(stage, "GET", "/v1/pods/default/nobody/explain")[0] == 404


@pytest.mark.parametrize(
    ("path", "code", "module", "slow"),
    [
        ("pods/default/big", "InsufficientGPUs", explain, "advice.explaining.explain.explain"),
        ("pods/default/m0", "GangUnplaceable", gangs, "deciding.searching.gangs.plan"),
        ("podgroups/default/g", "GangUnplaceable", gangs, "deciding.searching.gangs.plan"),
    ],
)
def test_a_verb_is_answered_while_something_is_explained(
    path: str, code: str, module: ModuleType, slow: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage, asked, was_asked = Stage(gpu_node("node-1", 1)), threading.Event(), []
    stage.extender.observe("podgroups", "ADDED", pod_group("g", 1))
    stage.create(pod := gpu_pod("big", 2), gpu_pod("m0", 2, group="g"))
    place, _, name = f"gpuyard_extender.{slow}".rpartition(".")

    def waits(*given: Any) -> Any:
        was_asked.append(asked.wait(SECONDS))
        return getattr(module, name)(*given)

    async def both() -> None:
        app = create_app(stage.extender)
        explaining = asyncio.create_task(answered(app, "GET", f"/v1/{path}/explain"))
        await asyncio.sleep(0)
        await answered(app, "POST", "/filter", orjson.dumps({"Pod": pod, "NodeNames": ["node-1"]}))
        asked.set()
        assert (await explaining)[1]["code"] == code

    monkeypatch.setattr(place, SimpleNamespace(**{**vars(module), name: waits}))
    asyncio.run(both())
    assert was_asked == [True]


def test_an_extender_is_ready_once_it_has_seen_everything() -> None:
    stage = Stage(gpu_node("node-1"))
    assert call(stage, "GET", "/readyz") == (200, "ok")
    stage.extender = Extender(stage.server, stage.clock, Settings())
    assert call(stage, "GET", "/readyz")[0] == 503
    assert call(stage, "GET", "/livez") == (200, "ok")

from typing import Any

import pytest

from tests.cluster.apiserver.calling import MERGE, PODS, Caller, pod

BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"


def running(api: Caller, name: str, *, ready: str = "True") -> None:
    api.make(PODS, pod(name, {"labels": {"app": "guarded"}}))
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]}
    assert api.patch(f"{PODS}/{name}/status", {"status": status}).status == 200


def budget(api: Caller, allowed: int, name: str = "b", **spec: Any) -> None:
    selector = {"matchLabels": {"app": "guarded"}}
    api.make(BUDGETS, {"metadata": {"name": name}, "spec": {"minAvailable": 1, "selector": selector, **spec}})
    status = {
        "observedGeneration": 1,
        "disruptionsAllowed": allowed,
        "currentHealthy": 1,
        "desiredHealthy": 1,
    }
    assert api.patch(f"{BUDGETS}/{name}/status", {"status": status}, MERGE).status == 200


def evict(api: Caller, name: str, **options: Any) -> int:
    body = {"metadata": {"name": name}, **({"deleteOptions": options} if options else {})}
    return api.post(f"{PODS}/{name}/eviction", body).status


def test_without_a_budget_a_pod_goes(api: Caller) -> None:
    running(api, "a")
    watch = api.watch(PODS, resourceVersion=str(api.server.revision))
    assert evict(api, "a") == 201
    marked = watch.take()[0].object
    assert marked["status"]["conditions"][-1]["type"] == "DisruptionTarget"
    assert api.get(f"{PODS}/a").status == 404
    assert evict(api, "a") == 404


def test_a_budget_that_is_used_up_refuses_with_429(api: Caller) -> None:
    running(api, "a")
    budget(api, 0)
    answer = api.post(f"{PODS}/a/eviction", {"metadata": {"name": "a"}})
    assert (answer.status, answer.body["reason"]) == (429, "TooManyRequests")
    assert answer.causes == {(None, "DisruptionBudget")}
    assert ("retry-after", "10") in answer.response.headers
    assert api.get(f"{PODS}/a").status == 200


def test_an_eviction_takes_its_share_of_the_budget(api: Caller) -> None:
    for name in ("a", "b"):
        running(api, name)
    budget(api, 1)
    assert (evict(api, "a"), evict(api, "b")) == (201, 429)
    status = api.get(f"{BUDGETS}/b").body["status"]
    assert (status["disruptionsAllowed"], list(status["disruptedPods"])) == (0, ["a"])


def test_a_budget_nobody_has_looked_at_refuses(api: Caller) -> None:
    running(api, "a")
    budget(api, 5)
    api.patch(f"{BUDGETS}/b", {"spec": {"minAvailable": 2}})
    assert evict(api, "a") == 429


def test_pods_that_serve_nobody_are_free_to_go(api: Caller) -> None:
    budget(api, 0)
    api.make(PODS, pod("pending", {"labels": {"app": "guarded"}}))
    assert evict(api, "pending") == 201


@pytest.mark.parametrize(("policy", "status"), [("AlwaysAllow", 201), ("IfHealthyBudget", 201)])
def test_unready_pods_go_where_the_budget_says_so(api: Caller, policy: str, status: int) -> None:
    running(api, "a", ready="False")
    budget(api, 0, unhealthyPodEvictionPolicy=policy)
    assert evict(api, "a") == status


def test_two_budgets_for_one_pod_are_an_error(api: Caller) -> None:
    running(api, "a")
    budget(api, 1)
    budget(api, 1, name="c")
    assert evict(api, "a") == 500


def test_dry_runs_and_wrong_preconditions_evict_nothing(api: Caller) -> None:
    running(api, "a")
    budget(api, 1)
    assert evict(api, "a", dryRun=["All"]) == 201
    assert evict(api, "a", preconditions={"uid": "00000000-0000-0000-0000-000000000001"}) == 409
    assert api.get(f"{BUDGETS}/b").body["status"]["disruptionsAllowed"] == 1
    assert api.get(f"{PODS}/a").body["status"]["conditions"][-1]["type"] == "Ready"
    assert api.post(f"{PODS}/a/eviction", {"metadata": {"name": "b"}}).status == 400

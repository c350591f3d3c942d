"""On steps: the parts of a whole cluster agree, and when one of them is made to err the audit finds it."""

from collections.abc import Callable, Iterator

import pytest

from gpuyard.auditing.findings import KUBELET, LEDGER, PLAN, PLUGIN, STATUS, Flaw
from gpuyard.writes import JSON, PatchType, Write
from gpuyard_cli.backends.steps import StepsAccounts
from gpuyard_cli.scenarios.auditing import Audited, look
from gpuyard_cluster.kubelet.service import Kubelet
from tests.e2e import laws
from tests.e2e.storm import NAMESPACE, RESOURCES, YARDS, Storm, container, pod, pod_group

NOTHING: tuple[str, ...] = ()


def audited(storm: Storm) -> Audited:
    """What an audit finds now; nothing happens meanwhile."""
    found = storm.yard.clock.complete(look(StepsAccounts(storm.yard)))
    assert isinstance(found, Audited)
    return found


def pass_time(storm: Storm, seconds: float = 10.0) -> None:
    for _ in storm.until(storm.now + seconds):
        pass


@pytest.fixture
def storm() -> Iterator[Storm]:
    """One pod with one device, on a cluster at rest."""
    made = Storm("whole")
    made.create(pod("one", [container("main", "nvidia.com/gpu", 1)]))
    pass_time(made)
    yield made
    made.close()


@pytest.mark.parametrize("kind", sorted(YARDS))
def test_all_accounts_agree_about_every_kind_of_container_device_and_gang(kind: str) -> None:
    storm, resource = Storm(kind), RESOURCES[kind][0]
    app, early = container("main", resource, 1), container("early", resource, 1)
    storm.create(pod("plain", [container("main", resource, 0)]))
    storm.create(pod("prepared", [app], [early]))
    storm.create(pod("beside", [app], [early | {"restartPolicy": "Always"}]))
    storm.create(pod("short", [app], seconds=3))
    storm.create(pod("big", [container("main", resource, 100)]))
    storm.create(pod_group("pair", 2))
    for number in range(2):
        storm.create(pod(f"pair-{number}", [container("main", RESOURCES[kind][-1], 1)], group="pair"))
    for seconds in (0.5, 2.0, 10.0):
        pass_time(storm, seconds)
        assert audited(storm).lines == ()
    held = [found for found in storm.pods() if found["status"].get("phase") == "Running"]
    assert {"plain", "prepared", "beside"} <= {found["metadata"]["name"] for found in held}
    storm.close()


def the_pod(storm: Storm) -> JSON:
    (found,) = storm.pods()
    return found


def change(storm: Storm, patch: JSON, subresource: str = "") -> None:
    path = f"/api/v1/namespaces/{NAMESPACE}/pods/one{subresource}"
    assert storm.yard.clock.complete(storm.yard.api.send(Write("PATCH", path, patch, PatchType.MERGE))).ok


def err_in_status(storm: Storm) -> None:
    (told,) = the_pod(storm)["status"]["containerStatuses"]
    change(storm, {"status": {"containerStatuses": [{**told, "allocatedResourcesStatus": []}]}}, "/status")


def err_in_kubelet(storm: Storm) -> None:
    kubelet = laws.service(storm, f"kubelet {the_pod(storm)['spec']['nodeName']}")
    assert isinstance(kubelet, Kubelet)
    kubelet._allocator.release(())


def err_in_plugin(storm: Storm) -> None:
    storm.yard.plugin(the_pod(storm)["spec"]["nodeName"]).observe("pods", "DELETED", the_pod(storm))


def err_in_ledger(storm: Storm) -> None:
    laws.extender(storm).ledger.observe("pods", "DELETED", the_pod(storm))


@pytest.mark.parametrize(
    ("err", "wrong"),
    [
        (err_in_status, STATUS),
        (err_in_kubelet, KUBELET),
        (err_in_plugin, PLUGIN),
        (err_in_ledger, LEDGER),
    ],
)
def test_whoever_forgets_a_device_is_the_one_that_says_nothing(
    err: Callable[[Storm], None], wrong: str, storm: Storm
) -> None:
    assert audited(storm).lines == ()
    err(storm)
    first = audited(storm).findings[0]
    assert first.flaw is Flaw.ACCOUNTS_DISAGREE
    assert first.says[wrong] == NOTHING
    others = {what for who, what in first.says.items() if who != wrong}
    assert len(others) == 1
    assert NOTHING not in others


def test_a_plan_that_was_changed_afterwards_did_not_come_true(storm: Storm) -> None:
    (plan,) = the_pod(storm)["metadata"]["annotations"].values()
    change(storm, {"metadata": {"annotations": {"gpuyard.io/allocation": plan.replace("GPU-", "GPU-f")}}})
    (finding,) = audited(storm).findings
    assert finding.flaw is Flaw.PLAN_NOT_SERVED
    assert finding.says[PLAN] == tuple(device.replace("GPU-", "GPU-f") for device in finding.says[STATUS])


def test_parts_that_start_anew_agree_with_the_others(storm: Storm) -> None:
    for part in sorted(storm.yard.parts):
        storm.restart(part)
    pass_time(storm)
    assert audited(storm).lines == ()

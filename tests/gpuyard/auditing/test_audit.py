"""Five accounts of one cluster: none of them can be wrong without being found, and nothing else is."""

import dataclasses

import pytest

from gpuyard.auditing.accounts import NodeAccounts, Stake
from gpuyard.auditing.evidence import Objects
from gpuyard.auditing.findings import Flaw
from gpuyard.groups import reservations
from gpuyard.groups.reservations import Reservation, Seat
from gpuyard.hardware.gpus import Instance, placement_uuid
from gpuyard.hardware.inventory import Inventory, MigStrategy
from gpuyard.writes import JSON
from tests.gpuyard.audited import GPUS, NODE, NOTHING, Books, Tenant, flaws, holding, node, the
from tests.gpuyard.builders import GPU_RESOURCE, ONE_G, gpus

ONE, TWO = Tenant("one", holding(0)), Tenant("two", holding(1, 2))
THREE_G = "nvidia.com/mig-3g.20gb"
SUBJECT = f"default/one main {GPU_RESOURCE}"


# --- accounts that agree


@pytest.mark.parametrize(
    "tenant",
    [
        pytest.param(Tenant("none"), id="without devices"),
        pytest.param(Tenant("fresh", holding(0), phase="Pending"), id="bound, not admitted yet"),
        pytest.param(Tenant("done", holding(0), phase="Succeeded"), id="ended: the status keeps ids"),
        pytest.param(Tenant("waits", holding(0), node="", phase="Pending", planned=False), id="waits"),
        pytest.param(Tenant("leaves", holding(0), terminating=True), id="on its way out"),
        pytest.param(
            Tenant("prepared", {**holding(0, container="prepare"), **holding(0)}, init=["prepare"]),
            id="an init container, whose device is used again",
        ),
        pytest.param(
            Tenant("beside", {**holding(0, container="proxy"), **holding(1)}, sidecars=["proxy"]),
            id="a sidecar",
        ),
        pytest.param(
            Tenant(
                "swapped",
                {
                    **holding(0, 1, container="prepare"),
                    **holding(1, container="a"),
                    **holding(0, container="b"),
                },
                init=["prepare"],
                plan={
                    **holding(0, 1, container="prepare"),
                    **holding(0, container="a"),
                    **holding(1, container="b"),
                },
            ),
            id="what an init container left, the other way round",
        ),
    ],
)
def test_nothing_is_found_where_all_accounts_agree(tenant: Tenant) -> None:
    assert Books.kept(tenant, Tenant("other", holding(3))).findings() == ()


def test_a_plugin_that_started_later_need_not_know_what_no_status_tells() -> None:
    held = {**holding(0, container="prepare"), **holding(1, container="proxy"), **holding(0)}
    tenant = Tenant("early", held, init=["prepare"], sidecars=["proxy"])
    assert Books.kept(tenant).telling(tenant, plugin=holding(0), kubelet=None).findings() == ()


def test_a_node_of_which_only_counts_are_known_needs_no_plan() -> None:
    tenant = Tenant("real", holding(0), planned=False)
    assert Books.kept(tenant, node=node(None)).but(told=None).findings() == ()


def test_devices_may_be_kept_for_pods_that_wait_or_have_a_seat() -> None:
    waiting, lost = Tenant("waits", node="", phase="Pending"), Tenant("lost")
    seat = Seat(lost.uid, "lost", NODE, holding(2))
    recorded = reservations.to_object(Reservation("default", "ring", 1, 0.0, (seat,)), "uid-ring")
    books = Books.kept(waiting, reservations=[recorded])
    kept = books.stating(waiting, Stake(frozenset(GPUS[:1]))).stating(lost, Stake(frozenset(GPUS[2:3])))
    assert kept.findings() == ()


# --- each account wrong in turn


def test_a_status_that_names_another_device_is_found() -> None:
    finding = the(Books.kept(Tenant("one", holding(0), told=NOTHING)))
    assert (finding.flaw, finding.node, finding.subject) == (Flaw.ACCOUNTS_DISAGREE, NODE, SUBJECT)
    assert finding.says == {"status": (), "kubelet": (GPUS[0],), "plugin": (GPUS[0],)}


def test_a_kubelet_that_names_another_device_is_found() -> None:
    finding = the(Books.kept(ONE).telling(ONE, plugin=None, kubelet=holding(3)))
    assert (finding.flaw, finding.subject) == (Flaw.ACCOUNTS_DISAGREE, SUBJECT)
    assert finding.says == {"status": (GPUS[0],), "kubelet": (GPUS[3],), "plugin": (GPUS[0],)}


def test_a_plugin_that_names_another_device_is_found() -> None:
    finding = the(Books.kept(ONE, TWO).telling(ONE, plugin=NOTHING, kubelet=None))
    assert (finding.flaw, finding.subject) == (Flaw.ACCOUNTS_DISAGREE, SUBJECT)
    assert finding.says == {"status": (GPUS[0],), "kubelet": (GPUS[0],), "plugin": ()}


def test_a_ledger_that_names_another_device_is_found() -> None:
    finding = the(Books.kept(ONE).stating(ONE, Stake(frozenset(GPUS[3:]), {GPU_RESOURCE: 1})))
    assert (finding.flaw, finding.subject) == (Flaw.ACCOUNTS_DISAGREE, "default/one")
    assert finding.says == {"plan": (GPUS[0],), "status": (GPUS[0],), "ledger": (GPUS[3],)}


def test_a_ledger_that_has_lost_a_pod_is_found_by_devices_and_by_counts() -> None:
    first, second = Books.kept(ONE).stating(ONE, None).findings()
    assert first.says == {"plan": (GPUS[0],), "status": (GPUS[0],), "ledger": ()}
    assert second.says == {"asked": (f"{GPU_RESOURCE} 1",), "ledger": ()}


def test_a_plan_that_did_not_come_true_is_found_and_truth_beats_it() -> None:
    finding = the(Books.kept(Tenant("one", holding(0), plan=holding(3))))
    assert (finding.flaw, finding.subject) == (Flaw.PLAN_NOT_SERVED, "default/one")
    assert finding.says == {"plan": (GPUS[3],), "status": (GPUS[0],)}


def test_a_plan_that_did_not_come_true_for_a_sidecar_is_found() -> None:
    held = {**holding(0, container="proxy"), **holding(1)}
    plan = {**holding(3, container="proxy"), **holding(1)}
    assert flaws(Books.kept(Tenant("one", held, sidecars=["proxy"], plan=plan))) == [
        (Flaw.PLAN_NOT_SERVED, "default/one")
    ]


def test_a_pod_without_a_readable_plan_is_found() -> None:
    assert flaws(Books.kept(Tenant("one", holding(0), planned=False))) == [(Flaw.NO_PLAN, "default/one")]


# --- more than accounts


@pytest.mark.parametrize(("phase", "there"), [("Succeeded", True), ("Failed", True), ("", False)])
def test_devices_of_a_pod_that_is_gone_are_found_whoever_keeps_them(phase: str, there: bool) -> None:
    tenant = Tenant("one", holding(0), phase=phase)
    empty = Books.kept(*[tenant] * there)
    subject = "default/one" if there else "uid uid-one"
    for books in (
        empty.stating(tenant, Stake(frozenset(GPUS[:1]))),
        empty.stating(tenant, Stake(booked={GPU_RESOURCE: 1})),
        empty.telling(tenant, plugin=holding(0), kubelet=None),
        empty.telling(tenant, plugin=None, kubelet=holding(0)),
    ):
        assert flaws(books) == [(Flaw.HELD_FOR_NOBODY, subject)]


def ring(needed: int, **condition: str) -> JSON:
    return {
        "metadata": {"name": "ring", "namespace": "default"},
        "spec": {"minMember": needed},
        "status": {"conditions": [{"type": "Scheduled", "status": "False", **condition}]},
    }


@pytest.mark.parametrize(
    ("group", "found"),
    [(ring(3), True), (ring(2), False), (ring(3, status="True"), False), (ring(2**31), True)],
)
def test_a_gang_that_is_bound_in_part_is_found_until_it_has_started(group: JSON, found: bool) -> None:
    members = [Tenant(f"ring-{n}", holding(n), group="ring") for n in range(2)]
    books = Books.kept(*members, Tenant("ring-2", node="", phase="Pending", group="ring"), groups=[group])
    assert flaws(books) == [(Flaw.GANG_IN_PART, "podgroup default/ring")] * found


def test_members_that_ended_or_leave_do_not_make_a_gang_half_bound() -> None:
    for member in (
        Tenant("ring-0", holding(0), group="ring", phase="Failed"),
        Tenant("ring-0", holding(0), group="ring", terminating=True),
    ):
        assert Books.kept(member, groups=[ring(3)]).findings() == ()


# --- what is not known


def test_who_could_not_be_asked_is_left_out_and_the_others_are_compared() -> None:
    tenant = Tenant("one", holding(0), plan=holding(3))
    books = Books.kept(tenant)
    assert [flaw for flaw, _ in flaws(books.but(ledger=None, told=None))] == [Flaw.PLAN_NOT_SERVED]
    silent = NodeAccounts({tenant.uid: holding(1)}, None, "does not answer")
    assert [flaw for flaw, _ in flaws(books.but(told=silent))] == [
        Flaw.ACCOUNTS_DISAGREE,
        Flaw.PLAN_NOT_SERVED,
    ]


def test_a_pod_that_cannot_be_read_is_left_out() -> None:
    pod = ONE.to_object()
    pod["status"]["containerStatuses"] = [{"name": "main", "allocatedResourcesStatus": [{"resources": 1}]}]
    assert Books(Objects((node(),), (pod,)), None, None).findings() == ()


def test_a_finding_tells_people_and_programs_the_same() -> None:
    finding = the(Books.kept(ONE).telling(ONE, plugin=None, kubelet=NOTHING))
    assert str(finding) == (
        f"AccountsDisagree: {SUBJECT} on node-1: the accounts name different devices "
        f"(status: {GPUS[0]}; kubelet: nothing; plugin: {GPUS[0]})"
    )
    says = {"status": [GPUS[0]], "kubelet": [], "plugin": [GPUS[0]]}
    assert finding.to_json() == {"flaw": "AccountsDisagree", "node": NODE, "subject": SUBJECT, "says": says}


# --- instances on demand


def cut(*profiles: str, healthy: bool = True) -> Inventory:
    """A GPU whose annotation says that these instances are there, one beside the other."""
    whole = dataclasses.replace(gpus(1, node=NODE)[0], healthy=healthy)
    made = [
        Instance(name, start, 1, placement_uuid(whole.uuid, name, start))
        for start, name in enumerate(profiles)
    ]
    split = dataclasses.replace(whole, mig_enabled=bool(made), instances=tuple(made))
    return Inventory((split,), mig_strategy=MigStrategy.DYNAMIC)


SLICE = placement_uuid(GPUS[0], "1g.5gb", 0)
SMALL = Tenant("small", {"main": {ONE_G: (SLICE,)}})


def test_instances_are_there_for_their_holders() -> None:
    assert Books.kept(SMALL, node=node(cut("1g.5gb"))).findings() == ()
    assert Books.kept(node=node(cut())).findings() == ()


def test_an_instance_that_a_pod_holds_and_that_is_not_there_is_found() -> None:
    finding = the(Books.kept(SMALL, node=node(cut())))
    assert (finding.flaw, finding.says) == (Flaw.INSTANCES_DIFFER, {"inventory": (), "plugin": (SLICE,)})


def test_an_instance_that_is_there_for_nobody_is_found_but_on_a_sick_gpu_it_stays() -> None:
    finding = the(Books.kept(node=node(cut("1g.5gb"))))
    assert (finding.flaw, finding.says) == (Flaw.INSTANCES_DIFFER, {"inventory": (SLICE,), "plugin": ()})
    assert Books.kept(node=node(cut("1g.5gb", healthy=False))).findings() == ()


def test_pods_with_overlapping_instances_are_found() -> None:
    large = Tenant("large", {"main": {THREE_G: (placement_uuid(GPUS[0], "3g.20gb", 0),)}})
    found = Books.kept(SMALL, large, node=node(cut())).findings()
    assert Flaw.SEVERAL_OWNERS in {finding.flaw for finding in found}

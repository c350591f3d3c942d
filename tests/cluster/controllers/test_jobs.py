import pytest

from gpuyard.writes import JSON
from gpuyard_cluster.controllers import job_counts
from gpuyard_cluster.controllers.jobs import Jobs
from tests.cluster.controllers.workshop import Workshop, template


def job(**spec: object) -> JSON:
    return {"template": template("j", restartPolicy="Never"), **spec}


def made(**spec: object) -> Workshop:
    shop = Workshop(Jobs())
    shop.create("jobs", "train", job(**spec))
    shop.settle()
    return shop


def status(shop: Workshop) -> JSON:
    found: JSON = shop.get("jobs", "train")["status"]
    return found


def conditions(shop: Workshop) -> list[tuple[str, str]]:
    return [
        (found["type"], found["reason"])
        for found in status(shop).get("conditions", ())
        if found["status"] == "True"
    ]


def test_a_job_runs_its_pods_side_by_side_until_enough_have_succeeded() -> None:
    shop = made(completions=3, parallelism=2)
    assert (len(shop.living()), status(shop)["active"]) == (2, 2)
    shop.run()
    shop.end(shop.living())
    assert (len(shop.living()), status(shop)["succeeded"]) == (1, 2)
    shop.run()
    shop.end(shop.living())
    assert conditions(shop) == [
        ("SuccessCriteriaMet", "CompletionsReached"),
        ("Complete", "CompletionsReached"),
    ]
    assert (status(shop)["succeeded"], "active" in status(shop)) == (3, False)
    assert status(shop)["completionTime"]
    assert "Job/train Completed: Job completed" in shop.told()


def test_ended_pods_keep_no_finalizer_and_can_be_deleted_without_being_run_again() -> None:
    shop = made(completions=2, parallelism=1)
    shop.run()
    shop.end(shop.living())
    (ended,) = [pod for pod in shop.all("pods") if pod["status"]["phase"] == "Succeeded"]
    assert "finalizers" not in ended["metadata"]
    shop.delete("pods", ended["metadata"]["name"])
    shop.settle()
    shop.run()
    shop.end(shop.living())
    assert conditions(shop)[-1] == ("Complete", "CompletionsReached")
    assert status(shop)["succeeded"] == 2


def test_each_index_is_run_once_and_known_to_its_pod() -> None:
    shop = made(completions=3, parallelism=3, completionMode="Indexed")
    pods = sorted(shop.living(), key=lambda pod: str(pod["metadata"]["name"]))
    marks = [pod["metadata"]["annotations"][job_counts.INDEX] for pod in pods]
    assert marks == ["0", "1", "2"]
    assert [pod["spec"]["hostname"] for pod in pods] == ["train-0", "train-1", "train-2"]
    variables = [variable["name"] for variable in pods[0]["spec"]["containers"][0]["env"]]
    assert variables == ["JOB_COMPLETION_INDEX"]
    shop.run()
    shop.end(pods[::2])
    assert (status(shop)["completedIndexes"], len(shop.living())) == ("0,2", 1)
    shop.end([pods[1]], code=1)
    shop.settle(10)
    (again,) = shop.living()
    assert again["metadata"]["annotations"][job_counts.INDEX] == "1"


def test_after_each_failure_the_next_attempt_waits_longer() -> None:
    shop = made(backoffLimit=3)
    for wait in (10, 20):
        shop.run()
        shop.end(shop.living(), code=1)
        shop.settle(wait - 1)
        assert shop.living() == []
        shop.settle(1)
        assert len(shop.living()) == 1


def test_too_many_failures_fail_the_job_and_end_its_other_pods() -> None:
    shop = made(completions=3, parallelism=3, backoffLimit=1)
    shop.run()
    shop.end(shop.living()[:2], code=1)
    assert shop.living() == []
    assert conditions(shop) == [("FailureTarget", "BackoffLimitExceeded")], "a pod is still on its way out"
    shop.bury()
    assert conditions(shop)[-1] == ("Failed", "BackoffLimitExceeded")
    assert status(shop)["failed"] == 3
    assert "Job/train BackoffLimitExceeded: Job has reached the specified backoff limit" in shop.told()


def test_a_job_that_runs_for_too_long_fails() -> None:
    shop = made(activeDeadlineSeconds=30)
    shop.run()
    shop.settle(30)
    shop.bury()
    assert conditions(shop)[-1] == ("Failed", "DeadlineExceeded")


def test_a_suspended_job_has_no_pods_and_its_deleted_ones_do_not_count() -> None:
    shop = made(completions=2, parallelism=2)
    shop.run()
    shop.change("jobs", "train", {"suspend": True})
    shop.settle()
    shop.bury()
    assert (shop.living(), conditions(shop)) == ([], [("Suspended", "JobSuspended")])
    assert "failed" not in status(shop)
    assert "startTime" not in status(shop)
    shop.change("jobs", "train", {"suspend": False})
    shop.settle()
    assert len(shop.living()) == 2
    assert "Job/train Resumed: Job resumed" in shop.told()


def test_fewer_pods_at_a_time_drop_some_without_counting_them() -> None:
    shop = made(completions=4, parallelism=3)
    shop.change("jobs", "train", {"parallelism": 1})
    shop.settle()
    assert (len(shop.living()), status(shop)["active"], "failed" in status(shop)) == (1, 1, False)


def test_a_finished_job_goes_when_its_time_is_over() -> None:
    shop = made(ttlSecondsAfterFinished=60)
    shop.run()
    shop.end(shop.living())
    shop.settle(59)
    assert len(shop.all("jobs")) == 1
    shop.settle(5)
    assert (shop.all("jobs"), shop.all("pods")) == ([], [])


@pytest.mark.parametrize(("code", "ended"), [(42, True), (1, False)])
def test_an_exit_code_can_fail_the_job_at_once(code: int, ended: bool) -> None:
    rule = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}
    shop = made(podFailurePolicy={"rules": [rule]})
    shop.run()
    shop.end(shop.living(), code=code)
    assert (("Failed", "PodFailurePolicy") in conditions(shop)) is ended


def test_a_pod_that_somebody_deletes_counts_as_failed_and_is_made_anew() -> None:
    shop = made()
    shop.delete("pods", shop.living()[0]["metadata"]["name"])
    shop.settle(20)
    assert (status(shop)["failed"], len(shop.living())) == (1, 1)


def test_a_job_without_completions_is_done_when_one_has_succeeded_and_all_have_ended() -> None:
    shop = made(parallelism=2)
    shop.run()
    first, second = shop.living()
    shop.end([first])
    assert len(shop.living()) == 1, "no other one is started"
    shop.end([second])
    assert conditions(shop)[-1][0] == "Complete"


@pytest.mark.parametrize("policy", ["Background", "Orphan"])
@pytest.mark.parametrize("has_namesake", [False, True])
@pytest.mark.parametrize("restarts", [False, True])
def test_pods_of_a_job_that_is_gone_are_held_by_nobody(
    policy: str, has_namesake: bool, restarts: bool
) -> None:
    shop = made(completions=2, parallelism=2)
    shop.run()
    old = {pod["metadata"]["uid"] for pod in shop.living()}
    shop.delete("jobs", "train", propagationPolicy=policy)
    if has_namesake and policy == "Orphan":
        shop.settle()
    if has_namesake:
        shop.create("jobs", "train", job())
    if restarts:
        shop.restart()
    shop.settle()
    kept = [pod for pod in shop.all("pods") if pod["metadata"]["uid"] in old]
    assert not any("finalizers" in pod["metadata"] for pod in kept)
    assert ["deletionTimestamp" in pod["metadata"] for pod in kept] == [policy == "Background"] * 2


@pytest.mark.parametrize(("numbers", "text"), [({0, 1, 2, 5}, "0-2,5"), ({0, 1, 3}, "0,1,3"), (set(), "")])
def test_indexes_are_written_as_ranges(numbers: set[int], text: str) -> None:
    assert job_counts.ranges(numbers) == text
    assert job_counts.indexes(text) == numbers

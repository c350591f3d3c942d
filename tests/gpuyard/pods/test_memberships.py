"""The forms in which clients say that a pod belongs to a PodGroup."""

import pytest

from gpuyard.pods import memberships
from gpuyard.writes import JSON

NEW, OLD = "scheduling.x-k8s.io/pod-group", "pod-group.scheduling.sigs.k8s.io"
VOLCANO = "scheduling.k8s.io/group-name"


def pod(*, labels: JSON | None = None, annotations: JSON | None = None, **spec: object) -> JSON:
    marks = {"labels": labels, "annotations": annotations}
    return {"metadata": {key: found for key, found in marks.items() if found is not None}, "spec": spec}


CASES: dict[str, tuple[JSON, str | None]] = {
    "the usual label": (pod(labels={NEW: "ring"}), "ring"),
    "scheduler-plugins early in 2023": (pod(labels={"pod-group.scheduling.x-k8s.io": "ring"}), "ring"),
    "scheduler-plugins before, Koordinator": (pod(labels={OLD: "ring"}), "ring"),
    "the lightweight form": (pod(labels={f"{OLD}/name": "ring", f"{OLD}/min-available": "2"}), "ring"),
    "kube-batch's annotation": (pod(annotations={VOLCANO: "ring"}), "ring"),
    "Volcano's own pod": (pod(annotations={VOLCANO: "ring"}, schedulerName="volcano"), None),
    "Volcano's scheduler, our label": (
        pod(labels={NEW: "ring"}, annotations={VOLCANO: "tree"}, schedulerName="volcano"),
        "ring",
    ),
    "two groups claim it": (pod(labels={OLD: "tree", NEW: "ring"}), "ring"),
    "a label without a name": (pod(labels={NEW: ""}), None),
    "an annotation without a name": (pod(annotations={VOLCANO: ""}), None),
    "a native group": (pod(schedulingGroup={"podGroupName": "ring"}), None),
    "a native group beside ours": (pod(labels={NEW: "ring"}, schedulingGroup={"podGroupName": "x"}), None),
    "other labels": (pod(labels={"app": "web"}, annotations={"note": "x"}), None),
    "no labels": (pod(), None),
}


@pytest.mark.parametrize("case", CASES)
def test_a_pod_belongs_to_the_group_that_it_names_first(case: str) -> None:
    found, group = CASES[case]
    assert memberships.group_of(found) == group


@pytest.mark.parametrize("odd", [{}, {"metadata": None, "spec": []}, {"metadata": {"labels": ["ring"]}}])
def test_what_is_no_pod_belongs_nowhere(odd: JSON) -> None:
    assert memberships.group_of(odd) is None
    assert not memberships.is_native(odd)


def test_what_a_native_pod_claims_is_known_nevertheless() -> None:
    found, _ = CASES["a native group beside ours"]
    assert memberships.claimed(found) == "ring"


def test_of_several_claims_each_is_known_once_and_in_the_order_of_the_forms() -> None:
    marks = {OLD: "tree", f"{OLD}/name": "star", NEW: "ring", "pod-group.scheduling.x-k8s.io": "ring"}
    assert memberships.claims(pod(labels=marks, annotations={VOLCANO: "tree"})) == ("ring", "tree", "star")
    assert memberships.claims(CASES["Volcano's scheduler, our label"][0]) == ("ring",)
    assert memberships.claims(CASES["no labels"][0]) == ()


def test_only_the_usual_label_can_be_selected() -> None:
    assert memberships.is_selectable(CASES["the usual label"][0])
    assert not memberships.is_selectable(CASES["kube-batch's annotation"][0])

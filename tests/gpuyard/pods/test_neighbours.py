"""Who may keep whom off a node."""

from typing import Any

import pytest

from gpuyard.pods.neighbours import Neighbour, may_exclude
from gpuyard.writes import JSON


def pod(namespace: str = "default", labels: dict[str, str] | None = None, **spec: Any) -> JSON:
    return {"metadata": {"namespace": namespace, "labels": labels or {}}, "spec": spec}


def port(**said: Any) -> JSON:
    return pod(containers=[{"ports": [{"containerPort": 1, **said}]}])


def shunning(**term: Any) -> JSON:
    terms = [{"topologyKey": "kubernetes.io/hostname", **term}]
    return pod(affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}})


def spread(when: str) -> JSON:
    found = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": when, "labelSelector": WEB}
    return pod(topologySpreadConstraints=[found])


def volume(**source: Any) -> JSON:
    return pod(volumes=[{"name": "data", **source}])


WEB: JSON = {"matchLabels": {"app": "web"}}
TWINS = {"app": "web"}


@pytest.mark.parametrize(
    ("one", "other", "may"),
    [
        pytest.param(port(hostPort=80), port(hostPort=80), True, id="one port of the node"),
        pytest.param(port(hostPort=80), port(hostPort=81), False, id="different ports"),
        pytest.param(port(), port(), False, id="ports of their own"),
        pytest.param(port(hostPort=80), port(hostPort=80, protocol="UDP"), False, id="another protocol"),
        pytest.param(
            port(hostPort=80, hostIP="10.0.0.1"),
            port(hostPort=80, hostIP="10.0.0.2"),
            False,
            id="other address",
        ),
        pytest.param(
            port(hostPort=80), port(hostPort=80, hostIP="10.0.0.2"), True, id="no address means all of them"
        ),
        pytest.param(shunning(labelSelector=WEB), pod(labels=TWINS), True, id="it minds the other"),
        pytest.param(pod(labels=TWINS), shunning(labelSelector=WEB), True, id="the other minds it"),
        pytest.param(shunning(labelSelector=WEB), pod(), False, id="it minds others"),
        pytest.param(shunning(labelSelector=WEB), pod("b", TWINS), False, id="in its own namespace"),
        pytest.param(
            shunning(labelSelector=WEB, namespaces=["b"]),
            pod("b", TWINS),
            True,
            id="in a namespace that it names",
        ),
        pytest.param(
            shunning(labelSelector=WEB, namespaceSelector={}), pod("b", TWINS), True, id="in some namespaces"
        ),
        pytest.param(shunning(), pod(labels=TWINS), False, id="no selector selects nobody"),
        pytest.param(spread("DoNotSchedule"), pod(labels=TWINS), True, id="it has to be spread"),
        pytest.param(spread("ScheduleAnyway"), pod(labels=TWINS), False, id="it would like to be spread"),
        pytest.param(
            pod(labels=TWINS), spread("DoNotSchedule"), False, id="who is there is not spread any more"
        ),
        pytest.param(
            volume(persistentVolumeClaim={"claimName": "a"}),
            volume(persistentVolumeClaim={"claimName": "b"}),
            True,
            id="volumes that a node can have too many of",
        ),
        pytest.param(volume(emptyDir={}), volume(configMap={}), False, id="volumes of no number"),
    ],
)
def test_one_may_keep_the_other_off_its_node(one: JSON, other: JSON, may: bool) -> None:
    assert may_exclude(Neighbour.of(one), Neighbour.of(other)) is may

"""What is deployed holds together: addresses, names and lists that are written in several files are the same."""

from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml
from fastapi.routing import APIRoute

from gpuyard import vocabulary, yard
from gpuyard.hardware import mig
from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.direct import DirectApi
from gpuyard_cluster.apiserver.server import APIServer
from gpuyard_cluster.clock import Steps
from gpuyard_cluster.scheduler.pods import PROFILES
from gpuyard_extender.service import Extender
from gpuyard_extender.settings import Settings
from gpuyard_extender.settings import parser as extender_parser
from gpuyard_extender.web.app import beside_the_verbs
from gpuyard_extender.web.metrics import Metrics
from gpuyard_operator.settings import parser as operator_parser

ROOT = Path(__file__).parents[2]
MANIFESTS = ROOT / "manifests"
OBJECTS: list[JSON] = [yaml.safe_load(path.read_text()) for path in sorted(MANIFESTS.glob("*.yaml"))]
SCHEDULER: JSON = yaml.safe_load((ROOT / "kind/scheduler/config.yaml").read_text())
KIND: JSON = yaml.safe_load((ROOT / "kind-config.yaml").read_text())


def of(kind: str, name: str = "") -> list[JSON]:
    return [o for o in OBJECTS if o["kind"] == kind and name in o["metadata"]["name"]]


def pods() -> list[JSON]:
    return [o["spec"]["template"]["spec"] for o in OBJECTS if o["kind"] in ("Deployment", "DaemonSet")]


def test_kube_scheduler_asks_the_extender_for_every_resource_that_gpus_are_asked_for_by() -> None:
    [extender] = SCHEDULER["extenders"]
    names = [found["name"] for found in extender["managedResources"]]
    assert names == list(mig.managed_resources()), "\n" + "\n".join(
        f"  - name: {name}" for name in mig.managed_resources()
    )
    assert not any(found.get("ignoredByScheduler") for found in extender["managedResources"])


def test_kube_scheduler_follows_the_extender() -> None:
    [extender] = SCHEDULER["extenders"]
    assert [profile["schedulerName"] for profile in SCHEDULER["profiles"]] == [*PROFILES]
    assert SCHEDULER["percentageOfNodesToScore"] == 100
    assert extender["ignorable"] is False, "pods would be bound without a plan"
    assert (extender["weight"], extender["nodeCacheCapable"], extender["httpTimeout"]) == (1, True, "5s")
    verbs = {key: extender[key] for key in extender if key.endswith("Verb")}
    assert verbs == {f"{verb}Verb": verb for verb in ("filter", "prioritize", "preempt", "bind")}


def test_the_second_scheduler_asks_the_extender_in_just_the_same_way() -> None:
    folder = MANIFESTS / "components/second-scheduler"
    second = yaml.safe_load(yaml.safe_load((folder / "config-map.yaml").read_text())["data"]["config.yaml"])
    for key in ("extenders", "percentageOfNodesToScore"):
        assert second[key] == SCHEDULER[key]
    names = [profile["schedulerName"] for profile in second["profiles"]]
    assert names == ["gpuyard-scheduler", "scheduler-plugins-scheduler"]
    entry = yaml.safe_load((folder / "Kustomization").read_text())
    assert sorted(entry["resources"]) == sorted(path.name for path in folder.glob("*.yaml"))


def test_everyone_calls_the_extender_at_the_address_of_its_service() -> None:
    [service] = [
        service for service in of("Service", "extender") if "metrics" not in service["metadata"]["name"]
    ]
    url = f"http://{service['spec']['clusterIP']}:{service['spec']['ports'][0]['port']}"
    assert SCHEDULER["extenders"][0]["urlPrefix"] == url
    [operator] = of("Deployment", "operator")
    assert f"--extender={url}" in operator["spec"]["template"]["spec"]["containers"][0]["args"]
    assert "selector" not in service["spec"], "the Lease's holder writes the endpoints"


def test_the_extenders_arguments_are_understood() -> None:
    [extender] = of("Deployment", "extender")
    args = extender["spec"]["template"]["spec"]["containers"][0]["args"]
    found = extender_parser().parse_args([arg.replace("$(POD_IP)", "10.0.0.1") for arg in args])
    assert (str(found.advertise), found.stand_by, found.port) == ("10.0.0.1", True, 8081)


def test_the_operators_token_is_made_for_the_extender_alone() -> None:
    [operator] = of("Deployment", "operator")
    pod = operator["spec"]["template"]["spec"]
    args = operator_parser().parse_args(pod["containers"][0]["args"])
    [mount], [volume] = pod["containers"][0]["volumeMounts"], pod["volumes"]
    [source] = volume["projected"]["sources"]
    assert str(args.token_file) == f"{mount['mountPath']}/{source['serviceAccountToken']['path']}"
    assert source["serviceAccountToken"]["audience"] == vocabulary.EXTENDER


def test_whoever_is_to_ask_the_extender_may_ask_what_it_answers() -> None:
    """The extender asks the API server about these paths; a path that no role names is nobody's."""
    clock = Steps()
    extender = Extender(DirectApi(APIServer(clock.now)), clock, Settings())
    app = beside_the_verbs(extender, Metrics(extender))
    served = {route.path for route in app.routes if isinstance(route, APIRoute)}
    allowed = {
        (verb, path)
        for role in of("ClusterRole")
        for rule in role["rules"]
        for path in rule.get("nonResourceURLs", ())
        for verb in rule["verbs"]
    }
    for path in filter(lambda path: path.startswith(("/v1", "/ui")), served):
        assert any(fnmatch(path, pattern) for _, pattern in allowed), f"no role lets anybody ask {path}"
    account = of("ServiceAccount", vocabulary.READER)[0]["metadata"]
    assert (account["name"], account["namespace"]) == (vocabulary.READER, vocabulary.NAMESPACE)


@pytest.mark.parametrize("part", [vocabulary.EXTENDER, vocabulary.DEVICE_PLUGIN, vocabulary.OPERATOR])
def test_scrapers_find_each_pod_and_are_let_in(part: str) -> None:
    [service] = of("Service", f"{part}-metrics")
    [owner] = [
        o for o in OBJECTS if o["kind"] in ("Deployment", "DaemonSet") and o["metadata"]["name"] == part
    ]
    template, [port] = owner["spec"]["template"], service["spec"]["ports"]
    labels = template["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= labels.items()
    [listening] = template["spec"]["containers"][0]["ports"]
    assert (port["name"], port["targetPort"]) == ("metrics", listening["name"])
    notes = service["metadata"]["annotations"]
    assert notes["prometheus.io/scrape"] == "true"
    assert notes["prometheus.io/port"] == str(port["port"]) == str(listening["containerPort"])
    assert f"--port={listening['containerPort']}" in template["spec"]["containers"][0]["args"]
    assert "--host=0.0.0.0" in template["spec"]["containers"][0]["args"]
    [policy] = [
        p for p in of("NetworkPolicy") if p["spec"]["podSelector"]["matchLabels"].items() <= labels.items()
    ]
    assert policy["spec"]["ingress"] == [{"ports": [{"port": listening["name"], "protocol": "TCP"}]}]


def test_the_workers_of_the_kind_cluster_play_nodes_of_the_yard_in_two_racks() -> None:
    workers = [node["labels"] for node in KIND["nodes"] if node["role"] == "worker"]
    [config] = of("ConfigMap", "yard")
    names = [node.name for node in yard.parse(yaml.safe_load(config["data"]["yard.yaml"]))]
    assert [labels[vocabulary.YARD_NODE] for labels in workers] == names
    assert {labels[vocabulary.FAKE_GPUS] for labels in workers} == {"true"}
    assert len({labels[vocabulary.RACK] for labels in workers}) == 2


def test_a_kubelet_may_set_the_labels_of_the_kind_cluster() -> None:
    """Of the names in kubernetes.io it may set a short list only, and ends when it is asked for another."""
    for node in KIND["nodes"]:
        assert not [key for key in node.get("labels", ()) if "kubernetes.io/" in key or "k8s.io/" in key]


def test_kustomize_takes_every_file() -> None:
    entry = yaml.safe_load((MANIFESTS / "Kustomization").read_text())
    files = [str(path.relative_to(MANIFESTS)) for path in MANIFESTS.glob("*.yaml")]
    crds = [str(path.relative_to(MANIFESTS)) for path in MANIFESTS.glob("crds/*.yaml")]
    assert sorted(entry["resources"]) == sorted(files + crds)


def test_the_namespace_comes_first_when_files_are_applied_by_name() -> None:
    assert OBJECTS[0]["kind"] == "Namespace"
    assert OBJECTS[0]["metadata"]["name"] == vocabulary.NAMESPACE


@pytest.mark.parametrize(
    "role", of("ClusterRole") + of("Role"), ids=lambda r: f"{r['kind']} {r['metadata']['name']}"
)
def test_a_role_grants_nothing_by_a_wildcard(role: JSON) -> None:
    assert role["rules"]
    for rule in role["rules"]:
        named = rule.get("nonResourceURLs") or [*rule["apiGroups"], *rule["resources"]]
        assert "*" not in [*named, *rule["verbs"]]


def test_every_rule_of_a_role_has_its_reason() -> None:
    for path in MANIFESTS.glob("*role.yaml"):
        lines = path.read_text().splitlines()
        for above, line in zip(lines, lines[1:], strict=False):
            if line.startswith("- "):
                assert above.startswith("# "), f"{path.name}: {line}"


@pytest.mark.parametrize("pod", pods(), ids=lambda pod: pod["serviceAccountName"])
def test_a_pod_can_change_nothing_but_what_it_is_for(pod: JSON) -> None:
    [container] = pod["containers"]
    own, shared = container["securityContext"], pod["securityContext"]
    assert own["readOnlyRootFilesystem"] is True
    assert own["allowPrivilegeEscalation"] is False
    assert own["capabilities"] == {"drop": ["ALL"]}
    assert shared["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["resources"]["requests"].keys() == {"cpu", "memory"}
    root = pod["serviceAccountName"] == "gpuyard-device-plugin"
    assert shared.get("runAsNonRoot", False) is not root, "only the kubelet's folders need root"
    assert bool(_host_paths(pod)) is root


def _host_paths(pod: JSON) -> list[Any]:
    return [volume for volume in pod.get("volumes", ()) if "hostPath" in volume]


def test_fake_gpus_come_only_where_a_label_asks_for_them() -> None:
    [plugin] = of("DaemonSet")
    assert plugin["spec"]["template"]["spec"]["nodeSelector"] == {vocabulary.FAKE_GPUS: "true"}

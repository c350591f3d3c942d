"""The component that puts TLS between the extender and those who ask it says what the plain manifests say."""

from pathlib import Path
from typing import Any

import yaml

from gpuyard.writes import JSON
from gpuyard_extender.settings import parser as extender_parser
from gpuyard_operator.planner import SERVER_NAME

MANIFESTS = Path(__file__).parents[2] / "manifests"
COMPONENT = MANIFESTS / "components/mtls"


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def container(path: Path) -> JSON:
    [found] = load(path)["spec"]["template"]["spec"]["containers"]
    return dict(found)


def configuration() -> Any:
    """What the extender is called in a KubeSchedulerConfiguration."""
    [found] = yaml.safe_load(load(COMPONENT / "scheduler-tls-config.yaml")["data"]["extender"])
    return found


def test_every_file_is_used() -> None:
    entry = load(COMPONENT / "Kustomization")
    used = [*entry["resources"], *(patch["path"] for patch in entry["patches"])]
    assert sorted(used) == sorted(path.name for path in COMPONENT.glob("*.yaml"))


def test_the_extender_is_started_as_before_and_with_three_files() -> None:
    plain, patched = (container(path)["args"] for path in (
        MANIFESTS / "extender-deployment.yaml", COMPONENT / "extender-patch.yaml"
    ))  # fmt: skip
    assert patched[: len(plain)] == plain
    found = extender_parser().parse_args([arg.replace("$(POD_IP)", "10.0.0.1") for arg in patched])
    [mount] = container(COMPONENT / "extender-patch.yaml")["volumeMounts"]
    files = [str(path) for path in (found.tls_cert, found.tls_key, found.client_ca)]
    assert files == [f"{mount['mountPath']}/{name}" for name in ("tls.crt", "tls.key", "ca.crt")]


def test_the_operator_asks_as_before_but_over_tls() -> None:
    plain, patched = (container(path)["args"] for path in (
        MANIFESTS / "operator-deployment.yaml", COMPONENT / "operator-patch.yaml"
    ))  # fmt: skip
    [mount] = container(COMPONENT / "operator-patch.yaml")["volumeMounts"]
    authority = f"--extender-ca={mount['mountPath']}/ca.crt"
    assert {arg.replace("https://", "http://") for arg in patched} == {*plain, authority}


def test_the_scheduler_calls_the_same_address_and_expects_the_name_that_the_certificate_says() -> None:
    found = configuration()
    [plain] = load(MANIFESTS.parent / "kind/scheduler/config.yaml")["extenders"]
    assert found["urlPrefix"] == plain["urlPrefix"].replace("http://", "https://")
    assert found["enableHTTPS"] is True
    script = (COMPONENT / "certificates.sh").read_text()
    assert found["tlsConfig"]["serverName"] == SERVER_NAME
    assert f"DNS:{SERVER_NAME}" in script
    assert f"IP:{found['urlPrefix'].removeprefix('https://').partition(':')[0]}," in script
    [mount] = container(COMPONENT / "second-scheduler-patch.yaml")["volumeMounts"]
    assert all(
        found["tlsConfig"][key].startswith(f"{mount['mountPath']}/")
        for key in ("caFile", "certFile", "keyFile")
    )


def test_the_line_that_is_replaced_in_the_second_schedulers_configuration_is_the_extenders_address() -> None:
    [replacement] = load(COMPONENT / "Kustomization")["replacements"]
    options = replacement["targets"][0]["options"]
    text = load(MANIFESTS / "components/second-scheduler/config-map.yaml")["data"]["config.yaml"]
    lines = text.split(options["delimiter"])
    assert lines[options["index"]].startswith("- urlPrefix: http://")
    lines[options["index"]] = load(COMPONENT / "scheduler-tls-config.yaml")["data"]["extender"]
    [before], [after] = (yaml.safe_load(found)["extenders"] for found in (text, "\n".join(lines)))
    assert after == {**before, **configuration()}

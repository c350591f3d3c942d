"""Dashboard and alerts: they are well-formed, and ask for nothing that the parts do not measure."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml

ROOT = Path(__file__).parents[2]
COMPONENT = ROOT / "manifests/components/monitoring"
REFERENCE = ROOT / "docs/reference/metrics.md"
SUFFIX = re.compile("_(total|bucket)$")

DASHBOARD: dict[str, Any] = json.loads((COMPONENT / "dashboard.json").read_text())
[GROUP] = yaml.safe_load((COMPONENT / "rules.yaml").read_text())["spec"]["groups"]


def expressions() -> Iterator[str]:
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            yield target["expr"].replace("$node", "node-1")
    for rule in GROUP["rules"]:
        yield rule["expr"]


def measured() -> set[str]:
    """The names of all metrics, from the page that is made of what the parts answer (tests/docs)."""
    return {SUFFIX.sub("", name) for name in re.findall(r"^\| `(\w+)`", REFERENCE.read_text(), re.MULTILINE)}


@pytest.mark.parametrize("expression", list(expressions()))
def test_an_expression_is_promql_over_metrics_that_there_are(expression: str) -> None:
    promql_parser.parse(expression)
    names = re.findall(r"\b(?:gpuyard|DCGM)_\w+", expression)
    assert {SUFFIX.sub("", name) for name in names} - measured() == set()


def test_alerts_say_what_is_so_and_where_to_look() -> None:
    for rule in GROUP["rules"]:
        assert set(rule["annotations"]) == {"summary", "description"}
        assert rule["labels"]["severity"] in {"warning", "critical"}
        named = set(re.findall(r"\$labels\.(\w+)", str(rule["annotations"])))
        assert all(f"by ({name}" in rule["expr"] for name in named), rule["alert"]


def test_panels_do_not_overlap_and_fit_the_page() -> None:
    taken = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24
        taken |= cells


def test_every_part_is_scraped() -> None:
    """By the label and the port that its Service has."""
    monitor = yaml.safe_load((COMPONENT / "service-monitor.yaml").read_text())["spec"]
    services = [
        yaml.safe_load(path.read_text()) for path in (ROOT / "manifests").glob("*-metrics-service.yaml")
    ]
    assert len(services) == REFERENCE.read_text().count("\n## ")
    for service in services:
        assert monitor["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
        assert [port["name"] for port in service["spec"]["ports"]] == [monitor["endpoints"][0]["port"]]

"""The live yard of `gpuyard up`, as somebody uses it."""

import contextlib
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from playwright.sync_api import Browser, Page, expect

from tests.cli.up.test_command import Up, core, kubeconfig
from tests.e2e.browser.conftest import PATIENCE, Open

expect.set_options(timeout=PATIENCE)
NODES = [
    {"name": "node-1", "preset": "dgx-a100", "labels": {"gpuyard.io/rack": "r1"}},
    {"name": "node-2", "preset": "t4", "labels": {"gpuyard.io/rack": "r2"}},
]


@pytest.fixture(scope="module")
def up(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    file = tmp_path_factory.mktemp("yard") / "yard.yaml"
    file.write_text(yaml.safe_dump({"nodes": NODES}))
    with contextlib.closing(Up("--nodes", str(file))) as started:
        yield started.ready()
        assert started.end(signal.SIGTERM) == (0, "")


@pytest.fixture
def address(up: Up) -> str:
    [line] = [line for line in up.said if "/ui/" in line]
    return line.partition("browser: ")[2].rstrip(";")


def pod(name: str, gpus: int) -> dict[str, Any]:
    container = {"name": "main", "image": "busybox", "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}
    return {
        "metadata": {"name": name},
        "spec": {"terminationGracePeriodSeconds": 0, "containers": [container]},
    }


@contextlib.contextmanager
def running(up: Up, name: str, gpus: int) -> Iterator[None]:
    with core(kubeconfig(up)) as api:
        api.create_namespaced_pod("default", pod(name, gpus))
        try:
            yield
        finally:
            api.delete_namespaced_pod(name, "default")


def tiles(page: Page, said: str) -> Any:
    return page.locator(f'.tile[aria-label*="{said}"]')


def test_a_pod_appears_on_its_tiles_when_it_is_created_and_leaves_them_with_its_end(
    up: Up, address: str, opened: Open
) -> None:
    page = opened(address)
    expect(page.locator(".tile")).to_have_count(12)
    expect(page.get_by_role("heading", name="Rack r1")).to_be_visible()
    with running(up, "three", 3):
        expect(tiles(page, "default/three")).to_have_count(3)
        expect(tiles(page, "default/three").first.locator(".part")).to_have_text("TH")
        expect(page.locator("#figures")).to_contain_text("25 %")
    expect(tiles(page, "default/three")).to_have_count(0)


def test_a_waiting_pod_says_why_node_by_node(up: Up, address: str, opened: Open) -> None:
    page = opened(address)
    with running(up, "huge", 9):
        page.get_by_role("tab", name="Waiting 1").click()
        page.locator("#panel").get_by_role("button", name="default/huge").click()
        expect(page.locator(".why")).to_contain_text("InsufficientGPUs")
        expect(page.locator(".why")).to_contain_text("What has to change")
        expect(page.locator(".verdicts")).to_contain_text("node-1: needs 9 GPUs, 8 free of 8")
        expect(page).to_have_title("(1 pod waiting) GPUYard")


def test_a_decision_is_played_step_by_step_on_the_map(up: Up, address: str, opened: Open) -> None:
    page = opened(address, reduced_motion="reduce")
    with running(up, "played", 2):
        expect(tiles(page, "default/played")).to_have_count(2)
        page.get_by_role("tab", name="Owners").click()
        page.locator("#panel").get_by_role("button", name="default/played").click()
        expect(page.locator(".step h4")).to_have_text(["Filter", "Score", "Reserve", "Bind", "Allocate"])
        expect(page.locator(".step").last).to_contain_text("the kubelet gave it GPU")
        page.get_by_role("button", name="Play it step by step").click()
        expect(page.locator(".step[aria-current]")).to_contain_text("Filter")
        expect(page.locator(".node.passes")).to_have_count(2)
        page.locator(".step").get_by_role("button", name="Score").click()
        expect(page.locator(".node.chosen")).to_have_count(1)
        page.keyboard.press("Escape")
        expect(page.locator(".node.chosen, .node.refused")).to_have_count(0)


def test_the_fault_button_lets_a_gpu_fail_and_recover(address: str, opened: Open) -> None:
    page = opened(address)
    tiles(page, "node-2, GPU 1:").click()
    page.get_by_role("button", name="Let it fail").click()
    expect(tiles(page, "node-2, GPU 1: free, unhealthy")).to_have_class(re.compile(r"\bsick\b"))
    expect(page.locator("#figures .alarm")).to_contain_text("1")
    page.get_by_role("button", name="Let it recover").click()
    expect(page.locator(".tile.sick")).to_have_count(0)


def test_an_nvlink_is_cut_and_mended_on_a_narrow_screen_too(address: str, opened: Open) -> None:
    page = opened(address, viewport={"width": 320, "height": 800})
    tiles(page, "node-1, GPU 2:").click()
    page.get_by_role("button", name="Cut the NVLink to GPU 5").click()
    expect(page.locator(".facts")).to_contain_text("lost NVLinks to")
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    page.get_by_role("button", name="Mend the NVLink to GPU 5").click()
    expect(page.locator(".facts")).not_to_contain_text("lost NVLinks to")


def test_an_example_is_submitted_shows_how_its_gang_was_planned_and_is_removed(
    address: str, opened: Open
) -> None:
    page = opened(address, silent=True)  # the browser itself complains of a 409
    page.get_by_role("tab", name="Examples").click()
    page.get_by_role("button", name="Submit 04-gang", exact=True).click()
    expect(tiles(page, "gang/gang-worker-")).to_have_count(2)
    tiles(page, "gang/gang-worker-0").click()
    page.locator("#panel").get_by_role("button", name="gang/gang-worker-0").click()
    expect(page.locator(".step h4")).to_contain_text(["Plan", "Filter", "Reserve", "Bind", "Allocate"])
    expect(page.locator(".step").first).to_contain_text("all 2 members have places")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Submit 04-gang", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("remove it first")
    page.get_by_role("button", name="Remove 04-gang", exact=True).click()
    expect(tiles(page, "gang/gang-worker-")).to_have_count(0)


def test_the_page_works_without_a_mouse(address: str, opened: Open) -> None:
    page = opened(address)
    expect(page.locator(".tile")).to_have_count(12)
    page.locator("#theme").focus()
    page.keyboard.press("Tab")
    expect(tiles(page, "node-1, GPU 0:")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(tiles(page, "node-1, GPU 1:")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(tiles(page, "node-2, GPU 1:")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="node-2, GPU 1")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name="node-2, GPU 1")).to_have_count(0)
    expect(tiles(page, "node-2, GPU 1:")).to_be_focused()
    page.keyboard.press("/")
    expect(page.locator("#search")).to_be_focused()
    page.keyboard.type("node-2")
    expect(page.locator(".node.dim")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(tiles(page, "node-2, GPU 0:")).to_be_focused()


def test_the_system_says_light_or_dark_and_so_does_a_button(
    address: str, opened: Open, tmp_path: Path
) -> None:
    page = opened(address, color_scheme="dark")
    paper = "getComputedStyle(document.body).backgroundColor"
    expect(page.locator(".tile")).to_have_count(12)
    assert page.evaluate(paper) == "rgb(11, 17, 23)"
    assert len(page.screenshot(path=tmp_path / "dark.png")) > 10_000
    page.locator("#theme").click()
    assert page.evaluate(paper) == "rgb(238, 242, 246)"
    page.reload()
    assert page.evaluate(paper) == "rgb(238, 242, 246)"

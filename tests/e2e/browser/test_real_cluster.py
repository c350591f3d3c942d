"""The live yard as on a real cluster: for looking alone, behind a token, whatever the cluster's texts are."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.browser.conftest import PATIENCE, Open
from tests.e2e.browser.served import Served
from tests.extender.builders import device, gpu_node, gpu_pod

expect.set_options(timeout=PATIENCE)
EVIL = '<img src=x onerror="window.hacked=1">\'"&'


@pytest.fixture
def guarded(browser: Browser) -> Iterator[Served]:
    with Served(
        gpu_node("node-1", 4), gpu_node("node-2", 2, inventory=False), guarded=True
    ).running() as found:
        yield found


def test_a_token_opens_the_page_which_has_no_buttons(guarded: Served, opened: Open) -> None:
    page = opened(guarded.url, silent=True)  # the browser itself complains of the 401
    page.get_by_label("Token").fill("bad")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_have_text("this token is not known")
    page.get_by_label("Token").fill("good")
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator(".tile")).to_have_count(4)
    assert page.evaluate("document.cookie") == ""
    assert "good" not in page.url
    expect(page.locator(".count")).to_have_text("nvidia.com/gpu: 0 of 2")
    page.locator(".tile").first.click()
    expect(page.get_by_role("heading", name="node-1, GPU 0")).to_be_visible()
    expect(page.get_by_role("button", name="Let it fail")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.get_by_role("tab")).to_have_count(2)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Token")).to_be_visible()


def test_texts_of_the_cluster_are_shown_and_never_run(browser: Browser, opened: Open) -> None:
    node = gpu_node("node-1", 2)
    node["metadata"]["labels"] = {"gpuyard.io/rack": EVIL}
    with Served(node).running() as served:
        served.create(gpu_pod(EVIL, node="node-1", plan=[device("node-1", 0)]), gpu_pod(f"{EVIL}2", 9))
        page = opened(served.url)
        expect(page.get_by_role("heading", name=f"Rack {EVIL}")).to_be_visible()
        page.locator("#panel").get_by_role("button", name=f"{EVIL}2").click()
        expect(page.locator(".head h2")).to_have_text(f"default/{EVIL}2")
        expect(page.locator(".verdicts")).to_contain_text("needs 9 GPUs")
        page.locator(".tile").first.click()
        expect(page.locator(".entry .name")).to_have_text(f"default/{EVIL}")
        assert page.evaluate("window.hacked") is None
        assert page.locator("img[src=x]").count() == 0


def test_a_page_without_gpus_says_so_and_one_that_lost_its_extender_too(
    browser: Browser, opened: Open
) -> None:
    with Served(gpu_node("cpu-only", 0)).running() as served:
        page = opened(served.url, silent=True)
        expect(page.locator("#map")).to_contain_text("No node with GPUs")
        expect(page.locator("#panel")).to_contain_text("Nobody waits")
        expect(page.locator("#status")).to_have_text("live")
    expect(page.locator("#status")).to_have_text("connection lost, trying again")

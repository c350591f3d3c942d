"""Makes the pictures of the live yard in docs/images: `python -m docs.screenshots`. Needs chromium.

A small cluster is filled with what the page has a sign for; the pictures show it as a browser does.
"""

import asyncio
import functools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from playwright.async_api import Page, ViewportSize, async_playwright

from gpuyard import vocabulary, yard
from gpuyard.writes import JSON
from gpuyard_cli.run_command import EXAMPLES
from gpuyard_cli.scenarios import requests
from gpuyard_cli.up.controls import UpControls
from gpuyard_cli.up.start import started
from gpuyard_cluster.wiring.embedded import EmbeddedYard
from gpuyard_cluster.wiring.parts import Options
from gpuyard_kube.api import Api

CHROMIUM: Final = "/usr/bin/chromium"
IMAGES: Final = Path(__file__).parent / "images"
SIZE: Final[ViewportSize] = {"width": 1440, "height": 860}
_SHARES: Final = {"renameByDefault": True, "resources": [{"name": vocabulary.GPU, "replicas": 4}]}


def _node(name: str, preset: str, rack: str, **more: Any) -> JSON:
    return {"name": name, "preset": preset, "labels": {vocabulary.RACK: rack}, **more}


NODES: Final = [
    _node("dgx-h100-1", "dgx-h100", "A1"),
    _node("dgx-h100-2", "dgx-h100", "A1"),
    _node("dgx-a100-1", "dgx-a100", "A2"),
    _node("mig-1", "a100-mig", "A2"),
    _node("shared-1", "t4", "B1", plugin={"version": "v1", "sharing": {"timeSlicing": _SHARES}}),
]


def pod(name: str, amount: int = 1, resource: str = vocabulary.GPU, *, group: str = "", **marks: str) -> JSON:
    """A pod of namespace default with one container."""
    metadata: JSON = {"name": name, "namespace": "default", "annotations": marks}
    if group:
        metadata["labels"] = {vocabulary.POD_GROUP: group}
    container = {"name": "main", "image": "busybox:1.36", "resources": {"limits": {resource: str(amount)}}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}}


def gang(name: str, size: int, each: int) -> list[JSON]:
    """A PodGroup, and its members with so many GPUs each."""
    group = {
        "apiVersion": vocabulary.POD_GROUP_API,
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"minMember": size},
    }
    return [group, *(pod(f"{name}-{number}", each, group=name) for number in range(size))]


OBJECTS: Final = [
    *gang("pretrain", 2, 4),
    pod("finetune", 2),
    pod("notebook", 1),
    pod("eval", 3),
    pod("serve-small", 1, "nvidia.com/mig-1g.10gb"),
    pod("serve-large", 3, "nvidia.com/mig-3g.40gb"),
    *(pod(f"batch-{number}", 1, vocabulary.GPU_SHARED) for number in range(3)),
    pod("half", 1, vocabulary.GPU_SHARED, **{vocabulary.GPU_MILLI: "500"}),
    *gang("foundation", 4, 8),
    pod("huge", 16),
]


async def create(api: Api, objects: list[JSON]) -> None:
    for obj in objects:
        await requests.create(api, obj)


@asynccontextmanager
async def opened(url: str, **more: Any) -> AsyncIterator[Page]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = await browser.new_page(viewport=SIZE, **more)
        await page.goto(f"{url}/ui/")
        await page.wait_for_selector("#status[data-state=live]")
        yield page
        await browser.close()


async def main() -> None:
    controls = functools.partial(UpControls, folder=EXAMPLES)
    cluster = EmbeddedYard(yard.parse({"nodes": NODES}), Options(controls=controls))
    async with started(cluster, len(NODES)):
        await create(cluster.api, OBJECTS)
        async with opened(cluster.extender_url, color_scheme="light") as page:
            await page.get_by_role("button", name="dgx-h100-2, GPU 7").first.click()
            await page.get_by_role("button", name="Let it fail").click()
            await page.wait_for_selector(".tile.sick")
            await page.keyboard.press("Escape")
            await page.wait_for_selector(".entry .code")
            await page.evaluate("document.activeElement.blur()")
            await page.screenshot(path=IMAGES / "yard.png")
            await page.locator("#panel").get_by_role("button", name="default/huge").click()
            await page.wait_for_selector(".verdicts")
            await page.screenshot(path=IMAGES / "yard-waiting.png")
        async with opened(cluster.extender_url, color_scheme="dark") as page:
            await page.get_by_role("tab", name="Owners").click()
            await page.locator("#panel").get_by_role("button", name="default/finetune").click()
            await page.get_by_role("button", name="Play").click()
            await page.wait_for_selector(".step[aria-current]:nth-child(2)")
            await page.screenshot(path=IMAGES / "yard-decision.png")


if __name__ == "__main__":
    asyncio.run(main())

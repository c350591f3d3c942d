"""What the live yard costs with many nodes: the browser's frames, and the extender's work for it. Needs chromium.

    python -m benchmarks.page [--nodes 1000] [--changes 20] [--seconds 10]

An extender is handed made-up nodes with 8 GPUs and pods on most of them; `--changes` pods a second come and go. A
headless chromium shows the page; what its main thread spends and the frames that it draws while one scrolls are
counted.
"""

import argparse
import asyncio
import itertools
import random
import time
from collections.abc import Sequence
from typing import Final

from playwright.async_api import CDPSession, Page, async_playwright

from gpuyard import vocabulary
from gpuyard.writes import JSON
from gpuyard_cluster.clock import Steps
from gpuyard_cluster.wiring.extender_server import ExtenderServer
from gpuyard_cluster.wiring.parts import Options
from gpuyard_extender.service import Extender
from gpuyard_extender.settings import Settings
from gpuyard_extender.web.ui.painting import Painter
from gpuyard_extender.web.ui.pieces import NOTHING
from gpuyard_kube.runtime import AsyncioRuntime
from tests.extender.builders import PodServer, device, gpu_node, gpu_pod

GPUS: Final = 8
WHEEL: Final = 120
"""Pixels of one turn of a mouse's wheel."""
DRAWN: Final = "ProxyImpl::ScheduledActionDraw"
"""How chromium's trace calls a frame that reaches the screen: while one scrolls, mostly without the page's thread."""


def nodes(count: int) -> list[JSON]:
    found = [gpu_node(f"node-{n}", GPUS) for n in range(count)]
    for n, node in enumerate(found):
        node["metadata"]["labels"] = {vocabulary.RACK: f"r{n // 20}"}
    return found


def pods(count: int, numbers: "itertools.count[int]") -> list[JSON]:
    """On seven GPUs of each node a pod; the eighth is for those that come and go."""
    places = [(f"node-{n}", index) for n in range(count) for index in range(GPUS - 1)]
    return [pod(next(numbers), node, index) for node, index in places]


def pod(number: int, node: str, index: int) -> JSON:
    return gpu_pod(f"job-{number}", node=node, plan=[device(node, index)], phase="Running")


async def churn(extender: Extender, count: int, rate: int, numbers: "itertools.count[int]") -> None:
    """Pods come to the eighth GPU of some node, and go."""
    there: dict[str, JSON] = {}
    chance = random.Random(1)
    while True:
        await asyncio.sleep(1 / rate)
        node = f"node-{chance.randrange(count)}"
        before = there.pop(node, None)
        if before is not None:
            extender.observe("pods", "DELETED", before)
        else:
            there[node] = pod(next(numbers), node, GPUS - 1)
            extender.observe("pods", "ADDED", there[node])


def painting(extender: Extender) -> tuple[float, float]:
    """Milliseconds of the first look at the ledger, and kB of the first message."""
    painter, began = Painter(extender), time.process_time()
    for _ in painter.paint(0.0):
        pass
    spent = time.process_time() - began
    return spent * 1000, len(painter.pieces.since(NOTHING) or b"") / 1000


async def busy(session: CDPSession) -> float:
    """Seconds of CPU that the page's main thread has spent."""
    told = await session.send("Performance.getMetrics")
    return float(next(found["value"] for found in told["metrics"] if found["name"] == "TaskDuration"))


async def complete(page: Page, count: int) -> float:
    """Seconds until everything is drawn."""
    began = time.monotonic()
    tiles = f"document.querySelectorAll('.tile').length === {count * GPUS}"
    await page.wait_for_function(tiles, timeout=120_000)
    return time.monotonic() - began


async def scrolled(page: Page, seconds: float) -> float:
    """Frames a second on the screen while the wheel turns, 20 times a second, down and up."""
    assert page.context.browser is not None
    session, events, done = (
        await page.context.browser.new_browser_cdp_session(),
        list[JSON](),
        asyncio.Event(),
    )
    session.on("Tracing.dataCollected", lambda found: events.extend(found["value"]))
    session.on("Tracing.tracingComplete", lambda _: done.set())
    await session.send("Tracing.start", {"categories": "cc", "transferMode": "ReportEvents"})
    await page.mouse.move(400, 400)
    turns = int(seconds * 20)
    for turn in range(turns):
        await page.mouse.wheel(0, WHEEL if turn < turns / 2 else -WHEEL)
        await asyncio.sleep(0.05)
    await session.send("Tracing.end")
    await done.wait()
    drawn = [float(event["ts"]) / 1e6 for event in events if event["name"] == DRAWN]
    return len(drawn) / (max(drawn) - min(drawn))


async def measure(given: argparse.Namespace) -> None:
    runtime, numbers = AsyncioRuntime(), itertools.count()
    extender = Extender(PodServer(Steps()), runtime, Settings())
    extender.replace("nodes", nodes(given.nodes))
    extender.replace("pods", pods(given.nodes, numbers))
    for resource in ("reservations", "podgroups", "poddisruptionbudgets"):
        extender.replace(resource, [])
    print("first look: {:.0f} ms of CPU, {:.0f} kB".format(*painting(extender)))
    server = await ExtenderServer.start(extender, runtime, PodServer(Steps()), Options())
    changes = asyncio.create_task(churn(extender, given.nodes, given.changes, numbers))
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        # What measures is evaluated, which the page's own policy forbids.
        page = await browser.new_page(viewport={"width": 1440, "height": 860}, bypass_csp=True)
        session = await page.context.new_cdp_session(page)
        await session.send("Performance.enable", {"timeDomain": "threadTicks"})
        await page.goto(f"{server.url}/ui/")
        drawn = await complete(page, given.nodes)
        print(f"drawn after {drawn:.1f} s, {await busy(session):.2f} s of CPU in the main thread")
        spent, before = time.process_time(), await busy(session)
        await asyncio.sleep(given.seconds)
        own = (time.process_time() - spent) / given.seconds
        shown = (await busy(session) - before) / given.seconds
        print(f"{given.changes} changes a second: main thread {shown:.1%} of one core, extender {own:.1%}")
        print(f"scrolling: {await scrolled(page, given.seconds):.0f} frames a second")
        if given.picture:
            await page.screenshot(path=given.picture)
        await browser.close()
    changes.cancel()
    await server.close()
    await runtime.close()


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--changes", type=int, default=20, help="a second")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--picture", metavar="FILE", help="a screenshot, too")
    asyncio.run(measure(parser.parse_args(argv)))


if __name__ == "__main__":
    main()

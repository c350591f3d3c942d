"""Runs an example on a backend by name, and reports as it goes."""

import asyncio
import contextlib
import gc
from collections.abc import Callable, Sequence

from gpuyard_cli.backends.steps import StepsBackend
from gpuyard_cli.scenarios.examples import Example
from gpuyard_cli.scenarios.report import Report
from gpuyard_cli.scenarios.runner import Outcome
from gpuyard_cli.scenarios.runner import run as run_scenario
from gpuyard_cli.scenarios.stepping import Stepper
from gpuyard_cluster.wiring.parts import Options
from gpuyard_cluster.wiring.steps import StepsYard

CONTEXTS = {"kind": "kind-gpuyard", "kubeconfig": None}
"""Real clusters: the one of kind-config.yaml, and the one that kubectl would talk to."""
AT_ONCE = 4
"""So many clusters share this process: enough to use each other's waits, few enough for calls to be answered in time
on a busy machine."""


async def run_together(examples: Sequence[Example], reports: Sequence[Report]) -> list[Outcome]:
    """The outcomes of examples that run side by side, each on an embedded cluster of its own."""
    # As in `up`: what is imported stays, and would be searched again and again.
    gc.set_threshold(100_000, 50, 100)
    places = asyncio.Semaphore(AT_ONCE)

    async def one(example: Example, report: Report) -> Outcome:
        async with places:
            report.title(example, "embedded")
            outcome = await _embedded(example, Options(narrate=report.beat), report.step, None)
            report.outcome(outcome)
            return outcome

    running = [asyncio.create_task(one(*each)) for each in zip(examples, reports, strict=True)]
    try:
        return await asyncio.gather(*running)
    finally:
        # Ctrl-C has ended the first, and with it `gather`: the others are still taking their clusters down.
        for task in running:
            if not task.cancelling():
                task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def run(
    example: Example,
    backend: str,
    report: Report | None = None,
    *,
    options: Options | None = None,
    like: Outcome | None = None,
    stepped: bool = False,
) -> Outcome:
    """The outcome of an example on `backend`; `like`: see `runner.run`."""
    chosen = options or Options(narrate=report.beat) if report else options or Options()
    begin: Callable[[str], None] = report.step if report else lambda _name: None
    if backend == "steps":
        return _on_steps(example, chosen, begin, like, stepped=stepped)
    if backend in CONTEXTS:
        return asyncio.run(_real(example, backend, begin, like))
    return asyncio.run(_embedded(example, chosen, begin, like))


def _on_steps(
    example: Example, options: Options, begin: Callable[[str], None], like: Outcome | None, *, stepped: bool
) -> Outcome:
    with contextlib.closing(StepsYard(example.nodes, options)) as yard:
        stepper = Stepper(yard, example.scenario.namespace) if stepped else None
        backend = StepsBackend(yard, stepper.after_step if stepper else None)
        outcome: Outcome = yard.clock.complete(run_scenario(example, backend, begin, like))
        return outcome


async def _embedded(
    example: Example, options: Options, begin: Callable[[str], None], like: Outcome | None
) -> Outcome:
    # Imported here: uvicorn, grpc and kopf take a second, which `steps` does not need.
    from gpuyard_cli.backends.embedded import EmbeddedBackend
    from gpuyard_cluster.wiring.embedded import EmbeddedYard
    from gpuyard_kube.http import HttpApi

    async with EmbeddedYard(example.nodes, options) as yard, contextlib.AsyncExitStack() as ends:
        api, extender = HttpApi.at(yard.url), HttpApi.at(yard.extender_url)
        for client in (api, extender):  # each, also where Ctrl-C comes while the one before it closes
            ends.push_async_callback(client.close)
        return await run_scenario(example, EmbeddedBackend(yard, api, extender), begin, like)


async def _real(
    example: Example, backend: str, begin: Callable[[str], None], like: Outcome | None
) -> Outcome:
    from gpuyard_cli.backends import kind as kind_backend

    async with kind_backend.connected(context=CONTEXTS[backend]) as api:
        return await kind_backend.run(api, example, begin, like)

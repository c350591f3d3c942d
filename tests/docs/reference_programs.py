"""The pages about programs: what each can be told on its command line, and what it measures."""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing

from prometheus_client.core import Metric

from gpuyard import yard
from gpuyard_cli import commands as gpuyard
from gpuyard_cluster.wiring.steps import StepsYard
from gpuyard_device_plugin import metrics as plugin_metrics
from gpuyard_device_plugin import options as plugin_options
from gpuyard_extender import settings as extender_settings
from gpuyard_extender.web import metrics as extender_metrics
from gpuyard_operator import metrics as operator_metrics
from gpuyard_operator import settings as operator_settings
from tests.docs.markdown import table

PREFIX = "process_"
"""How Prometheus' own metrics of a process begin."""


def metrics() -> Iterator[str]:
    """What each part answers at /metrics, as one does that has just started."""
    yield from [
        "# Metrics",
        "",
        "Every part answers `/metrics`: the extender on port 8081, the device plugin on 8082, the operator on 8083;",
        "all with Prometheus' `process_*`, too. Dashboard and alerts: `manifests/components/monitoring`.",
    ]
    for title, families in _measured().items():
        yield from [
            "",
            f"## {title}",
            "",
            *table(("metric", "type", "labels", "what"), map(_family, families)),
        ]


def _measured() -> dict[str, list[Metric]]:
    node = {"name": "node-1", "gpus": {"model": "NVIDIA-A100-SXM4-40GB", "count": 1}}
    with closing(StepsYard(yard.parse({"nodes": [node]}))) as cluster:
        cluster.settle()
        one = extender_metrics.Metrics(cluster.parts["extender"].service)
        other = operator_metrics.Metrics()
        other.watch(cluster.parts["operator"].service)
        with one.timed("filter"):
            other._plans.labels("Planned").observe(0)
        return {
            "Extender": list(_own(one)),
            "Device plugin": list(_own(plugin_metrics.Metrics(cluster.plugin("node-1")))),
            "Operator": list(_own(other)),
        }


def _own(
    part: "extender_metrics.Metrics | plugin_metrics.Metrics | operator_metrics.Metrics",
) -> Iterator[Metric]:
    found = {family.name: family for family in part._registry.collect()}
    return (family for name, family in sorted(found.items()) if not name.startswith(PREFIX))


def _family(family: Metric) -> Sequence[str]:
    labels = dict.fromkeys(getattr(family, "_labelnames", ()))
    for sample in family.samples:
        labels |= dict.fromkeys(label for label in sample.labels if label != "le")
    name = f"{family.name}_total" if family.type == "counter" else family.name
    return f"`{name}`", family.type, ", ".join(f"`{label}`" for label in labels), family.documentation


def commands() -> Iterator[str]:
    """Every command with its arguments, from the parsers themselves."""
    yield from [
        "# Commands",
        "",
        "What `--help` says of each. `gpuyard --help` has the commands in groups, with examples.",
    ]
    yield from ["", "## Exit codes", ""]
    yield from table(("code", "of gpuyard"), ((str(code), text) for code, text in gpuyard.EXIT_CODES.items()))
    for parser in (
        gpuyard.parser(),
        extender_settings.parser(),
        plugin_options.parser(),
        operator_settings.parser(),
    ):
        for found in _leaves(parser):
            yield from [
                "",
                f"## `{found.prog}`",
                "",
                *_prose(found.description or ""),
                "",
                *_arguments(found),
            ]


def _leaves(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not below:
        yield parser
    for action in below:
        for found in action.choices.values():
            yield from _leaves(found)


def _prose(text: str) -> Iterator[str]:
    """Lines to try become a list."""
    listed = False
    for line in text.splitlines():
        plain = line.strip()
        if line.startswith("  ") or plain.startswith("Try: "):
            yield from [""] * (not listed)
            yield f"- `{plain.removeprefix('Try: ')}`"
            listed = True
        else:
            yield plain


def _arguments(parser: argparse.ArgumentParser) -> Iterator[str]:
    known = [action for action in parser._actions if not isinstance(action, argparse._HelpAction)]
    required = (_flags(action) for action in known if action.option_strings and action.required)
    yield from table(("argument", "what"), ((_flags(action), _help(parser, action)) for action in known))
    if found := ", ".join(required):
        yield from ["", f"Required: {found}."]


def _flags(action: argparse.Action) -> str:
    value = action.metavar or (
        f"{{{','.join(map(str, action.choices))}}}" if action.choices else action.dest.upper()
    )
    if not action.option_strings:
        return f"`{value}`"
    names: Iterable[str] = action.option_strings
    return f"`{', '.join(names)}{'' if action.nargs == 0 else f' {value}'}`"


def _help(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    return (action.help or "") % {**vars(action), "prog": parser.prog}

"""The command line of the device plugin: settings are read here, once, and nowhere else."""

import argparse
import os
from pathlib import Path
from typing import Final

from gpuyard import vocabulary
from gpuyard_device_plugin.publishing import cleanup
from gpuyard_kube import arguments, logs

PLUGINS: Final = Path("/var/lib/kubelet/device-plugins")
POD_RESOURCES: Final = Path("/var/lib/kubelet/pod-resources/kubelet.sock")
"""Where every kubelet keeps its sockets unless it is told otherwise."""


def parser() -> argparse.ArgumentParser:
    """Of `gpuyard-device-plugin`, without its subcommand."""
    options = argparse.ArgumentParser(
        prog="gpuyard-device-plugin",
        description="A device plugin for GPUs that do not exist: registers them with the kubelet of one node.",
        epilog=f"`gpuyard-device-plugin {cleanup.COMMAND} --help`: removes from a node what a plugin has left there.",
    )
    _add_node(options)
    _add_folders(options)
    _add_healthchecks(options)
    options.add_argument("--host", default="127.0.0.1", help="address to be asked at (default: %(default)s)")
    options.add_argument(
        "--port", type=arguments.port, default=8082, help="0: any free port (default: %(default)s)"
    )
    arguments.add_server(options)
    options.add_argument("--log-format", choices=logs.FORMATS, default="text", help="(default: %(default)s)")
    return options


def _add_node(options: argparse.ArgumentParser) -> None:
    """Which node it is, and what GPUs that has."""
    options.add_argument(
        "--node-name",
        default=os.environ.get("NODE_NAME"),
        required="NODE_NAME" not in os.environ,
        help="the Node object to serve (default: $NODE_NAME)",
    )
    options.add_argument(
        "--yard", type=Path, required=True, metavar="FILE", help="yard.yaml: the GPUs of each node"
    )
    options.add_argument(
        "--yard-node",
        metavar="NAME",
        help="the node of the yard to play (default: the node's label, else its name)",
    )
    options.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="NVIDIA's config file, v1, or a folder of such files from which the node's label "
        f"{vocabulary.PLUGIN_CONFIG} chooses (default: `plugin` in the yard)",
    )


def _add_folders(options: argparse.ArgumentParser) -> None:
    """Where the host has, or wants, files and sockets."""
    options.add_argument("--device-plugin-dir", type=Path, default=PLUGINS, help="(default: %(default)s)")
    options.add_argument(
        "--pod-resources-socket",
        type=Path,
        default=POD_RESOURCES,
        help="(default: %(default)s)",
    )
    options.add_argument(
        "--cdi-dir",
        type=Path,
        default=Path("/var/run/cdi"),
        help="where container runtimes look for CDI specifications (default: %(default)s)",
    )
    options.add_argument(
        "--smi-dir",
        type=Path,
        metavar="DIR",
        help="where on the host to put an nvidia-smi for containers (default: they get none)",
    )


def _add_healthchecks(options: argparse.ArgumentParser) -> None:
    """Under the names that the variables of NVIDIA's plugin have."""
    for word, effect in (("disable", "ignored, beside those of applications"), ("enable", "never ignored")):
        variable = f"DP_{word.upper()}_HEALTHCHECKS"
        options.add_argument(
            f"--{word}-healthchecks",
            default=os.environ.get(variable, ""),
            metavar="XIDS",
            help=f"XIDs that are {effect}{'; all: every one' * (word == 'disable')} (default: ${variable})",
        )

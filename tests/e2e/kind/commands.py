"""Commands on a kind cluster's nodes, which are containers, and on the machine that they run on."""

import asyncio
import os
import subprocess
from typing import Final

COMMAND_SECONDS: Final = 180


async def plugin_process(node: str) -> str:
    """The number of a device plugin's process on its node."""
    template = ("--output", "go-template", "--template", "{{.info.pid}}")
    return (await inside(node, "crictl", "inspect", *template, await plugin_container(node))).strip()


async def plugin_container(node: str) -> str:
    return (await inside(node, "crictl", "ps", "--quiet", "--name", "device-plugin")).strip()


async def inside(node: str, *command: str) -> str:
    """What a command says that runs on a node."""
    return await run("docker", "exec", node, *command)


async def run(*command: str, **environment: str) -> str:
    """What a command says; the test fails with its complaint when it fails."""
    done = await asyncio.to_thread(
        subprocess.run,
        command,
        capture_output=True,
        text=True,
        timeout=COMMAND_SECONDS,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
    return done.stdout

"""What must be true of a cluster after whatever it went through: all accounts of who holds which devices agree."""

import asyncio

from gpuyard_cli.scenarios.auditing import Accountants, look, settled
from tests.e2e.stories.cluster import PATIENCE_SECONDS

LOOK_SECONDS = 0.5


async def agree(accounts: Accountants) -> None:
    """The audit is clean, as soon as things have settled."""

    async def wait() -> bool:
        await asyncio.sleep(LOOK_SECONDS)
        return True

    now = asyncio.get_running_loop().time
    found = await settled(lambda: look(accounts), now, wait, PATIENCE_SECONDS)
    assert found.lines == (), "\n".join(found.lines)

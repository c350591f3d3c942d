"""Looks, again and again, whether the operator can do its work, and says so where people look.

Stands for controller-runtime's cache sync and its readiness check. Law: what is missing, a definition or a right, is
named with the remedy: in the log, on `/readyz`, and in an event about the operator's Lease, once for each change; as
soon as it is there the work goes on.
"""

import logging
import threading
from functools import partial

from gpuyard import vocabulary
from gpuyard.writes import JSON
from gpuyard_kube.loops import keep_on
from gpuyard_kube.recording import Recorder, Source, Told
from gpuyard_kube.runtime import Runtime
from gpuyard_operator.service import PENDING, Operator

RESYNC_SECONDS = 60.0
"""How often everything is listed anew: kopf does not tell what was deleted while its watch was interrupted."""
SYNC_RETRY_SECONDS = 1.0
"""How often the first lists are tried."""
TELL_SECONDS = 1.0
"""How often it is looked whether there is something to say: a right is missed when it is needed, not at a list."""
PENDING_SECONDS = 0.1
"""How often it is looked whether they are there."""

log = logging.getLogger("gpuyard.operator")


class Checks:
    """`lease` is the object that events are about; None where nobody needs to be told."""

    def __init__(self, operator: Operator, runtime: Runtime, recorder: Recorder, lease: JSON | None) -> None:
        self._operator, self._runtime, self._recorder, self._lease = operator, runtime, recorder, lease
        self._unlisted, self._known = PENDING, ""

    @property
    def problem(self) -> str:
        """Why the operator cannot do its work; empty when it can."""
        return self._unlisted or next(iter(self._operator.tally.forbidden.values()), "")

    def start(self, ready: threading.Event) -> None:
        """List everything from time to time; `ready` is set when that has been done for the first time."""
        keep_on(self._runtime, partial(self._look, ready), "checks")
        keep_on(self._runtime, self._watch, "what the checks say")

    async def _look(self, ready: threading.Event) -> bool:
        self._unlisted = await self._operator.resync()
        if self._unlisted == PENDING:
            await self._runtime.sleep_until(self._runtime.now() + PENDING_SECONDS)
            return True
        if not self._unlisted:
            ready.set()
        pause = RESYNC_SECONDS if ready.is_set() and not self.problem else SYNC_RETRY_SECONDS
        await self._runtime.sleep_until(self._runtime.now() + pause)
        return True

    async def _watch(self) -> bool:
        if self._unlisted != PENDING and self.problem != self._known:
            self._known = self.problem
            self._tell(self._known)
        await self._runtime.sleep_until(self._runtime.now() + TELL_SECONDS)
        return True

    def _tell(self, problem: str) -> None:
        log.log(logging.WARNING if problem else logging.INFO, "%s", problem or "nothing is missing any more")
        if self._lease is not None:
            reason, text = (
                ("SelfCheckFailed", problem) if problem else ("SelfCheckPassed", "nothing is missing")
            )
            told = Told(self._lease, reason, text, warning=bool(problem))
            self._recorder.record(Source(vocabulary.OPERATOR), told)

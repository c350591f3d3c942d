"""The extender as one object: events in, verbs answered.

Stands for the extender process. It waits only through the ports of `gpuyard_kube`, so that the same object runs on
asyncio and, single-stepped, on a clock that is moved by hand.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from gpuyard.auditing.accounts import LedgerAccount
from gpuyard.groups.plans import PlanAnswer, PlanRequest, Unready
from gpuyard.narration import Narrator, silent
from gpuyard.policies import registry
from gpuyard.policies.memory import Informed
from gpuyard.writes import JSON
from gpuyard_extender import wire
from gpuyard_extender.advice import explaining, explaining_groups, simulating
from gpuyard_extender.advice.simulation_models import Asked, Simulated
from gpuyard_extender.binding.binder import Binder
from gpuyard_extender.binding.binding import Bound
from gpuyard_extender.deciding import planning, preempt_verb, scheduling
from gpuyard_extender.deciding.pushes import Pushes
from gpuyard_extender.deciding.searching import Found, Search
from gpuyard_extender.leadership.succession import Succession
from gpuyard_extender.ledger import accounting
from gpuyard_extender.ledger.experience import Experience
from gpuyard_extender.ledger.ledger import PATHS, Ledger
from gpuyard_extender.reporting.decisions import Book
from gpuyard_extender.reporting.events import Events
from gpuyard_extender.reporting.reports import Reports
from gpuyard_extender.settings import Settings
from gpuyard_extender.waking import Waker
from gpuyard_kube.api import Api
from gpuyard_kube.runtime import Runtime

NOT_SYNCED = "the extender has not seen the whole cluster yet; ask again"


class Extender:
    """Answers the verbs of the extender protocol, plans gangs and explains. An Observer of `ledger.PATHS`."""

    def __init__(
        self,
        api: Api,
        runtime: Runtime,
        settings: Settings,
        narrate: Narrator = silent,
        book: Book | None = None,
    ) -> None:
        """`book` is where decisions are noted for good, if anywhere."""
        self._runtime, self.reports = runtime, Reports(narrate, book)
        self.ledger = Ledger(self.reports.say, lambda _now: runtime.steady())
        self.experience, self._events = Experience(self.ledger), Events(api, runtime)
        self._policy = Informed(registry.named(settings.policy), self.experience.workload)
        self._unlisted, self._pushes = set(PATHS), Pushes(self.ledger, runtime)
        self.succession: Final = Succession(api, runtime, self._found)
        self.binder: Final = Binder(self.ledger, api, runtime, self.reports.say, self.succession.look)
        self._waker = Waker(self.ledger, api, runtime, self.reports.say, self.reports.tally)

    @property
    def ready(self) -> bool:
        """Whether every resource has been listed once."""
        return not self._unlisted

    def replace(self, resource: str, objects: Iterable[JSON]) -> None:
        self.ledger.replace(resource, objects)
        if resource == "pods":
            self.succession.listed()
        self._unlisted.discard(resource)
        if self.ready:  # The first verb is not to wait for all nodes.
            self.ledger.holdings.settle()
        self._look_again()

    def observe(self, resource: str, event: str, obj: JSON) -> None:
        self.ledger.observe(resource, event, obj)
        self._look_again()

    # --- the verbs; every answer goes out with status 200

    def filter(self, args: Any) -> JSON:
        """ExtenderArgs -> ExtenderFilterResult."""
        try:
            asked = wire.question(args, self.ledger.pods.value)
        except wire.InvalidArgumentsError as error:
            return wire.filter_error(str(error))
        if not self.ready:
            return wire.filter_error(NOT_SYNCED)
        now = self._runtime.now()
        found = scheduling.filter_nodes(asked.pod, asked.names, self.ledger, now)
        self._waker.filtered(asked.pod, asked.names, bool(found.passed))
        if not found.passed:
            self._events.rejected(asked.pod, found.rejected)
            self._pushes.filtered(asked.pod, found)
        self.reports.filtered(asked.pod, asked.names, found, self.ledger, now)
        return wire.filter_result(asked, found)

    def prioritize(self, args: Any) -> list[JSON]:
        """ExtenderArgs -> HostPriorityList; empty where it cannot be answered (kube-scheduler drops errors here)."""
        try:
            asked = wire.question(args, self.ledger.pods.value)
        except wire.InvalidArgumentsError:
            return []
        now = self._runtime.now()
        ranks = scheduling.prioritize(asked.pod, asked.names, self.ledger, self._policy, now)
        self.reports.prioritized(asked.pod, ranks, self.ledger, now)
        return wire.host_priorities(ranks)

    def preempt(self, args: Any) -> JSON:
        """ExtenderPreemptionArgs -> ExtenderPreemptionResult; without nodes where it cannot be answered."""
        try:
            pod, named = wire.preempt_question(args)
        except wire.InvalidArgumentsError:
            return wire.preempt_result({})
        now, waits = self._runtime.now(), not self.ready or self._pushes.is_coming(pod, named)
        found = {} if waits else preempt_verb.preempt(pod, named, self.ledger, now)
        self._pushes.note(pod, found)
        self.reports.preempted(pod, len(named), found, now)
        return wire.preempt_result(found)

    async def bind(self, args: Any) -> JSON:
        """ExtenderBindingArgs -> ExtenderBindingResult; of a gang, when all of it can be bound or none."""
        try:
            request = wire.bind_request(args)
        except wire.InvalidArgumentsError as error:
            return wire.bind_result(str(error))
        if not self.ready:
            return wire.bind_result(NOT_SYNCED)
        answer = await self.binder.bind(request)
        refusal = "" if isinstance(answer, Bound) else answer.text
        self.reports.bound(request, refusal, self.ledger, self._runtime.now())
        return wire.bind_result(refusal)

    # --- beside the protocol

    def plan(self, request: PlanRequest) -> PlanAnswer:
        """Where the members of a gang can start together; the places are held from the answer on."""
        before: Found | None = None
        while isinstance(found := self.search(request, before)(), Found):
            if (answer := self.planned(request, before := found)) is not None:
                return answer
        return found

    def search(self, request: PlanRequest, before: Found | None = None) -> Callable[[], Found | PlanAnswer]:
        """What looks for the places, in any thread, for `planned`, or the answer. `before`: found last, outdated."""
        if not self.ready:
            return lambda: Unready(NOT_SYNCED)
        now = self._runtime.now()
        if (left := self._pushes.under_way(request)) is not None:
            return lambda: left
        begun, policy = planning.begin(request, self.ledger, now, before), self._policy.apart()
        return lambda: begun.find(policy) if isinstance(begun, Search) else begun

    def planned(self, request: PlanRequest, found: Found) -> PlanAnswer | None:
        """The answer from what was found; the places are held from now on. None: it has to be searched anew."""
        now = self._runtime.now()
        if (left := self._pushes.under_way(request)) is not None:
            return left
        answer = planning.end(request, found, self.ledger, self._policy, now)
        if answer is not None:
            self.reports.planned(request, answer, self.ledger, now)
        return answer

    def explain(self, namespace: str, name: str) -> JSON | None:
        """Why a pod waits (see `explaining.Explanation`); None when there is no such pod."""
        return found() if (found := self.explanation(namespace, name)) else None

    def explanation(self, namespace: str, name: str) -> Callable[[], JSON] | None:
        """The same, as what says it in any thread: a thousand nodes take as long as ten calls of Filter."""
        pod, now = self.ledger.pods.named(namespace, name), self._runtime.now()
        return explaining.explain_pod(pod, self.ledger, self._policy.apart(), now) if pod else None

    def group_explanation(self, namespace: str, name: str) -> Callable[[], JSON] | None:
        """The same of a pod group; None when neither it nor a member is known."""
        now, policy = self._runtime.now(), self._policy.apart()
        return explaining_groups.explain_group(namespace, name, self.ledger, policy, now)

    def simulation(self, asked: Asked) -> Callable[[], Simulated]:
        """Would it fit? What is returned says so, in any thread; ValueError there names the field that is wrong."""
        seen, policy = simulating.snapshot(self.ledger, self._runtime.now()), self._policy.apart()
        return lambda: simulating.simulate(asked, seen, policy)

    def accounts(self) -> LedgerAccount:
        """Who holds what, as the ledger has it."""
        return accounting.account(self.ledger, self._runtime.now())

    def _found(self, pods: Iterable[JSON]) -> None:
        for pod in pods:
            self.ledger.observe("pods", "MODIFIED", pod)
        self._look_again()

    def _look_again(self) -> None:
        if self.ready:  # Where a nominated pod goes is judged by all that there is.
            for part in (self._pushes, self.binder, self._waker):
                part.look_again()

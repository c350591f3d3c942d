"""Why pods wait, for all of them at once: those that wait for the same are asked about once.

Stands for the reasons in `kubectl get events`. Laws: one look asks about a few kinds of pods only, the ones that were
not asked about for longest first, so that a thousand waiting pods cost a look no more than ten; what was found stands
until the cluster changes. `explain` says more about one pod, and has the last word.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from gpuyard.advice import explain
from gpuyard.verdicts import Rejection
from gpuyard_extender.deciding import scheduling
from gpuyard_extender.ledger.ledger import Ledger
from gpuyard_extender.ledger.pods import Pod
from gpuyard_extender.service import Extender

AT_ONCE: Final = 8
"""Kinds of pods in one look."""


class Why(NamedTuple):
    """A reason code, empty where some node would do, and the numbers."""

    code: str = ""
    detail: str = ""


class _Known(NamedTuple):
    stamp: Hashable
    why: Why


class Waiting:
    """What is known of why the pods of one cluster wait."""

    def __init__(self) -> None:
        self._known: dict[Hashable, _Known] = {}

    def look(self, pods: Iterable[Pod], extender: Extender, now: float) -> Mapping[str, Why]:
        """UID -> why it waits, as far as is known."""
        kinds: defaultdict[Hashable, list[Pod]] = defaultdict(list)
        for pod in pods:
            kinds[_kind(pod)].append(pod)
        self._known = {kind: known for kind, known in self._known.items() if kind in kinds}
        for kind in list(self._stale(kinds, extender))[:AT_ONCE]:
            self._known.pop(kind, None)  # asked about last from now on
            self._known[kind] = _Known(_stamp(kinds[kind], extender), _why(kinds[kind][0], extender, now))
        found = {kind: self._known[kind].why for kind in kinds if kind in self._known}
        return {pod.uid: found[kind] for kind, alike in kinds.items() if kind in found for pod in alike}

    def _stale(self, kinds: Mapping[Hashable, Sequence[Pod]], extender: Extender) -> Iterator[Hashable]:
        yield from (kind for kind in kinds if kind not in self._known)
        for kind, known in self._known.items():
            if known.stamp != _stamp(kinds[kind], extender):
                yield kind


def _kind(pod: Pod) -> Hashable:
    if pod.group is not None:
        return pod.namespace, pod.group
    if isinstance(pod.request, Rejection):
        return pod.request
    return pod.request.wants, pod.request.wishes, pod.fit.wishes, frozenset(pod.fit.requests.items())


def _stamp(alike: Sequence[Pod], extender: Extender) -> Hashable:
    return extender.ledger.holdings.changes, len(alike), alike[0].uid


def _why(pod: Pod, extender: Extender, now: float) -> Why:
    if pod.group is not None or isinstance(pod.request, Rejection):
        said = extender.explain(pod.namespace, pod.name) or {}
        return Why(str(said.get("code") or ""), str(said.get("detail") or ""))
    return _by_nodes(pod, extender.ledger, now)


def _by_nodes(pod: Pod, ledger: Ledger, now: float) -> Why:
    names = list(ledger.cluster(now).nodes)
    found = scheduling.verdicts(pod, names, ledger, now)
    if found.passed:
        return Why(detail=f"{len(found.passed)} of {len(names)} nodes would take it")
    counts = sorted(found.rejected.items(), key=lambda item: -len(item[1]))
    code = explain.closest(found.rejected)
    said = [f"{len(nodes)} × {reason.value}" for reason, nodes in counts]
    alike = f"{code.text.partition(': ')[2]}: 0 of {len(names)} nodes would take it"
    return Why(code.value, ", ".join(said) if len(said) > 1 else alike)

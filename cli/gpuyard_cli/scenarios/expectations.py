"""Where an observation differs from what was expected: one line per difference, none when all is as it should be."""

from collections.abc import Iterator, Mapping

from gpuyard_cli.scenarios.observation import GroupSeen, Observation, PodSeen
from gpuyard_cli.scenarios.scenario import GONE, Expectation, ExpectedGroup, ExpectedPod


def differences(expected: Expectation, seen: Observation) -> tuple[str, ...]:
    """Lines such as `pod train-1: node is node-2, expected node-1`."""
    return tuple(_differences(expected, seen))


def _differences(expected: Expectation, seen: Observation) -> Iterator[str]:
    for name, pod in expected.pods.items():
        yield from _pod(f"pod {name}", pod, seen.pods.get(name))
    for name, group in expected.groups.items():
        yield from _group(f"podgroup {name}", group, seen.groups.get(name))
    if expected.reservations is not None and sorted(expected.reservations) != list(seen.reservations):
        yield f"reservations are {list(seen.reservations)}, expected {sorted(expected.reservations)}"
    yield from _counts("allocatable", expected.allocatable, seen.allocatable)
    yield from _counts("free", expected.free, seen.free)
    for node, pairs in expected.links_down.items():
        found = seen.links_down.get(node, ())
        yield from _same(f"node {node}", "links down", " ".join(sorted(pairs)), " ".join(sorted(found)))
    for place, lines in expected.sees.items():
        for line in lines:
            if line not in seen.sees.get(place, ()):
                yield f"{place} does not print {line}"


def _pod(what: str, expected: ExpectedPod, seen: PodSeen | None) -> Iterator[str]:
    if expected.phase == GONE:
        if seen is not None:
            yield f"{what}: is still there, {seen.phase}"
        return
    if seen is None:
        yield f"{what}: there is none"
        return
    yield from _same(what, "phase", expected.phase, seen.phase)
    if expected.node is not None:
        yield from _same(what, "node", expected.node, seen.node)
    if expected.devices is not None:
        yield from _devices(what, expected.devices, seen.devices)
    if expected.code is not None:
        yield from _same(what, "code", expected.code, seen.code)
        if not seen.judged:
            yield f"{what}: nobody has said yet why it waits"
    for node, code in expected.reasons.items():
        yield from _same(what, f"reason on {node}", code, seen.reasons.get(node, ""))


def _devices(
    what: str, expected: Mapping[str, tuple[str, ...]], seen: Mapping[str, tuple[str, ...]]
) -> Iterator[str]:
    for container in sorted({*expected, *seen}):
        wanted, held = (" ".join(found.get(container, ())) or "none" for found in (expected, seen))
        yield from _same(what, f"devices of {container}", wanted, held)


def _group(what: str, expected: ExpectedGroup, seen: GroupSeen | None) -> Iterator[str]:
    if seen is None:
        yield f"{what}: there is none"
        return
    if expected.scheduled != seen.scheduled:
        why = f" ({seen.message})" if seen.message else ""
        yield f"{what}: Scheduled is {seen.scheduled or 'missing'}{why}, expected {expected.scheduled}"
    if expected.reason is not None:
        yield from _same(what, "reason", expected.reason, seen.reason)
    if expected.message not in seen.message:
        yield f"{what}: message is {seen.message!r}, expected {expected.message!r} in it"


def _counts(
    what: str, expected: Mapping[str, Mapping[str, int]], seen: Mapping[str, Mapping[str, int]]
) -> Iterator[str]:
    for node, counts in expected.items():
        for resource, count in counts.items():
            yield from _same(f"node {node}", f"{what} {resource}", count, seen.get(node, {}).get(resource, 0))


def _same(what: str, field: str, expected: object, seen: object) -> Iterator[str]:
    if expected != seen:
        yield f"{what}: {field} is {seen or 'missing'!s}, expected {expected}"

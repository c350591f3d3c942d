"""What is told of a simulation: places, reasons and remedies, in the words of the models.

Law: names for people, UIDs for nobody.
"""

from collections.abc import Callable, Iterable

from gpuyard.advice import explain, remedies
from gpuyard.advice.remedies import Ends
from gpuyard.advice.simulation import Outcome, Unit
from gpuyard.advice.waits import Held
from gpuyard.annotations import Allocation
from gpuyard.groups import gangs
from gpuyard.policies.candidates import Policy
from gpuyard.verdicts import Reason, Rejection
from gpuyard_extender.advice import simulation_models as models
from gpuyard_extender.advice.simulation_units import Refused

Named = Callable[[Iterable[str]], list[str]]
"""namespace/name of pods, by UID."""


def refused(found: Refused) -> models.Outcome:
    """The answer for a unit that no node can take."""
    return _outcome(found.unit, code=found.why.reason.value, detail=found.why.detail)


def outcome(found: Outcome, policy: Policy, held: Held, named: Named) -> models.Outcome:
    """The answer for a unit that was tried."""
    names = {member.request.uid: member.request.name for member in found.unit.members}
    placed = [
        models.Placed(pod=names[place.uid], node=place.node, devices=_devices(place.allocation))
        for place in found.placements
    ]
    if found.rejection is None:
        return _outcome(found.unit, fits=True, placed=placed)
    rejections = found.rejection.rejections
    code = explain.closest(rejection.reason for rejection in rejections)
    excess = gangs.excess(found.unit.members, found.before)
    return _outcome(
        found.unit,
        placed=placed,
        pod=found.rejection.member,
        code=(Reason.GANG_UNPLACEABLE if found.unit.together else code).value,
        detail="; ".join(rejection.detail for rejection in excess),
        why=_why(rejections),
        remedies=[_remedy(remedy, named) for remedy in remedies.find(found, policy, held)],
    )


def _outcome(unit: Unit, *, fits: bool = False, **more: object) -> models.Outcome:
    said = {
        "name": unit.name,
        "together": unit.together,
        "pods": len(unit.members),
        "placed": [],
        "fits": fits,
    }
    return models.Outcome.model_validate({**said, **more})


def _devices(allocation: Allocation) -> dict[str, dict[str, list[str]]]:
    return {
        container: {resource: list(ids) for resource, ids in held.items()}
        for container, held in allocation.items()
    }


def _why(rejections: Iterable[Rejection]) -> list[models.Why]:
    return [
        models.Why(reason=found.reason.value, details=dict(found.details), nodes=list(found.nodes))
        for found in explain.alike(rejections)
    ]


def _remedy(found: remedies.Remedy, named: Named) -> models.Remedy:
    pods = named(found.uids) if isinstance(found, Ends) else []
    return models.Remedy(kind=type(found).__name__, text=found.text, pods=pods)

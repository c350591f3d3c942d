"""What reconciling looks at, and what comes out of it, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gpuyard.groups.plans import PlanRequest
from gpuyard.writes import JSON, Write
from gpuyard_kube.recording import Told
from gpuyard_operator.deciding.admission import Admission
from gpuyard_operator.deciding.asking import Known
from gpuyard_operator.deciding.commit import Seen
from gpuyard_operator.deciding.victims import Preemption


@dataclass(frozen=True, slots=True)
class View:
    """All that is known about one PodGroup. `pods` are its members, in its namespace; `known` came since the last
    Reservation; `lost` are the UIDs of reserved members whose places cannot be used any more (`lost_seats`)."""

    group: JSON | None
    pods: tuple[JSON, ...] = ()
    reservation: JSON | None = None
    known: Known = Known()
    lost: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()
    """The paths of evictions that failed."""
    admission: Admission | None = None
    """What the group's queue says; None where it has none."""
    preemption: Preemption = Preemption()
    contested: Mapping[str, int] = field(default_factory=dict)
    """How many pods claim the group too and belong to another, by the name of that."""
    record: JSON | None = None
    """The Reservation of the group's name, whether or not it holds places."""
    seen: Seen = field(default_factory=dict)
    leaving: Seen = field(default_factory=dict)
    told_at: float = 0.0
    """Since when people are told what the condition Scheduled says."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Do `writes` in order, then `ask`; look again at `requeue_at` at the latest. `says` is for people."""

    writes: tuple[Write, ...] = ()
    requeue_at: float | None = None
    ask: PlanRequest | None = None
    retells: bool = False
    """It asks for other numbers to tell, not for room."""
    says: str = ""
    final: bool = False
    """The writes take pods away, or places that members may be about to have: be sure of what was seen before."""
    events: tuple[Told, ...] = ()
    """For people, once all is written."""
    written: Mapping[str, Told] = field(default_factory=dict)
    """For people, by the path of a write, once that is done."""

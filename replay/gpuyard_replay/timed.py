"""A trace over time: which jobs come when and run how long, and one run of them.

Without a load the jobs come when the trace says; with one they are drawn as the arrivals of any replay are (all in
random order, then clones), and come at random moments that make up the load.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gpuyard.policies import registry
from gpuyard_replay import arrivals, jobs, sources
from gpuyard_replay.history import History, Rules
from gpuyard_replay.jobs import Durations, Job
from gpuyard_replay.mig_places import RULES, MigPlaces
from gpuyard_replay.places import FleetPlaces
from gpuyard_replay.replaying import Scene
from gpuyard_replay.sources import Source
from gpuyard_replay.timeline import Progress, Timeline
from gpuyard_replay.traces import InvalidTraceError


@dataclass(frozen=True, slots=True)
class Timing:
    """`load`: percent of all GPUs, None for the trace's own times; `durations`: None for the trace's own."""

    load: int | None = None
    durations: Durations | None = None


@dataclass(frozen=True, slots=True)
class Play:
    """What all policies and disciplines meet alike. `scene.arrivals` is empty: pods come with their jobs."""

    scene: Scene
    jobs: Sequence[Job]

    @property
    def instances(self) -> bool:
        """Whether all GPU pods ask for MIG instances: then they are placed by start slice, else as parts of GPUs."""
        return all(pod.profile for pod in self.scene.known if pod.count)


def drawn(source: Source, timing: Timing, seed: int) -> Play:
    """The same for the same seed."""
    nodes, pods = sources.read(source)
    limit = sources.limit(source, nodes)
    found, ranks = arrivals.draw(jobs.of_pods(pods), nodes, seed, limit)
    if timing.load is None:
        if any(pod.lifetime is None for pod in pods):
            raise InvalidTraceError(source.trace, "no creation_time says when its pods came", "give --load")
        found = jobs.of_pods(pods)
    durations, anew = timing.durations or Durations(), timing.durations is not None
    found = jobs.with_durations(found, durations, seed, anew=anew)
    scene = sources.enlarged(Scene(nodes, ranks, (), pods, seed), source)
    if timing.load is not None:
        found = jobs.arriving(found, 1000 * sum(node.gpus for node in nodes), timing.load, seed)
    return Play(scene, found)


def policies(play: Play) -> Sequence[str]:
    """The names of those that can place these pods."""
    return list(RULES) if play.instances else registry.names()


def run(play: Play, policy: str, rules: Rules, progress: Progress = lambda _done, _all: None) -> History:
    """One policy under one discipline."""
    if play.instances:
        return Timeline(play.jobs, MigPlaces(play.scene, RULES[policy]), rules).run(progress)
    return Timeline(play.jobs, FleetPlaces(play.scene, registry.named(policy)), rules).run(progress)

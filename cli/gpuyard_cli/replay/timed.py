"""`gpuyard replay --timed`: jobs that come, wait, run and go."""

import argparse
import dataclasses
from typing import TYPE_CHECKING, Final

from gpuyard_cli import output
from gpuyard_cli.inputs import InvalidInputError
from gpuyard_cli.replay.trace_inputs import (
    chosen,
    named_faults,
    percent,
    progress_of,
    seconds,
    sources_of,
    write,
)

if TYPE_CHECKING:
    from gpuyard_replay.jobs import Durations
    from gpuyard_replay.timed import Play

_ONLY_TIMED: Final = ("load", "durations", "discipline", "quota")
_UNTIL: Final = 1000


def add_to(parser: argparse.ArgumentParser) -> None:
    """The arguments of the second mode."""
    group = parser.add_argument_group("over time")
    group.add_argument("--timed", action="store_true", help="jobs wait, run and go again")
    group.add_argument(
        "--load",
        type=percent,
        metavar="PERCENT",
        help="jobs come at random, for so much of all GPUs (default: when the trace says)",
    )
    group.add_argument(
        "--durations",
        type=_durations,
        metavar="MEDIAN,P90",
        help="log-normal, such as 10m,2h (default: the trace's; where it says nothing, 616s,7764s)",
    )
    group.add_argument(
        "--discipline",
        action="append",
        metavar="NAME",
        help="best-effort (default), strict, pod-by-pod; again for several; all: every one",
    )
    group.add_argument(
        "--quota",
        type=_quota,
        action="append",
        metavar="QUEUE=GPUS",
        help="the most that a queue of the trace may hold",
    )


def check(arguments: argparse.Namespace) -> None:
    """InvalidInputError for arguments of one mode in the other."""
    given = [name for name in _ONLY_TIMED if getattr(arguments, name) is not None]
    if given and not arguments.timed:
        raise InvalidInputError(f"--{given[0]}", "", "nothing is timed", "add --timed")
    if arguments.timed and arguments.order:
        raise InvalidInputError("--order", "", "an order has no times", "leave out --timed or --order")


def run(arguments: argparse.Namespace) -> int:
    """Every policy under every discipline."""
    from gpuyard_replay import measures, timed, timed_tables
    from gpuyard_replay.history import History, Rules
    from gpuyard_replay.queueing import Discipline

    names = chosen("--discipline", arguments.discipline or ["best-effort"], list(Discipline))
    quotas = {queue: 1000 * gpus for queue, gpus in arguments.quota or ()}
    runs: dict[tuple[str, str], History] = {}
    for label, source in sources_of(arguments, _UNTIL).items():
        with named_faults():
            play = timed.drawn(source, timed.Timing(arguments.load, arguments.durations), arguments.seed)
            _check_quotas(play, quotas)
            default = "holes" if play.instances else "fgd"
            for policy in chosen("--policy", arguments.policy or [default], timed.policies(play)):
                for discipline in map(Discipline, names):
                    progress = progress_of(policy, "jobs")
                    runs[policy + label, discipline.value] = timed.run(
                        play, policy, Rules(discipline, quotas), progress
                    )
    found = [(*key, dataclasses.asdict(measures.measured(history))) for key, history in runs.items()]
    answer = {"replays": [{"policy": policy, "discipline": rule, **told} for policy, rule, told in found]}
    print(output.printed(answer, arguments.output, lambda _: iter([timed_tables.table(runs)])))
    if arguments.csv:
        write(arguments.csv, timed_tables.as_csv(runs))
    if arguments.plot:
        write(arguments.plot, timed_tables.svg(f"{source.name}: {len(play.jobs)} jobs", runs))
    return 0


def _check_quotas(play: "Play", quotas: dict[str, int]) -> None:
    known = sorted({job.membership.queue for job in play.jobs})
    for queue in quotas:
        if queue not in known:
            named = ", ".join(repr(name) for name in known)
            raise InvalidInputError("--quota", "", f"no job is of a queue {queue!r}", f"use one of {named}")


def _durations(text: str) -> "Durations":
    from gpuyard_replay.jobs import Durations

    median, _, ninetieth = text.partition(",")
    found = Durations(seconds(median), seconds(ninetieth))
    if found.ninetieth < found.median:
        raise argparse.ArgumentTypeError(f"{text!r}: the 90th percentile is less than the median")
    return found


def _quota(text: str) -> tuple[str, int]:
    queue, _, gpus = text.rpartition("=")
    if not gpus.isdecimal() or len(gpus) > 6:
        raise argparse.ArgumentTypeError(f"{text!r} is no quota; write for example research=16")
    return queue, int(gpus)

"""The runs of a pod's containers, one after the other.

Stands for the kubelet's back-off manager and for the programs in the containers, which do one thing: they end when
their annotations say so. `restartPolicy` decides whether they start again: at once after their first end, then 10
s, 20 s, 40 s ... 300 s later; after a run of 600 s it begins anew (`kubelet.DefaultContainerMaxBackOff`). Law:
everything follows from the pod and from when it started, so that a kubelet that forgot it all comes to the same
history.
"""

import math
from dataclasses import dataclass

from gpuyard import vocabulary
from gpuyard.writes import JSON

FIRST_BACK_OFF, LONGEST_BACK_OFF = 10.0, 300.0
_ANNOTATIONS = (vocabulary.RUN_SECONDS, vocabulary.EXIT_CODE)


@dataclass(frozen=True, slots=True)
class End:
    """When a pod's containers end, or ended, and with which exit code."""

    at: float
    code: int


@dataclass(frozen=True, slots=True)
class Run:
    """One run; `end` is None as long as it goes on."""

    since: float
    end: End | None = None


@dataclass(frozen=True, slots=True)
class History:
    """The present or last run, the one before it, and what comes next."""

    present: Run
    previous: Run | None = None
    restarts: int = 0
    resumes_at: float | None = None
    """When the next run begins, of containers that have ended for now."""
    changes_at: float | None = None
    """When something of this changes by itself."""

    @property
    def over(self) -> bool:
        """Whether the containers have ended for good."""
        return self.present.end is not None and self.resumes_at is None

    @property
    def last_ended(self) -> Run | None:
        """The last run that has ended, of containers that run or wait."""
        return self.previous if self.present.end is None or self.over else self.present

    @property
    def back_off(self) -> int:
        """How many seconds the containers wait for their next run."""
        return round(back_off(self.restarts + 1))


def history(pod: JSON, started: float, now: float) -> History:
    """What has happened by `now` to a pod whose containers first started at `started`."""
    seconds, code = _planned(pod)
    if seconds is None:
        return History(Run(started))
    again = _restarts(pod, code)
    previous, since, restarts = None, started, 0
    while since + seconds <= now:
        ended = Run(since, End(since + seconds, code))
        if not again:
            return History(ended)
        wait = 0.0 if seconds >= 2 * LONGEST_BACK_OFF else back_off(restarts + 1)
        resumes = since + seconds + wait
        if resumes > now:
            return History(ended, previous, restarts, resumes, resumes)
        previous, since, restarts = ended, resumes, restarts + 1
    return History(Run(since), previous, restarts, None, since + seconds)


def back_off(restart: int) -> float:
    """How long the containers wait before this restart."""
    return 0.0 if restart <= 1 else min(FIRST_BACK_OFF * 2.0 ** min(restart - 2, 10), LONGEST_BACK_OFF)


def ignored_annotations(pod: JSON) -> list[str]:
    """One line for each annotation that should say how the pod ends, and does not."""
    annotations = pod["metadata"].get("annotations") or {}
    return [
        f"annotation {key}={annotations[key]!r} is ignored: it must be a number, 0 or more"
        for key in _ANNOTATIONS
        if key in annotations and _number(annotations[key]) is None
    ]


def _planned(pod: JSON) -> tuple[float | None, int]:
    """How long a run takes (None: for ever) and its exit code. Annotations that make no sense are ignored."""
    annotations = pod["metadata"].get("annotations") or {}
    seconds, code = (_number(annotations.get(key)) for key in _ANNOTATIONS)
    return seconds, int(code) if code is not None and code <= 255 else 0


def _restarts(pod: JSON, code: int) -> bool:
    policy = pod["spec"].get("restartPolicy", "Always")
    return bool(policy == "Always" or (policy == "OnFailure" and code))


def _number(text: object) -> float | None:
    try:
        number = float(str(text))
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None

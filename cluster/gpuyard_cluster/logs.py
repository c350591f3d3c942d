"""The output of a container, as its kubelet hands it out."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line without its end, and when it was printed (seconds since the epoch)."""

    at: float
    text: str


class NoLogsError(Exception):
    """There is nothing to print, in the words of `kubectl logs`."""
